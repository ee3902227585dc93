"""`nws submit` and `nws resume`: start a run, and go on with one."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from core.errors import RecipeError
from jobs.commands import options, remote
from jobs.commands.remote import Target
from jobs.commands.shared import DEFAULT_STORE, Json, Store, err, out, parse_lengths, shown, store_flag


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
    wait_for_machines: options.WaitForMachines = None,
    engine: options.Engine = "ray",
    address: options.Address = None,
    no_wait: options.NoWait = False,
    store: Store = DEFAULT_STORE,
    resume: options.Resume = False,
    dry_run: options.DryRun = False,
    as_json: Json = False,
) -> None:
    """Sweep the summary length n: every system summarises every article at every n, and each summary is scored."""
    given = {
        **_articles(dataset, split, streaming, limit, text_field, reference_field, key_field),
        **{"pipeline": pipeline, "n": parse_lengths(n), "seed": seed, "accelerator": accelerator, "actors": actors},
        "wait_for_machines": wait_for_machines,
        "encoders": encoder or None,
    }
    _submit("phase1", recipe, given, Target(engine, address, no_wait), store, resume, dry_run, as_json)


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
    wait_for_machines: options.WaitForMachines = None,
    engine: options.Engine = "ray",
    address: options.Address = None,
    no_wait: options.NoWait = False,
    store: Store = DEFAULT_STORE,
    resume: options.Resume = False,
    dry_run: options.DryRun = False,
    as_json: Json = False,
) -> None:
    """Run other ways to summarise at the same lengths: lead, TextRank, oracles, and generators such as BART."""
    given = {
        **_articles(dataset, split, streaming, limit, text_field, reference_field, key_field),
        **{"pipeline": pipeline, "n": parse_lengths(n), "seed": seed, "accelerator": accelerator, "actors": actors},
        "wait_for_machines": wait_for_machines,
        **{"encoder": encoder, "systems": system or None},
    }
    _submit("baselines", recipe, given, Target(engine, address, no_wait), store, resume, dry_run, as_json)


def submit_phase2(
    recipe: options.Phase2Recipe = "sample",
    system: options.Rivals = None,
    dataset: options.TrainDataset = None,
    test_dataset: options.TestDataset = None,
    split: options.TrainSplit = None,
    test_split: options.TestSplit = None,
    streaming: options.Streaming = None,
    limit: options.TrainLimit = None,
    test_limit: options.TestLimit = None,
    text_field: options.TextField = None,
    reference_field: options.ReferenceField = None,
    key_field: options.KeyField = None,
    pipeline: options.Pipeline = None,
    encoder: options.Encoder = None,
    n: options.Lengths = None,
    seed: options.Seeds = None,
    accelerator: options.Accelerator = None,
    actors: options.Actors = None,
    wait_for_machines: options.WaitForMachines = None,
    engine: options.Engine = "ray",
    address: options.Address = None,
    no_wait: options.NoWait = False,
    store: Store = DEFAULT_STORE,
    resume: options.Resume = False,
    dry_run: options.DryRun = False,
    as_json: Json = False,
) -> None:
    """Train policies to write summaries of n words, and compare them with other systems on articles they never saw."""
    fields = (text_field, reference_field, key_field)
    of_training = _articles(dataset, split, streaming, limit, *fields)
    of_test = _articles(test_dataset or test_datasets_of(dataset), test_split, streaming, test_limit, *fields)
    given = {
        **{f"train_{key}": value for key, value in of_training.items()},
        **of_test,
        **{"pipeline": pipeline, "n": parse_lengths(n), "accelerator": accelerator, "actors": actors},
        **{"seeds": seed or None, "seed": seed[0] if seed else None},
        **{"wait_for_machines": wait_for_machines, "encoder": encoder, "systems": system or None},
    }
    if dataset and split is None:
        given["train_split"] = "train"
    _submit("phase2", recipe, given, Target(engine, address, no_wait), store, resume, dry_run, as_json)


def test_datasets_of(datasets: list[str] | None) -> list[str] | None:
    """The datasets whose test split goes with these training datasets.

    Raises:
        RecipeError: one of them has but one split.
    """
    from core.text.corpus import has_splits

    for name in datasets or ():
        if not has_splits(name):
            raise RecipeError(f"{name} has no test split: name the test articles with --test-dataset.")
    return datasets


def _articles(dataset: list[str] | None, *fields: object) -> dict[str, Any]:
    names = ("split", "streaming", "limit", "text_field", "reference_field", "key_field")
    return {
        "datasets": [{"name": name} for name in dataset] if dataset else None,
        **dict(zip(names, fields, strict=True)),
    }


def _submit(
    job: str,
    recipe: str,
    given: dict[str, Any],
    target: Target,
    store: str,
    resume: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    target.check()
    shown(store)  # refuses a store URL that cannot be used, before the heavy imports

    from jobs.drive import driver
    from jobs.plan.dry_run import describe, print_description
    from jobs.recipes.load import load_recipe
    from jobs.store import open_store

    pinned = driver.PINS[job](load_recipe(job, recipe, {key: v for key, v in given.items() if v is not None}))
    if dry_run:
        plan = describe(pinned)
        print(json.dumps(plan)) if as_json else print_description(plan, out)
        return
    with open_store(store) as opened:
        known = opened.find_run(pinned.recipe.hash) if resume else None
        if known is not None:
            outcome = _go_on(opened, store, known, target, given["accelerator"], given["actors"], take_over=False)
        elif target.address:
            outcome = remote.submit(opened, store, pinned, target)
        else:
            with _telling("there was a run: nothing is stored."):
                outcome = driver.submit(opened, pinned, target.engine, err)
    finish(outcome, store, as_json)


def resume(
    run: Annotated[str, typer.Argument(help="Run id, as `nws ls` lists it.")],
    engine: options.Engine = "ray",
    accelerator: options.Accelerator = None,
    actors: options.Actors = None,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Replace a driver that seems to be alive: it stops within seconds.")
    ] = False,
    address: options.Address = None,
    local: Annotated[
        bool, typer.Option("--local", help="On this machine, also a run that was submitted to a cluster.")
    ] = False,
    no_wait: options.NoWait = False,
    store: Store = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Go on with a run: only what is missing is computed, and articles that failed are tried again.

    A run that was submitted to a Ray cluster goes there again, unless --address or --local says otherwise.
    """
    target = Target(engine, None if local else address, no_wait)
    target.check()

    from jobs.store import open_store

    with open_store(store) as opened:
        if not local and engine != "inline":
            target = Target(engine, target.address or opened.run_info(run).address, no_wait)
        outcome = _go_on(opened, store, run, target, accelerator, actors, take_over)
    finish(outcome, store, as_json)


