"""The driver of a run: starts or resumes it, trains its policies, and takes it through its stages.

It is the only writer of its run. What it has stored is never computed again, so the same function starts a run and
resumes one.
"""

import contextlib
import functools
import os
import socket
import time
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

import numpy as np
from rich.console import Console

from core.article_id_set import ArticleIds
from core.models import model_folder
from core.sweep_plan import SweepPlan
from core.worker_factories import EpisodePlan
from jobs.drive.bundles import has_unfinished, require_known_articles
from jobs.drive.heartbeat import Heart
from jobs.drive.kept import lacking_kept, plan_of_kept, score_kept
from jobs.drive.pool_watch import MIXED, look_at_sources
from jobs.drive.pools import REAL, Engine, Makers, Pools, open_pools
from jobs.drive.run import FREE, Claim, Outcome, Run, take_run
from jobs.drive.stages import EqualFailures, require_complete, run_stage
from jobs.drive.time_left import duration
from jobs.drive.trackers import Trackers, curve_scalars, open_trackers
from jobs.plan.job import find_job
from jobs.plan.panels import draw_panels, sha256_of, with_panels
from jobs.plan.pinned import Pinned, PlannedTraining
from jobs.plan.revisions import changed_software, code_version, require_same_revisions
from jobs.plan.work import obstacles, works
from jobs.store import PolicyInfo, Store, new_run_id
from jobs.store.runs import SILENT_SECONDS

_WORTH_TELLING_SECONDS = 1.0


def start(
    store: Store,
    pinned: Pinned,
    engine: Engine,
    console: Console,
    makers: Makers = REAL,
    run_id: str | None = None,
    reuse: bool = False,
    name: str | None = None,
    note: str | None = None,
    log_to: Sequence[str] = (),
) -> Outcome:
    """Create a run, called `run_id` or by a new name, and drive it to its end.

    There is no run before its models and machines are known to be there. With `reuse`, now and whenever the run is
    resumed, summaries that other runs of the store have are copied. `name` and `note` are what people call it and say
    of it, `log_to` the trackers that it is logged to (`jobs.drive.trackers`).

    Raises:
        NwsError: a model or a machine is missing, or the store refuses. A run that exists by then can be resumed.
    """
    code_version()  # first: it tells which code was imported
    run_id = run_id or new_run_id(pinned.job)
    fetch_models(pinned.plans)
    with open_pools(pinned.recipe, engine, run_id, console, makers, pinned.plans) as pools:
        store.create_run(pinned.run_spec(None, reuse, name, note), run_id)
        return _drive(store, run_id, pinned, pools, console, log_to=log_to)


def resume(
    store: Store,
    run_id: str,
    engine: Engine,
    accelerator: str | None,
    actors: int | None,
    console: Console,
    take_over: bool = False,
    makers: Makers = REAL,
    epoch: int | None = None,
    log_to: Sequence[str] = (),
) -> Outcome:
    """Resume a run: only articles without summaries are computed, failed ones again.

    `accelerator` and `actors` replace the recipe's. They do not change the numbers, but for the last digits on another
    kind of device, and with these the draws of a training. `take_over` replaces a driver that seems to be alive.
    With `epoch` the run is already the caller's, see `Store.claim_run`. `log_to` are the trackers that it is logged to.

    Raises:
        NwsError: another driver works on it, there is no such run, or its models, articles or segmentation have
            changed since it began.
    """
    run = store.require_free(run_id, socket.gethostname(), take_over or epoch is not None)
    claim = Claim(take_over, epoch)
    where = {"accelerator": accelerator, "actors": actors}
    values = {**run.recipe, **{k: v for k, v in where.items() if v is not None}}
    pinned = find_job(run.job).plan_again(values, store.whole_of(run_id))
    require_same_revisions(run.revisions, pinned.revisions, run_id)
    to_train = pinned.training is not None and not _is_trained(store.policy_infos(run_id), pinned.training)
    finished = [store.finished_article_ids(run_id, planned.stage) for planned in pinned.stages]
    for ids in finished:
        require_known_articles(pinned, ids, run_id)
    unfinished = [
        planned.plan for planned, ids in zip(pinned.stages, finished, strict=True) if has_unfinished(pinned, ids)
    ]
    # With articles to do, every model that content kept takes is loaded anyway, and all rows need not be looked at now.
    to_score = [plan_of_kept(pinned)] if not unfinished and lacking_kept(store, run_id) else []
    if not (to_train or unfinished or to_score):
        return _drive(store, run_id, pinned, Pools(run.device, _no_pool, _no_pool), console, claim, log_to)
    to_do: list[SweepPlan | EpisodePlan] = [*unfinished, *to_score]
    if pinned.training is not None and to_train:
        to_do.insert(0, pinned.training.plan)
    fetch_models(to_do)
    with open_pools(pinned.recipe, engine, run_id, console, makers, to_do) as pools:
        return _drive(store, run_id, pinned, pools, console, claim, log_to)


