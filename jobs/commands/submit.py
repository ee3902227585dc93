"""`nws submit`: start a run, one command for each job."""

import json
from typing import TYPE_CHECKING, Any

from core.errors import RecipeError
from jobs.commands import options
from jobs.commands.resume import go_on, telling
from jobs.commands.shared import DEFAULT_STORE, Json, StoreUrl, err, finish, out, parse_lengths, reading, shown
from jobs.commands.target import Target, choose_target, require_here, start_there
from jobs.terminal.busy import busy

if TYPE_CHECKING:
    from core.plugins import PluginSpec
    from jobs.plan.pinned import Pinned
    from jobs.store import RunInfo


def submit_phase1(
    recipe: options.Recipe = "sample",
    plugin: options.Plugins = None,
    dataset: options.Dataset = None,
    split: options.Split = None,
    streaming: options.Streaming = None,
    limit: options.Limit = None,
    text_field: options.TextField = None,
    reference_field: options.ReferenceField = None,
    key_field: options.KeyField = None,
    pipeline: options.Pipeline = None,
    encoder: options.Encoders = None,
    bertscore_model: options.BertScoreModel = None,
    bertscore_layer: options.BertScoreLayer = None,
    n: options.Lengths = None,
    seed: options.Seed = None,
    accelerator: options.Accelerator = None,
    actors: options.Actors = None,
    wait_for_machines: options.WaitForMachines = None,
    engine: options.Engine = "ray",
    address: options.Address = None,
    no_wait: options.NoWait = False,
    name: options.Name = None,
    note: options.Note = None,
    log_to: options.LogTo = None,
    store: StoreUrl = DEFAULT_STORE,
    resume: options.Resume = False,
    no_reuse: options.NoReuse = False,
    dry_run: options.DryRun = False,
    as_json: Json = False,
) -> None:
    """Sweep the summary length n.

    Every system summarises every article at every n, and each summary is scored.
    """
    given = {
        **_articles(dataset, split, streaming, limit, text_field, reference_field, key_field),
        **{"pipeline": pipeline, "n": parse_lengths(n), "seed": seed, "accelerator": accelerator, "actors": actors},
        **{"bertscore_model": bertscore_model, "bertscore_layer": bertscore_layer},
        "wait_for_machines": wait_for_machines,
        **{"encoders": encoder or None, "plugins": _plugins(plugin)},
    }
    _submit(
        "phase1",
        recipe,
        given,
        choose_target(engine, address, no_wait),
        name,
        note,
        log_to or [],
        store,
        resume,
        no_reuse,
        dry_run,
        as_json,
    )


def submit_baselines(
    recipe: options.Recipe = "sample",
    system: options.Systems = None,
    prompt: options.Prompt = None,
    predictions: options.Predictions = None,
    plugin: options.Plugins = None,
    dataset: options.Dataset = None,
    split: options.Split = None,
    streaming: options.Streaming = None,
    limit: options.Limit = None,
    text_field: options.TextField = None,
    reference_field: options.ReferenceField = None,
    key_field: options.KeyField = None,
    pipeline: options.Pipeline = None,
    encoder: options.Encoder = None,
    bertscore_model: options.BertScoreModel = None,
    bertscore_layer: options.BertScoreLayer = None,
    n: options.Lengths = None,
    seed: options.Seed = None,
    accelerator: options.Accelerator = None,
    actors: options.Actors = None,
    wait_for_machines: options.WaitForMachines = None,
    engine: options.Engine = "ray",
    address: options.Address = None,
    no_wait: options.NoWait = False,
    name: options.Name = None,
    note: options.Note = None,
    log_to: options.LogTo = None,
    store: StoreUrl = DEFAULT_STORE,
    resume: options.Resume = False,
    no_reuse: options.NoReuse = False,
    dry_run: options.DryRun = False,
    as_json: Json = False,
) -> None:
    """Sweep n with systems of your choice.

    Lead, TextRank, oracles, generators such as BART, your own systems, and predictions from files.
    """
    from core.summarizers.predictions import parse_predictions

    given = {
        **_articles(dataset, split, streaming, limit, text_field, reference_field, key_field),
        **{"pipeline": pipeline, "n": parse_lengths(n), "seed": seed, "accelerator": accelerator, "actors": actors},
        **{"bertscore_model": bertscore_model, "bertscore_layer": bertscore_layer},
        "wait_for_machines": wait_for_machines,
        **{"encoder": encoder, "systems": system or None, "prompt": prompt},
        "plugins": _plugins(plugin),
        "predictions": [parse_predictions(text) for text in predictions] if predictions else None,
    }
    _submit(
        "baselines",
        recipe,
        given,
        choose_target(engine, address, no_wait),
        name,
        note,
        log_to or [],
        store,
        resume,
        no_reuse,
        dry_run,
        as_json,
    )


