"""`nws submit`: start a run, one command for each job."""

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import typer

from nws.core.errors import RecipeError
from nws.jobs.commands import options
from nws.jobs.commands.options import DEFAULT_STORE, Json, StoreUrl, grouped
from nws.jobs.commands.resume import explain_interrupt, refuse_no_wait, resume_run, start_there
from nws.jobs.commands.shared import err, finish, out, reading, shown
from nws.jobs.report.console import busy

if TYPE_CHECKING:
    from nws.core.text.checks.all_checks import Finding
    from nws.jobs.recipes.plan import Plan
    from nws.jobs.store import RunInfo


@grouped
def submit_sweep(
    ctx: typer.Context,
    target: options.TargetOptions,
    run: options.RunOptions,
    shards: options.ShardOptions,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Submit a sweep over n: `phase1` or `baselines`, as the command is called."""
    _submit(str(ctx.command.name), _overrides(ctx, run), target, run, store, as_json, shards)


@grouped
def submit_phase2(
    ctx: typer.Context,
    target: options.TargetOptions,
    run: options.RunOptions,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Train policies to write summaries of n words.

    They are compared with other systems, on articles they never saw.
    """
    from nws.jobs.recipes.load import bundled_names

    overrides = _overrides(ctx, run)
    trained_on = ctx.obj.get("train_datasets", ())
    if trained_on and "datasets" not in overrides and run.recipe in bundled_names("phase2"):
        from nws.core.text.dataset import has_splits

        for name in trained_on:
            if not has_splits(name):
                raise RecipeError(f"{name} has no test split. Name the test articles with --test-dataset.")
        overrides["datasets"] = trained_on
    if seeds := ctx.obj.get("seeds"):
        overrides.setdefault("seed", seeds[0])
    _submit("phase2", overrides, target, run, store, as_json, options.ShardOptions())


def _overrides(ctx: typer.Context, run: options.RunOptions) -> dict[str, Any]:
    from nws.jobs.recipes.load import parse_settings

    return {**ctx.obj, **parse_settings(run.settings or ())}


def _submit(
    job: str,
    overrides: dict[str, Any],
    target: options.TargetOptions,
    run: options.RunOptions,
    store: str,
    as_json: bool,
    shards: options.ShardOptions,
) -> None:
    log_to = run.log_to or []
    actors = options.ActorOptions(overrides.get("accelerator"), overrides.get("actors"))
    target.require_possible(None if run.dry_run else actors.accelerator, log_to)
    shown(store)  # refuses an unusable store URL before the slow imports
    shards.require_possible(log_to)
    if shards.is_sharded:
        refuse_no_wait(target)
    with busy("Loading libraries"):
        from nws.cluster.job_api import Head
        from nws.jobs.drive import driver
        from nws.jobs.drive.driver import create_sharded_run
        from nws.jobs.recipes.job import plan_job
        from nws.jobs.report.warnings import require_labels_fit
        from nws.jobs.store import new_run_id, open_store

    with busy("Looking up models, and reading articles"):
        plan = plan_job(job, run.recipe, overrides)
    require_labels_fit(plan)
    plan = replace(plan, findings=_warn(plan))
    if run.dry_run:
        _describe(plan, store, target, as_json, shards)
        return
    reuse, name, note = not run.no_reuse, run.name, run.note
    with open_store(store) as opened:
        run_to_resume = opened.find_run(plan.recipe.hash) if run.resume else None
        if run_to_resume is not None:
            outcome = resume_run(opened, store, run_to_resume, target, actors, options.ResumeOptions(log_to=run.log_to))
        elif shards.is_sharded:
            run_id = new_run_id(job)
            address = Head(target.address).address if target.address else None
            spec = plan.run_spec(address, reuse, name, note)
            create_sharded_run(opened, run_id, plan, spec, shards.drivers or 1, shards.shards, shards.shard_articles)
            # No actor options, since the recipe of the shards has them already.
            outcome = resume_run(opened, store, run_id, target, options.ActorOptions(), options.ResumeOptions())
        elif target.address:
            outcome = start_there(opened, store, plan, target, run)
        else:
            run_id = new_run_id(job)
            with explain_interrupt(run_id, store):
                outcome = driver.start(
                    opened, plan, target.engine, err, run_id=run_id, reuse=reuse, name=name, note=note, log_to=log_to
                )
    finish(outcome, store, as_json)


def _warn(plan: "Plan") -> "tuple[Finding, ...]":
    """Print the chosen lengths and the warnings about a plan. Returns what checks found in its texts."""
    from nws.jobs.report.warnings import (
        check_corpora,
        check_predictions,
        print_lengths,
        warn_of_controls,
        warn_of_repeats,
    )

    corpora = (*plan.train_corpora, *plan.corpora)
    found = check_corpora(corpora, plan.language, err)
    warn_of_repeats(corpora, err)
    print_lengths(plan, err)
    if plan.training is None:
        warn_of_controls(plan.systems, err)
    if plan.recipe.predictions:
        found += check_predictions(plan, err)
    return tuple(found)


def _describe(
    plan: "Plan", store: str, target: options.TargetOptions, as_json: bool, shards: options.ShardOptions
) -> None:
    """Print what would run, and how long that would take."""
    from nws.jobs.drive.driver import fetch_models, shards_of
    from nws.jobs.drive.dry_run import describe, estimate, print_description, print_estimate

    described = describe(plan)
    if shards.is_sharded:
        described["shards"] = len(shards_of(plan, plan.run_spec(), shards.shards, shards.shard_articles))
    if not as_json:
        print_description(described, out)
        if shards.is_sharded:
            out.print(f"{'shards':<13} {described['shards']}, {shards.drivers or 1} at a time")
    if not target.address:  # so that a missing model is an error now, and not at night
        with busy("Fetching models"):
            fetch_models(plan.training_and_stages)
    estimated = estimate(plan, described, _stored_runs(store), "cluster" if target.address else target.engine)
    print(json.dumps(described | {"estimate": asdict(estimated)})) if as_json else print_estimate(estimated, out)


def _stored_runs(store: str) -> "list[RunInfo]":
    """List the runs of a store; none if the store does not exist yet."""
    from nws.jobs.store.address import parse_address

    path = parse_address(store).path
    if path is not None and not path.exists():
        return []
    with reading(store) as opened:
        return opened.list_runs()
