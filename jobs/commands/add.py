"""`nws add`: summaries that were written elsewhere, beside those of a run that exists."""

import socket
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.commands import options
from jobs.commands.groups import grouped
from jobs.commands.options import DEFAULT_STORE, Json, StoreUrl
from jobs.commands.resume import resume_run
from jobs.commands.shared import changing, err, finish, store_flag
from jobs.commands.target import require_possible, where_it_was

if TYPE_CHECKING:
    from core.summarizers.predictions import PredictionsSpec
    from jobs.store import Store


@grouped
def add(
    run: Annotated[str, typer.Argument(help="Run id, as `nws ls` lists it.")],
    predictions: Annotated[
        list[str],
        typer.Argument(
            help="JSONL, CSV or Parquet files with an article's key as `id`, and a `prediction`. Each is a system, "
            "called after the file, or as you say: name=file."
        ),
    ],
    target: options.ResumeTargetOptions,
    actors: options.ActorOptions,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Add predictions to a run that has ended.

    They are scored over the run's articles, at its lengths, with its metrics. A run that was submitted to a Ray cluster
    goes there again, unless --address or --local says otherwise.
    """
    require_possible(target.engine, None if target.local else target.address)

    from core.summarizers.predictions import parse_predictions

    files = [parse_predictions(text) for text in predictions]
    with changing(store) as opened:
        again = where_it_was(opened, run, target)
        _extend(opened, run, files)
        err.print(f"Added to {run}. If this is interrupted, go on with: nws resume {run}{store_flag(store)}")
        outcome = resume_run(opened, store, run, again, actors)
    finish(outcome, store, as_json)


def _extend(opened: "Store", run_id: str, files: "list[PredictionsSpec]") -> None:
    from jobs.plan.job import plan_with
    from jobs.terminal.coverage_warning import warn_of_coverages

    pinned = plan_with(opened.require_free(run_id, socket.gethostname()), files)
    warn_of_coverages(pinned, err)
    opened.extend_run(run_id, socket.gethostname(), pinned.run_spec())
