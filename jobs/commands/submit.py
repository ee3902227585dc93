"""`nws submit` and `nws resume`: start a run, and go on with one."""

import json
from typing import Annotated, Any

import typer

from core.errors import RecipeError
from jobs.commands import options
from jobs.commands.shared import DEFAULT_STORE, Json, Store, err, out, shown, store_flag


def submit_phase1(
    recipe: options.Recipe = "sample",
    dataset: options.Dataset = None,
    split: options.Split = None,
    streaming: options.Streaming = None,
    limit: options.Limit = None,
    text_field: options.TextField = None,
    reference_field: options.ReferenceField = None,
    key_field: options.KeyField = None,
    pipeline: options.Pipeline = None,
    encoder: options.Encoders = None,
    n: options.Lengths = None,
    seed: options.Seed = None,
    accelerator: options.Accelerator = None,
    actors: options.Actors = None,
    engine: options.Engine = "ray",
    store: Store = DEFAULT_STORE,
    resume: options.Resume = False,
    dry_run: options.DryRun = False,
    as_json: Json = False,
) -> None:
    """Sweep the summary length n: every system summarises every article at every n, and each summary is scored."""
    given = {
        **_articles(dataset, split, streaming, limit, text_field, reference_field, key_field),
        **{"pipeline": pipeline, "n": _lengths(n), "seed": seed, "accelerator": accelerator, "actors": actors},
        "encoders": encoder or None,
    }
    _submit("phase1", recipe, given, engine, store, resume, dry_run, as_json)


def submit_baselines(
    recipe: options.Recipe = "sample",
    system: options.Systems = None,
    dataset: options.Dataset = None,
    split: options.Split = None,
    streaming: options.Streaming = None,
    limit: options.Limit = None,
    text_field: options.TextField = None,
    reference_field: options.ReferenceField = None,
    key_field: options.KeyField = None,
    pipeline: options.Pipeline = None,
    encoder: options.Encoder = None,
    n: options.Lengths = None,
    seed: options.Seed = None,
    accelerator: options.Accelerator = None,
    actors: options.Actors = None,
    engine: options.Engine = "ray",
    store: Store = DEFAULT_STORE,
    resume: options.Resume = False,
    dry_run: options.DryRun = False,
    as_json: Json = False,
) -> None:
    """Run other ways to summarise at the same lengths: lead, TextRank, oracles, and generators such as BART."""
    given = {
        **_articles(dataset, split, streaming, limit, text_field, reference_field, key_field),
        **{"pipeline": pipeline, "n": _lengths(n), "seed": seed, "accelerator": accelerator, "actors": actors},
        **{"encoder": encoder, "systems": system or None},
    }
    _submit("baselines", recipe, given, engine, store, resume, dry_run, as_json)


def _articles(dataset: list[str] | None, *fields: object) -> dict[str, Any]:
    names = ("split", "streaming", "limit", "text_field", "reference_field", "key_field")
    return {
        "datasets": [{"name": name} for name in dataset] if dataset else None,
        **dict(zip(names, fields, strict=True)),
    }


def _submit(
    job: str, recipe: str, given: dict[str, Any], engine: str, store: str, resume: bool, dry_run: bool, as_json: bool
) -> None:
    _engine(engine)
    shown(store)  # refuses a store URL that cannot be used, before the heavy imports

    from jobs import driver
    from jobs import dry_run as dry_runs
    from jobs.recipe import load_recipe
    from jobs.store import open_store

    pinned = driver.PINS[job](load_recipe(job, recipe, {key: v for key, v in given.items() if v is not None}))
    if dry_run:
        plan = dry_runs.describe(pinned)
        print(json.dumps(plan)) if as_json else dry_runs.print_description(plan, out)
        return
    with open_store(store) as opened:
        known = opened.find_run(pinned.recipe.hash) if resume else None
        if known is not None:
            outcome = driver.resume(opened, known, _engine(engine), given["accelerator"], given["actors"], err)
        else:
            outcome = driver.submit(opened, pinned, _engine(engine), err)
    _finish(outcome, store, as_json)


def resume(
    run: Annotated[str, typer.Argument(help="Run id, as `nws ls` lists it.")],
    engine: options.Engine = "ray",
    accelerator: options.Accelerator = None,
    actors: options.Actors = None,
    store: Store = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Go on with a run: only what is missing is computed, and articles that failed are tried again.

    A driver that still works on the run is replaced: it stops at its next bundle.
    """
    from jobs import driver
    from jobs.store import open_store

    with open_store(store) as opened:
        outcome = driver.resume(opened, run, _engine(engine), accelerator, actors, err)
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