def _go_on(
    opened: Any,
    store: str,
    run: str,
    target: Target,
    accelerator: str | None,
    actors: int | None,
    take_over: bool,
) -> Any:
    if target.address:
        return remote.resubmit(opened, store, run, target, accelerator, actors, take_over)

    from jobs.drive import driver

    with _telling(f"the run was taken. Go on with: nws resume {run}{store_flag(store)}"):
        return driver.resume(opened, run, target.engine, accelerator, actors, err, take_over)


@contextmanager
def _telling(what: str) -> Iterator[None]:
    """A driver that has its run ends it in order when it is interrupted; before, there is only this to say."""
    try:
        yield
    except KeyboardInterrupt:
        err.print(f"Interrupted before {what}")
        raise


def finish(outcome: Any, store: str, as_json: bool) -> None:
    """Print how a run stands, and exit as its state asks for."""
    where = store_flag(store)
    if as_json:
        print(json.dumps(outcome.as_dict()))
    else:
        out.print(
            f"Run {outcome.run_id} is {outcome.state}: {outcome.articles} articles, {outcome.summaries} summaries, "
            f"{outcome.failures} failures."
        )
    if outcome.state == "submitted":
        return
    if outcome.state == "interrupted":
        err.print(f"Interrupted; what was finished is stored. Go on with: nws resume {outcome.run_id}{where}")
        raise typer.Exit(130)
    if outcome.failures:
        err.print(f"{outcome.failures} articles failed. See why: nws status {outcome.run_id}{where}")
        raise typer.Exit(1)
    err.print(f"Tables and plot: nws report {outcome.run_id}{where}")
