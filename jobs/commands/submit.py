"""`nws submit phase1` and `nws resume`: start a run, and go on with one."""

import json
from typing import Annotated, Any

import typer

from core.errors import RecipeError
from jobs.commands.shared import DEFAULT_STORE, Json, Store, err, out, shown, store_flag

EngineOption = Annotated[
    str, typer.Option(envvar="NWS_ENGINE", help="ray: actors on a local Ray. inline: in this process, for debugging.")
]
Accelerator = Annotated[
    str | None,
    typer.Option(
        envvar="NWS_ACCELERATOR",
        help="What each actor pins: auto (a GPU where there is one, else a CPU), cpu, or a Ray accelerator type "
        "such as T4.",
    ),
]
Actors = Annotated[
    int | None, typer.Option(envvar="NWS_ACTORS", min=1, help="Number of actors; default: as many as fit.")
]


def submit_phase1(
    recipe: Annotated[
        str, typer.Option("--recipe", "-r", envvar="NWS_RECIPE", help="sample, paper, or a YAML file.")
    ] = "sample",
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            envvar="NWS_DATASET",
            help="sample, cnn_dailymail, xsum, a JSONL, CSV or Parquet file, or a Hub id "
            "(organisation/name[:configuration][@revision]). Repeatable; replaces the recipe's datasets.",
        ),
    ] = None,
    split: Annotated[str | None, typer.Option(envvar="NWS_SPLIT", help="Split of Hub datasets.")] = None,
    streaming: Annotated[
        bool | None, typer.Option("--streaming", envvar="NWS_STREAMING", help="Stream Hub datasets row by row.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(envvar="NWS_LIMIT", min=1, help="Read at most this many articles of each dataset.")
    ] = None,
    text_field: Annotated[str | None, typer.Option(envvar="NWS_TEXT_FIELD", help="Field with the article.")] = None,
    reference_field: Annotated[
        str | None,
        typer.Option(
            envvar="NWS_REFERENCE_FIELD", help="Field with the reference or references; default: a usual name."
        ),
    ] = None,
    key_field: Annotated[
        str | None,
        typer.Option(envvar="NWS_KEY_FIELD", help="Field that names the article; default: id, key, fname, or the row."),
    ] = None,
    pipeline: Annotated[
        str | None,
        typer.Option(
            envvar="NWS_PIPELINE",
            help="spaCy pipeline for sentences and chunks: an installed one such as en_core_web_sm, blank (none "
            "needed), or auto.",
        ),
    ] = None,
    encoder: Annotated[
        list[str] | None,
        typer.Option(
            envvar="NWS_ENCODER",
            help="bert-base-uncased, xlnet-base-cased, electra-base-discriminator, all-MiniLM-L6-v2, a folder, or a "
            "Hub id (organisation/name[@revision]). Repeatable; replaces the recipe's encoders.",
        ),
    ] = None,
    n: Annotated[str | None, typer.Option("--n", envvar="NWS_N", help="Summary lengths in words: 7,9,11,13.")] = None,
    seed: Annotated[
        int | None, typer.Option(envvar="NWS_SEED", min=0, help="Seed of the random control and of intervals.")
    ] = None,
    accelerator: Accelerator = None,
    actors: Actors = None,
    engine: EngineOption = "ray",
    store: Store = DEFAULT_STORE,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the newest run of exactly this recipe, if there is one.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would run, and run nothing; loads datasets but no model.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Sweep the summary length n: every system summarises every article at every n, and each summary is scored."""
    lengths = _lengths(n)
    _engine(engine)
    shown(store)  # refuses a store URL that cannot be used, before the heavy imports

    from jobs import dry_run as dry_runs
    from jobs import phase1
    from jobs.provenance import pin
    from jobs.recipe import load_recipe
    from jobs.store import open_store

    given = {
        "datasets": [{"name": name} for name in dataset] if dataset else None,
        "encoders": encoder or None,
        "n": lengths,
        **{"split": split, "streaming": streaming, "limit": limit},
        **{"text_field": text_field, "reference_field": reference_field, "key_field": key_field},
        **{"pipeline": pipeline, "seed": seed, "accelerator": accelerator, "actors": actors},
    }
    pinned = pin(load_recipe(recipe, {key: value for key, value in given.items() if value is not None}))
    if dry_run:
        plan = dry_runs.describe(pinned)
        print(json.dumps(plan)) if as_json else dry_runs.print_description(plan, out)
        return
    with open_store(store) as opened:
        known = opened.find_run(pinned.recipe.hash) if resume else None
        if known is not None:
            outcome = phase1.resume(opened, known, _engine(engine), accelerator, actors, err)
        else:
            outcome = phase1.submit(opened, pinned, _engine(engine), err)
    _finish(outcome, store, as_json)


def resume(
    run: Annotated[str, typer.Argument(help="Run id, as `nws ls` lists it.")],
    engine: EngineOption = "ray",
    accelerator: Accelerator = None,
    actors: Actors = None,
    store: Store = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Go on with a run: only what is missing is computed, and articles that failed are tried again.

    A driver that still works on the run is replaced: it stops at its next bundle.
    """
    from jobs import phase1
    from jobs.store import open_store

    with open_store(store) as opened:
        outcome = phase1.resume(opened, run, _engine(engine), accelerator, actors, err)
    _finish(outcome, store, as_json)


def _lengths(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise RecipeError(
            f"--n takes whole numbers with commas between them, such as 7,9,11,13, not {text!r}."
        ) from error


def _engine(name: str) -> Any:
    if name not in ("ray", "inline"):
        raise RecipeError(f"There is no engine {name!r}: use ray or inline.")
    return name


def _finish(outcome: Any, store: str, as_json: bool) -> None:
    where = store_flag(store)
    if as_json:
        print(json.dumps(outcome.as_dict()))
    else:
        out.print(
            f"Run {outcome.run_id} is {outcome.state}: {outcome.articles} articles, {outcome.summaries} summaries, "
            f"{outcome.failures} failures."
        )
    if outcome.state == "interrupted":
        err.print(f"Interrupted; what was finished is stored. Go on with: nws resume {outcome.run_id}{where}")
        raise typer.Exit(130)
    if outcome.failures:
        err.print(f"{outcome.failures} articles failed. See why: nws status {outcome.run_id}{where}")
        raise typer.Exit(1)
    err.print(f"Tables and plot: nws report {outcome.run_id}{where}")
