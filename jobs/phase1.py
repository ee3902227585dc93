"""The Phase 1 driver: fans bundles of articles out to a pool and stores each as it lands.

It is the only writer of its run. What it has stored is never computed again, so the same function starts a run and
goes on with one.
"""

import functools
import itertools
import os
import socket
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Literal

import torch
from rich.console import Console

from cluster.pool import InlinePool, Pool, Work
from cluster.ray_pool import RayPool
from cluster.resources import plan_actors
from cluster.session import local_session
from core.errors import FencedError
from core.sweep import SweepPlan, make_segmenter, make_sweeper
from core.text.corpus import Corpus
from core.types import Article
from jobs.progress import run_progress
from jobs.provenance import Pinned, code_version, pin, require_same_revisions
from jobs.recipe import Recipe, parse_recipe
from jobs.store import RunSpec, Store

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


def submit(store: Store, pinned: Pinned, engine: Engine, console: Console) -> Outcome:
    """Create a run and drive it to its end.

    Raises:
        NwsError: the pool cannot start, or the store refuses. The run stays in the store and can be resumed.
    """
    run_id = store.create_run(
        RunSpec(
            job="phase1",
            recipe=pinned.recipe.model_dump(mode="json"),
            recipe_hash=pinned.recipe.hash,
            seed=pinned.recipe.seed,
            code_version=code_version(),
            revisions=pinned.revisions,
            signatures=pinned.plan.metrics.signatures,
        )
    )
    return _drive(store, run_id, pinned, engine, console)


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
    recipe = parse_recipe({**run.recipe, **{k: v for k, v in where.items() if v is not None}}, run_id)
    pinned = pin(recipe)
    for change in require_same_revisions(run.revisions, pinned.revisions, run_id):
        console.print(f"Warning: since this run began, {change}; numbers may differ in their last digits.")
    return _drive(store, run_id, pinned, engine, console)


def _drive(store: Store, run_id: str, pinned: Pinned, engine: Engine, console: Console) -> Outcome:
    epoch = store.claim_run(run_id, socket.gethostname(), os.getpid())
    console.print(f"Run {run_id} in {store.shown_url}", highlight=False, soft_wrap=True)
    state: Literal["done", "failed", "interrupted"] = "failed"
    try:
        _sweep(store, run_id, epoch, pinned, engine, console)
        state = "done"
    except (KeyboardInterrupt, SystemExit):  # Ctrl-C; Ray turns SIGTERM into SystemExit
        state = "interrupted"
    finally:
        error = sys.exception()
        if not isinstance(error, FencedError):  # a run that another driver has is not ours to end
            store.finish_run(run_id, epoch, state, f"{type(error).__name__}: {error}" if error else None)
    run = store.run_info(run_id)
    return Outcome(run_id, state, run.articles_done, run.summaries, run.failures)


def _sweep(store: Store, run_id: str, epoch: int, pinned: Pinned, engine: Engine, console: Console) -> None:
    finished = store.finished_article_ids(run_id)
    sizes = [corpus.size for corpus in pinned.corpora]
    total = None if None in sizes else sum(size for size in sizes if size is not None)
    missing = unfinished_bundles(pinned.corpora, pinned.recipe.bundle_size, finished)
    first = next(missing, None)
    if first is not None:
        with open_pool(pinned.recipe, pinned.plan, engine, console) as (pool, device):
            store.start_run(run_id, epoch, total, device)
            with run_progress(console, total, len(finished)) as advance:
                for bundle, result in pool.map(itertools.chain([first], missing)):
                    store.record(run_id, epoch, bundle, result)
                    new = {summary.article_id for summary in result.summaries} - finished
                    advance(len(new), len(result.failures))
    if total is None:
        run = store.run_info(run_id)
        store.start_run(run_id, epoch, run.articles_done + run.failures, run.device)


def unfinished_bundles(corpora: Iterable[Corpus], size: int, finished: set[str]) -> Iterator[tuple[Article, ...]]:
    """Bundles of `size` articles, in corpus order, that hold an article not `finished`.

    A bundle is always whole and always the same articles: embeddings depend, in their last digit, on what is in a
    batch, and a resumed run must give the numbers of an undisturbed one.
    """
    for corpus in corpora:
        articles = iter(corpus)
        while bundle := tuple(itertools.islice(articles, size)):
            if any(article.id not in finished for article in bundle):
                yield bundle


@contextmanager
def open_pool(recipe: Recipe, plan: SweepPlan, engine: Engine, console: Console) -> Iterator[tuple[Pool, str]]:
    """The pool that a recipe asks for, and what it runs on, in words.

    Raises:
        ClusterError: Ray cannot start, or has not what the recipe asks for.
        NwsError: a model cannot be loaded.
    """
    if engine == "inline":
        device = "cuda" if recipe.accelerator != "cpu" and torch.cuda.is_available() else "cpu"
        with InlinePool(_work(plan, device)) as pool:
            yield pool, f"inline, {torch.cuda.get_device_name() if device == 'cuda' else '1 CPU thread'}"
        return
    with local_session() as session:
        if session.dashboard_url:
            token = f" (its token is in {session.auth_token_path})" if session.auth_token_path else ""
            console.print(f"Ray dashboard: {session.dashboard_url}{token}", highlight=False, soft_wrap=True)
        accelerator = None if recipe.accelerator == "auto" else recipe.accelerator
        resources, actors = plan_actors(session.resources, accelerator, recipe.actors)
        # Ray does not hide the GPUs from an actor that pins none.
        work = _work(plan, "cuda" if resources.num_gpus else "cpu")
        with RayPool(work, resources, actors) as ray_pool:
            yield ray_pool, f"{actors} x {resources.describe()} on {session.node}"


def _work(plan: SweepPlan, device: str) -> Work:
    return Work(functools.partial(make_segmenter, plan), functools.partial(make_sweeper, plan, device))