def drive_alone(store: Store, run_id: str, pinned: Pinned, pools: Pools, console: Console) -> None:
    """Create a run in a store that nobody else uses, and do all its work; only its progress is shown.

    No heart beats and nobody watches: an error, or Ctrl-C, is the caller's.

    Raises:
        NwsError: whatever the work raises.
    """
    store.create_run(pinned.run_spec(), run_id)
    epoch = store.claim_run(run_id, socket.gethostname(), os.getpid())
    heart = Heart(store, run_id, epoch, Console(quiet=True))
    run = Run(store, run_id, epoch, heart)
    _run_tracked(run, pinned, pools, console)
    run.finish("done")


def fetch_models(plans: Iterable[SweepPlan | EpisodePlan]) -> None:
    """Download what is not on this machine yet, once, before several actors would.

    Raises:
        NwsError: a model cannot be had, or is not the one that was recorded.
    """
    for ref in dict.fromkeys(ref for plan in plans for ref in plan.models):
        model_folder(ref)


def _drive(
    store: Store,
    run_id: str,
    pinned: Pinned,
    pools: Pools,
    console: Console,
    claim: Claim = FREE,
    log_to: Sequence[str] = (),
) -> Outcome:
    work = functools.partial(_run_tracked, pinned=pinned, pools=pools, console=console, log_to=log_to)
    # A pool lets its driver move every few seconds, and a little later where actors die.
    stuck_after = max(pinned.recipe.stuck_after, SILENT_SECONDS)
    return take_run(store, run_id, console, work, claim, stuck_after)


def _run_tracked(run: Run, pinned: Pinned, pools: Pools, console: Console, log_to: Sequence[str] = ()) -> None:
    """Do all the work, and log to the trackers: what is added, and the finished run."""
    with open_trackers(log_to, run.store.run_info(run.id), run.say) as trackers:
        _run_all(run, pinned, pools, console, trackers)
        if log_to:
            trackers.log(curve_scalars(run.store.curve_means(run.id)))


def _run_all(run: Run, pinned: Pinned, pools: Pools, console: Console, trackers: Trackers) -> None:
    """Train what is to be trained, then go through the stages."""
    run.say(f"Run {run.id} in {run.store.shown_url}")
    run.note(f"Driver {run.epoch}, pid {os.getpid()} on {socket.gethostname()}, code {code_version()}, {pools.device}")
    panels = draw_panels(pinned)
    pinned = with_panels(pinned, panels)
    run.start(pools.device, code_version(), pinned.systems, works(pinned))
    _tell_of_reuse(run, pinned)
    run.set_panel(sha256_of(panels))
    if pinned.articles is not None:
        run.set_total(pinned.articles)
    equal_failures = EqualFailures(run.id, pinned.recipe.stop_after_equal_failures)
    training = pinned.training
    times: dict[str, float] = {}
    if training and not _is_trained(run.store.policy_infos(run.id), training):
        from jobs.drive.training import train_policies  # and with it torch, which a sweep need not wait for

        with _timed(times, "training"):
            train_policies(run, training, pools, console, equal_failures, trackers)
    announced = array("Q")
    for planned in pinned.stages:
        with _timed(times, planned.stage.name):
            run_stage(run, pinned, planned, pools, console, announced, equal_failures)
    if lacking := lacking_kept(run.store, run.id):
        with _timed(times, "content kept"):
            score_kept(run, pinned, panels, lacking, pools, console)
    if len(times) > 1 and max(times.values()) >= _WORTH_TELLING_SECONDS:
        run.say(f"Time by stage: {', '.join(f'{name} {duration(seconds)}' for name, seconds in times.items())}")
    articles = ArticleIds(np.unique(np.frombuffer(announced, np.uint64)))
    for planned in pinned.stages:
        require_complete(run, planned.stage, articles)
    if pinned.articles != len(articles):  # a streamed dataset does not tell before
        run.set_total(len(articles))


def _tell_of_reuse(run: Run, pinned: Pinned) -> None:
    """Mark a run as mixed that began with other code or libraries, and say which of its rows are copied from no run."""
    info = run.store.run_info(run.id)
    libraries = info.revisions["libraries"], pinned.revisions["libraries"]
    changed = changed_software(info.code_version, code_version(), *libraries)
    if changed:
        run.mix(list(changed))
        now = ", ".join(f"{new} (before: {old})" for new, old in changed.items())
        run.say(f"Warning: this run goes on with {now}: new numbers of it may differ from its old ones. {MIXED}.")
    look_at_sources(run)
    for obstacle, systems in obstacles(pinned).items() if info.reuse else ():
        named = "" if len(systems) == len(pinned.systems) else f" of {', '.join(systems)}"
        run.say(f"Nothing{named} is copied from other runs: {obstacle}.")


@contextlib.contextmanager
def _timed(times: dict[str, float], stage: str) -> Iterator[None]:
    started = time.monotonic()
    yield
    times[stage] = time.monotonic() - started


def _is_trained(policies: Sequence[PolicyInfo], training: PlannedTraining) -> bool:
    """Whether every policy has had its last update."""
    done = {info.name for info in policies if info.updates == info.total_updates}
    return done.issuperset(config.name for config in training.configs)


def _no_pool(plan: object) -> NoReturn:
    raise AssertionError("a run that has everything needs no pool")
