"""The driver of a run: fans bundles of articles out to a pool, stage by stage, and stores each as it lands.

It is the only writer of its run. What it has stored is never computed again, so the same function starts a run and
goes on with one.
"""

import functools
import itertools
import os
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NoReturn

from rich.console import Console

from core.episodes import EpisodePlan
from core.errors import CancelledError, FencedError
from core.learning.policy_system import PolicySystem
from core.models import model_folder
from core.sweep import SweepPlan
from core.types import Article, Landed
from jobs import baselines, phase1, phase2
from jobs.driven import Driven
from jobs.heartbeat import Heart
from jobs.patience import patiently
from jobs.policies import stored_systems
from jobs.progress import Advance, run_progress
from jobs.provenance import Pinned, PlannedStage, code_version, require_same_revisions
from jobs.recipe import parse_recipe
from jobs.store import FinalState, RunSpec, Store, new_run_id
from jobs.training import PREPARATION, is_trained, train_policies
from jobs.workers import REAL, Engine, Makers, Workers, open_workers

# How each job looks up what its recipe leaves open. A recipe is of the class that its job has in `RECIPE_OF_JOB`.
PINS: dict[str, Callable[[Any], Pinned]] = {
    "phase1": phase1.pin,
    "baselines": baselines.pin,
    "phase2": phase2.pin,
}

# Ctrl-C, SIGTERM, nws cancel.
_INTERRUPTIONS = (KeyboardInterrupt, SystemExit, CancelledError)


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


def submit(store: Store, pinned: Pinned, engine: Engine, console: Console, makers: Makers = REAL) -> Outcome:
    """Create a run and drive it to its end. There is no run before its models and machines are known to be there.

    Raises:
        NwsError: a model or a machine is missing, or the store refuses. A run that exists by then can be resumed.
    """
    fetch_models([*_of_training(pinned), *(planned.plan for planned in pinned.stages)])
    run_id = new_run_id(pinned.job)
    with open_workers(pinned.recipe, engine, run_id, console, makers) as workers:
        store.create_run(run_spec(pinned), run_id)
        return _drive(store, run_id, pinned, workers, console)


def run_spec(pinned: Pinned, address: str | None = None) -> RunSpec:
    """What the store keeps of a run before it begins; `address`: the Ray dashboard it is submitted to."""
    return RunSpec(
        job=pinned.job,
        recipe=pinned.recipe.model_dump(mode="json"),
        recipe_hash=pinned.recipe.hash,
        seed=pinned.recipe.seed,
        code_version=code_version(),
        revisions=pinned.revisions,
        signatures=pinned.signatures,
        systems=len(pinned.systems),
        address=address,
    )


def resume(
    store: Store,
    run_id: str,
    engine: Engine,
    accelerator: str | None,
    actors: int | None,
    console: Console,
    take_over: bool = False,
    makers: Makers = REAL,
) -> Outcome:
    """Go on with a run: only articles without summaries are computed, failed ones again.

    `accelerator` and `actors` replace the recipe's. They do not change the numbers, but for the last digits on another
    kind of device, and with these the draws of a training. `take_over` replaces a driver that seems to be alive.

    Raises:
        NwsError: another driver works on it, there is no such run, or its models, articles or segmentation have
            changed since it began.
    """
    run = store.require_free(run_id, socket.gethostname(), take_over)
    where = {"accelerator": accelerator, "actors": actors}
    recipe = parse_recipe(run.job, {**run.recipe, **{k: v for k, v in where.items() if v is not None}}, run_id)
    pinned = PINS[run.job](recipe)
    changes = require_same_revisions(run.revisions, pinned.revisions, run_id)
    if run.code_version != code_version():
        changes.append(f"code {run.code_version} -> {code_version()}")
    for change in changes:
        text = f"Warning: since this run began, {change}; its new numbers may differ from its old ones."
        console.print(text, markup=False)
    to_train = pinned.training is not None and not is_trained(store, run_id, pinned.training)
    unfinished = [planned.plan for planned in pinned.stages if _is_unfinished(store, run_id, pinned, planned)]
    if not (to_train or unfinished):
        return _drive(store, run_id, pinned, Workers(run.device, _no_pool, _no_pool), console, take_over)
    fetch_models([*(_of_training(pinned) if to_train else []), *unfinished])
    with open_workers(pinned.recipe, engine, run_id, console, makers) as workers:
        return _drive(store, run_id, pinned, workers, console, take_over)


def _of_training(pinned: Pinned) -> list[EpisodePlan]:
    return [pinned.training.plan] if pinned.training else []


def _is_unfinished(store: Store, run_id: str, pinned: Pinned, planned: PlannedStage) -> bool:
    finished = store.finished_article_ids(run_id, planned.stage)
    return next(unfinished_bundles(pinned, finished), None) is not None


