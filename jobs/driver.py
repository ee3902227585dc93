"""The driver of a run: fans bundles of articles out to a pool, stage by stage, and stores each as it lands.

It is the only writer of its run. What it has stored is never computed again, so the same function starts a run and
goes on with one.
"""

import functools
import itertools
import os
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal, NoReturn

import torch
from rich.console import Console

from cluster.pool import InlinePool, Pool, Work
from cluster.ray_pool import RayPool
from cluster.resources import plan_actors
from cluster.session import local_session
from core.errors import FencedError
from core.models import model_folder
from core.sweep import SweepPlan, make_segmenter, make_sweeper
from core.types import Article
from jobs import baselines, phase1
from jobs.progress import run_progress
from jobs.provenance import Pinned, PlannedStage, code_version, require_same_revisions
from jobs.recipe import RunRecipe, parse_recipe
from jobs.store import RunSpec, Store

# How each job looks up what its recipe leaves open. A recipe is of the class that its job has in `RECIPE_OF_JOB`.
PINS: dict[str, Callable[[Any], Pinned]] = {"phase1": phase1.pin, "baselines": baselines.pin}
Engine = Literal["ray", "inline"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run stands when its driver ends. `articles` counts those with summaries."""

    run_id: str
    state: str
    articles: int
    summaries: int
    failures: int

    def as_dict(self) -> dict[str, str | int]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Workers:
    """What runs a run: its `device`, in words, and what opens the pool of a stage on it."""

    device: str | None
    open: Callable[[SweepPlan], Pool]


def submit(store: Store, pinned: Pinned, engine: Engine, console: Console) -> Outcome:
    """Create a run and drive it to its end. There is no run before its models and machines are known to be there.

    Raises:
        NwsError: a model or a machine is missing, or the store refuses. A run that exists by then can be resumed.
    """
    fetch_models(pinned.stages)
    with open_workers(pinned.recipe, engine, console) as workers:
        run_id = store.create_run(
            RunSpec(
                job=pinned.job,
                recipe=pinned.recipe.model_dump(mode="json"),
                recipe_hash=pinned.recipe.hash,
                seed=pinned.recipe.seed,
                code_version=code_version(),
                revisions=pinned.revisions,
                signatures=pinned.metrics.signatures,
                systems=len(pinned.systems),
            )
        )
        return _drive(store, run_id, pinned, workers, console)


def resume(
    store: Store, run_id: str, engine: Engine, accelerator: str | None, actors: int | None, console: Console
) -> Outcome:
    """Go on with a run: only articles without summaries are computed, failed ones again.

    `accelerator` and `actors` replace the recipe's: they do not change the numbers.

    Raises:
        NwsError: there is no such run, or its models, articles or segmentation have changed since it began.
    """
    run = store.run_info(run_id)
    where = {"accelerator": accelerator, "actors": actors}
    recipe = parse_recipe(run.job, {**run.recipe, **{k: v for k, v in where.items() if v is not None}}, run_id)
    pinned = PINS[run.job](recipe)
    changes = require_same_revisions(run.revisions, pinned.revisions, run_id)
    if run.code_version != code_version():
        changes.append(f"code {run.code_version} -> {code_version()}")
    for change in changes:
        console.print(f"Warning: since this run began, {change}; its new numbers may differ from its old ones.")
    unfinished = [planned for planned in pinned.stages if _is_unfinished(store, run_id, pinned, planned)]
    if not unfinished:
        return _drive(store, run_id, pinned, Workers(run.device, _no_pool), console)
    if run.state == "running":
        console.print(
            f"Warning: taking run {run_id} over from pid {run.driver_pid} on {run.driver_host}, last heard of at "
            f"{run.heartbeat_at}. If that driver still lives, it will stop at its next bundle."
        )
    fetch_models(unfinished)
    with open_workers(pinned.recipe, engine, console) as workers:
        return _drive(store, run_id, pinned, workers, console)


def _is_unfinished(store: Store, run_id: str, pinned: Pinned, planned: PlannedStage) -> bool:
    finished = store.finished_article_ids(run_id, planned.stage)
    return next(unfinished_bundles(pinned, finished), None) is not None


def fetch_models(stages: Iterable[PlannedStage]) -> None:
    """Download what is not on this machine yet, once, before several actors would.

    Raises:
        NwsError: a model cannot be had, or is not the one that was recorded.
    """
    for ref in dict.fromkeys(ref for planned in stages for ref in planned.plan.models):
        model_folder(ref)


def _drive(store: Store, run_id: str, pinned: Pinned, workers: Workers, console: Console) -> Outcome:
    """Compute what is missing."""
    epoch = store.claim_run(run_id, socket.gethostname(), os.getpid())
    console.print(f"Run {run_id} in {store.shown_url}", highlight=False, soft_wrap=True)
    state: Literal["done", "failed", "interrupted"] = "failed"
    try:
        store.start_run(run_id, epoch, pinned.articles, workers.device, code_version())
        for planned in pinned.stages:
            _run_stage(store, run_id, epoch, pinned, planned, workers, console)
        if pinned.articles is None:
            run = store.run_info(run_id)
            store.start_run(run_id, epoch, run.articles_done + run.failures, workers.device, code_version())
        state = "done"
    except (KeyboardInterrupt, SystemExit):  # Ctrl-C, SIGTERM
        state = "interrupted"
    finally:
        error = sys.exception()
        if not isinstance(error, FencedError):  # a run that another driver has is not ours to end
            store.finish_run(run_id, epoch, state, f"{type(error).__name__}: {error}" if error else None)
    run = store.run_info(run_id)
    return Outcome(run_id, state, run.articles_done, run.summaries, run.failures)


def _run_stage(
    store: Store, run_id: str, epoch: int, pinned: Pinned, planned: PlannedStage, workers: Workers, console: Console
) -> None:
    finished = store.finished_article_ids(run_id, planned.stage)
    bundles = unfinished_bundles(pinned, finished)
    first = next(bundles, None)
    if first is None:
        return
    stage = f"{planned.stage.name}: " if len(pinned.stages) > 1 else ""
    console.print(f"{stage}Loading models; the first articles take the longest.", highlight=False)
    with (
        workers.open(planned.plan) as pool,
        run_progress(console, pinned.articles, len(finished)) as advance,
    ):
        for bundle, result in pool.map(itertools.chain([first], bundles)):
            store.record(run_id, epoch, bundle, result, planned.stage)
            new = {summary.article_id for summary in result.summaries} - finished
            advance(len(new), len(result.failures))


def unfinished_bundles(pinned: Pinned, finished: set[str]) -> Iterator[tuple[Article, ...]]:
    """The run's bundles, in corpus order, that hold an article not `finished`.

    A bundle is always whole and always the same articles: embeddings depend, in their last digit, on what is in a
    batch, and a resumed run must give the numbers of an undisturbed one.
    """
    for corpus in pinned.corpora:
        articles = iter(corpus)
        while bundle := tuple(itertools.islice(articles, pinned.recipe.bundle_size)):
            if any(article.id not in finished for article in bundle):
                yield bundle


@contextmanager
def open_workers(recipe: RunRecipe, engine: Engine, console: Console) -> Iterator[Workers]:
    """The machines that a recipe asks for.

    Raises:
        ClusterError: Ray cannot start, or has not what the recipe asks for.
    """
    if engine == "inline":
        device = "cuda" if recipe.accelerator != "cpu" and torch.cuda.is_available() else "cpu"
        name = torch.cuda.get_device_name() if device == "cuda" else "1 CPU thread"
        yield Workers(f"inline, {name}", lambda plan: InlinePool(_work(plan, device)))
        return
    console.print("Starting Ray on this machine …")
    with local_session() as session:
        if session.dashboard_url:
            token = f" (its token is in {session.auth_token_path})" if session.auth_token_path else ""
            console.print(f"Ray dashboard: {session.dashboard_url}{token}", highlight=False, soft_wrap=True)
        accelerator = None if recipe.accelerator == "auto" else recipe.accelerator
        resources, actors = plan_actors(session.resources, accelerator, recipe.actors)
        # Ray does not hide the GPUs from an actor that pins none.
        device = "cuda" if resources.num_gpus else "cpu"
        name = f"{actors} x {resources.describe()} on {session.node}"
        yield Workers(name, lambda plan: RayPool(_work(plan, device), resources, actors))


def _no_pool(plan: SweepPlan) -> NoReturn:
    raise AssertionError("a run that has everything needs no pool")


def _work(plan: SweepPlan, device: str) -> Work:
    return Work(functools.partial(make_segmenter, plan), functools.partial(make_sweeper, plan, device))
