"""`nws add`: summaries that were written elsewhere, beside those of a run that exists."""

import dataclasses
import socket
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.commands import options
from jobs.commands.resume import go_on
from jobs.commands.shared import DEFAULT_STORE, Json, StoreUrl, changing, err, finish, store_flag
from jobs.commands.target import choose_target

if TYPE_CHECKING:
    from core.summarizers.predictions import PredictionsSpec
    from jobs.store import Store


def add(
    run: Annotated[str, typer.Argument(help="Run id, as `nws ls` lists it.")],
    predictions: Annotated[
        list[str],
        typer.Argument(
            help="JSONL, CSV or Parquet files with an article's key as `id`, and a `prediction`. Each is a system, "
            "called after the file, or as you say: name=file."
        ),
    ],
    engine: options.Engine = "ray",
    accelerator: options.Accelerator = None,
    actors: options.Actors = None,
    address: options.Address = None,
    local: options.Local = False,
    no_wait: options.NoWait = False,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Add predictions to a run that has ended.

    They are scored over the run's articles, at its lengths, with its metrics. A run that was submitted to a Ray cluster
    goes there again, unless --address or --local says otherwise.
    """
    target = choose_target(engine, None if local else address, no_wait)

    from core.summarizers.predictions import parse_predictions

    files = [parse_predictions(text) for text in predictions]
    with changing(store) as opened:
        if not local and engine != "inline":
            target = dataclasses.replace(target, address=target.address or opened.run_info(run).address)
        _extend(opened, run, files)
        err.print(f"Added to {run}. If this is interrupted, go on with: nws resume {run}{store_flag(store)}")
        outcome = go_on(opened, store, run, target, accelerator, actors, take_over=False)
    finish(outcome, store, as_json)


def _extend(opened: "Store", run_id: str, files: "list[PredictionsSpec]") -> None:
    from jobs.plan.predictions import plan_with
    from jobs.terminal.warnings import warn_of_coverages

    pinned = plan_with(opened.require_free(run_id, socket.gethostname()), files)
    warn_of_coverages(pinned, err)
    opened.extend_run(run_id, socket.gethostname(), pinned.run_spec())