def fetch_models(plans: Iterable[SweepPlan | EpisodePlan]) -> None:
    """Download what is not on this machine yet, once, before several actors would.

    Raises:
        NwsError: a model cannot be had, or is not the one that was recorded.
    """
    for ref in dict.fromkeys(ref for plan in plans for ref in plan.models):
        model_folder(ref)


def _drive(
    store: Store, run_id: str, pinned: Pinned, workers: Workers, console: Console, take_over: bool = False
) -> Outcome:
    """Compute what is missing."""
    host, pid = socket.gethostname(), os.getpid()
    tell = functools.partial(console.print, markup=False)
    epoch = patiently(lambda: store.claim_run(run_id, host, pid, take_over=take_over), tell)
    state: FinalState = "failed"
    try:
        with Heart(store, run_id, epoch, console) as heart:
            heart.say(f"Run {run_id} in {store.shown_url}")
            heart.note(f"Driver {epoch}, pid {pid} on {host}, code {code_version()}, {workers.device}")
            driven = Driven(store, run_id, epoch, pinned, heart)
            try:
                _run_all(driven, workers, console)
            except _INTERRUPTIONS as interruption:
                heart.note(f"Interrupted: {str(interruption) or type(interruption).__name__}")
                raise
            heart.note("Done")
        state = "done"
    except _INTERRUPTIONS:
        state = "interrupted"
    finally:
        error = sys.exception()
        if not isinstance(error, FencedError):  # a run that another driver has is not ours to end
            text = f"{type(error).__name__}: {error}" if error else None
            patiently(lambda: store.finish_run(run_id, epoch, state, text), tell)
    run = patiently(lambda: store.run_info(run_id), tell)
    return Outcome(run_id, state, run.articles_done, run.summaries, run.failures)


def _run_all(driven: Driven, workers: Workers, console: Console) -> None:
    """Train what is to be trained, then go through the stages."""
    store, run_id, pinned = driven.store, driven.run_id, driven.pinned
    driven.start(pinned.articles, workers.device)
    training = pinned.training
    if training and not driven.patiently(lambda: is_trained(store, run_id, training)):
        train_policies(driven, training, workers, console)
    for planned in pinned.stages:
        _run_stage(driven, planned, workers, console)
    if pinned.articles is None:
        run = driven.patiently(lambda: store.run_info(run_id))
        failed = driven.patiently(lambda: store.failures(run_id))
        judged = {failure.article_id for failure in failed if failure.stage != PREPARATION.name}
        driven.start(run.articles_done + len(judged), None)


def _run_stage(driven: Driven, planned: PlannedStage, workers: Workers, console: Console) -> None:
    pinned, stage, heart = driven.pinned, planned.stage, driven.heart
    finished = driven.patiently(lambda: driven.store.finished_article_ids(driven.run_id, stage))
    bundles = unfinished_bundles(pinned, finished)
    first = next(bundles, None)
    if first is None:
        return
    if pinned.training or len(pinned.stages) > 1:
        heart.say(f"Stage {stage.name}:")
    heart.say("Loading models; the first articles take the longest.")
    with (
        workers.open(_plan(driven, planned)) as pool,
        run_progress(console, pinned.articles, len(finished), heart.note) as advance,
    ):
        known: tuple[str, ...] = ()
        for landed in pool.map(itertools.chain([first], bundles)):
            heart.check()
            if pool.workers != known:
                known = pool.workers
                driven.start(None, f"{workers.device}: {', '.join(known)}")
            if landed:
                record = functools.partial(driven.store.record, driven.run_id, driven.epoch, landed, stage)
                driven.patiently(record)
                _tell(driven, landed, finished, advance)


def _plan(driven: Driven, planned: PlannedStage) -> SweepPlan:
    """The plan of a stage, with its policies as they have become."""
    if driven.pinned.training is None:
        return planned.plan
    trained = driven.patiently(lambda: stored_systems(driven.store, driven.run_id))
    systems = tuple(trained[s.name] if isinstance(s, PolicySystem) else s for s in planned.plan.systems)
    return replace(planned.plan, systems=systems)


def _tell(driven: Driven, landed: Sequence[Landed], finished: set[str], advance: Advance) -> None:
    """Say what has been stored."""
    done = {summary.article_id for _, result in landed for summary in result.summaries} - finished
    failed = [failure for _, result in landed for failure in result.failures]
    for failure in failed:
        driven.heart.note(f"Article {failure.article_id} failed: {failure.error_class}: {failure.message}")
    advance(len(done), len(failed))


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


def _no_pool(plan: object) -> NoReturn:
    raise AssertionError("a run that has everything needs no pool")