def submit_phase2(
    recipe: options.Phase2Recipe = "sample",
    system: options.Rivals = None,
    decoding: options.Decodings = None,
    plugin: options.Plugins = None,
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
    bertscore_model: options.BertScoreModel = None,
    bertscore_layer: options.BertScoreLayer = None,
    n: options.Lengths = None,
    passes: options.Passes = None,
    seed: options.Seeds = None,
    accelerator: options.Accelerator = None,
    actors: options.Actors = None,
    wait_for_machines: options.WaitForMachines = None,
    engine: options.Engine = "ray",
    address: options.Address = None,
    no_wait: options.NoWait = False,
    name: options.Name = None,
    note: options.Note = None,
    log_to: options.LogTo = None,
    store: StoreUrl = DEFAULT_STORE,
    resume: options.Resume = False,
    no_reuse: options.NoReuse = False,
    dry_run: options.DryRun = False,
    as_json: Json = False,
) -> None:
    """Train policies to write summaries of n words.

    They are compared with other systems, on articles they never saw.
    """
    fields = (text_field, reference_field, key_field)
    training_articles = _articles(dataset, split, streaming, limit, *fields)
    test_articles = _articles(test_dataset or test_datasets_of(dataset), test_split, streaming, test_limit, *fields)
    given = {
        **{f"train_{key}": value for key, value in training_articles.items()},
        **test_articles,
        **{"pipeline": pipeline, "n": parse_lengths(n), "accelerator": accelerator, "actors": actors},
        **{"bertscore_model": bertscore_model, "bertscore_layer": bertscore_layer},
        **{"seeds": seed or None, "seed": seed[0] if seed else None},
        **{"wait_for_machines": wait_for_machines, "encoder": encoder, "systems": system or None},
        **{"decodings": decoding or None, "passes": passes, "plugins": _plugins(plugin)},
    }
    if dataset and split is None:
        given["train_split"] = "train"
    _submit(
        "phase2",
        recipe,
        given,
        choose_target(engine, address, no_wait),
        name,
        note,
        log_to or [],
        store,
        resume,
        no_reuse,
        dry_run,
        as_json,
    )


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


def _plugins(names: list[str] | None) -> "list[PluginSpec] | None":
    from core.plugins import PluginSpec

    return [PluginSpec(name) for name in names] if names else None


def _describe(pinned: "Pinned", store: str, target: Target, as_json: bool) -> None:
    """Print what would run, and what that would take."""
    from jobs.drive.estimate import estimate, print_estimate
    from jobs.plan.dry_run import describe, print_description

    plan = describe(pinned)
    if not as_json:
        print_description(plan, out)
    with busy("Estimating the time", at_once=True):
        found = estimate(pinned, _stored_runs(store), "cluster" if target.address else target.engine)
    print(json.dumps(plan | {"estimate": found.as_dict()})) if as_json else print_estimate(found, out)


def _stored_runs(store: str) -> "list[RunInfo]":
    """Those of a store, or none of one that would be made."""
    from jobs.store.address import parse_address

    path = parse_address(store).path
    if path is not None and not path.exists():
        return []
    with reading(store) as opened:
        return opened.list_runs()


def _submit(
    job: str,
    recipe: str,
    given: dict[str, Any],
    target: Target,
    name: str | None,
    note: str | None,
    log_to: list[str],
    store: str,
    resume: bool,
    no_reuse: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    shown(store)  # refuses a store URL that cannot be used, before the heavy imports
    require_here(log_to, target)
    with busy("Loading libraries", at_once=True):
        from jobs.drive import driver
        from jobs.plan.job import find_job
        from jobs.store import new_run_id, open_store
        from jobs.terminal.warnings import warn_of_corpora, warn_of_repeats

    with busy("Looking up models, and reading articles", at_once=True):
        pinned = find_job(job).plan(recipe, {key: value for key, value in given.items() if value is not None})
    trained_on = pinned.training.corpora if pinned.training else ()
    warn_of_corpora((*trained_on, *pinned.corpora), pinned.language, err)
    warn_of_repeats((*trained_on, *pinned.corpora), err)
    if job == "baselines":
        from jobs.terminal.warnings import warn_of_controls

        warn_of_controls(pinned.systems, err)
    if pinned.recipe.predictions:
        from jobs.terminal.warnings import warn_of_coverages

        warn_of_coverages(pinned, err)
    if dry_run:
        _describe(pinned, store, target, as_json)
        return
    with open_store(store) as opened:
        known = opened.find_run(pinned.recipe.hash) if resume else None
        if known is not None:
            outcome = go_on(opened, store, known, target, given["accelerator"], given["actors"], False, log_to)
        elif target.address:
            outcome = start_there(opened, store, pinned, target, not no_reuse, name, note)
        else:
            run_id = new_run_id(job)
            with telling(opened, run_id, store):
                outcome = driver.start(
                    opened,
                    pinned,
                    target.engine,
                    err,
                    run_id=run_id,
                    reuse=not no_reuse,
                    name=name,
                    note=note,
                    log_to=log_to,
                )
    finish(outcome, store, as_json)
