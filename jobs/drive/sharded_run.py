"""A sharded run in work: its parent process starts drivers, each of which claims shards until none is left.

Each shard is an ordinary run, and the drivers find it in the store. So the parent process computes nothing, and drivers
go on without it.
"""

import functools
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime

from rich.console import Console

from core.errors import (
    CancelledError,
    ClusterError,
    FencedError,
    NwsError,
    RecipeError,
    StoreError,
    StoreUnavailableError,
)
from core.text.dataset import OpenDataset
from jobs.drive.driver import fetch_models
from jobs.drive.run import Outcome, Run, held, take_run
from jobs.drive.shard_drivers import ShardDriver, StartDriver
from jobs.recipes.plan import Plan, dataset_revisions
from jobs.store import RunInfo, RunSpec, ShardSpec, Store, has_lost_driver, is_driven

MOST_STARTS = 3
"""Of a driver: it is started again where it has died."""
_PAUSE_SECONDS = 0.5
_WAIT_SECONDS = 2.0
_STOP_SECONDS = 60.0
_NAMED = 3
MOST_SHARDS = 10_000
"""Each is a row that `nws ls` adds up, and takes seconds to begin."""


def create_sharded_run(
    store: Store,
    run_id: str,
    plan: Plan,
    spec: RunSpec,
    drivers: int,
    shards: int | None,
    shard_articles: int | None,
) -> list[str]:
    """Add a run, for so many drivers, and its shards; the ids of the shards.

    Raises:
        NwsError: a model is missing, the articles cannot be divided, or the store refuses. There is no run then.
    """
    if spec.address is None:
        fetch_models(plan.training_and_stages)  # once, before several drivers would
    divided = shards_of(plan, spec, shards, shard_articles)
    panels = plan.with_panels().panels or ()
    return store.create_sharded_run(spec, run_id, drivers, plan.language, panels, plan.systems, divided)


def drive_sharded_run(
    store: Store,
    run_id: str,
    start: StartDriver,
    drivers: int,
    console: Console,
    address: str | None = None,
    take_over: bool = False,
) -> Outcome:
    """Start so many drivers, and see to it that they drive what is not done of a sharded run. It may be resumed so.

    An interruption stops them, too, and is in the outcome. A parent process that is replaced leaves them alone: each
    ends the shard that it is at.

    Args:
        store: where the run is.
        run_id: which.
        start: starts a driver.
        drivers: how many are at work at once, with those of an earlier parent process.
        console: where the progress is shown.
        address: of the cluster where they run; None for this machine.
        take_over: replace a parent process that seems to be alive.

    Raises:
        StoreError: another process has it, or there is no such run.
        ClusterError: shards are not done; what they have is stored.
    """
    work = functools.partial(_see_to_shards, start=start, drivers=drivers, address=address)
    return take_run(store, run_id, console, work, take_over)


def _see_to_shards(run: Run, start: StartDriver, drivers: int, address: str | None) -> None:
    run.store.open_shards(run.id, run.epoch, drivers, address)
    shards = run.store.shards(run.id)
    run.say(f"Run {run.id} in {run.store.shown_url}: {len(shards)} shards, {drivers} at a time")
    finished, failed = _counts(shards)
    total = run.store.run_info(run.id).total_articles
    last_words: list[str] = []
    with (
        _stopped_with(run),
        run.progress(f"{len(shards)} shards", total, finished) as advance,
    ):
        for shards in _rounds(run, start, drivers, last_words):
            before = finished, failed
            finished, failed = _counts(shards)
            new = max(0, failed - before[1])
            advance(max(0, finished - before[0] - new), new)
            at = run.store.progress_of([shard.id for shard in shards if shard.state == "running"]).values()
            run.show(
                actors=tuple(actor for one in at for actor in one.actors),
                newest=max((one.newest for one in at if one.newest), default=None),
            )
    _require_done(run, shards, last_words)


def _counts(shards: Sequence[RunInfo]) -> tuple[int, int]:
    """How many articles are done or failed, and how many failed."""
    failed = sum(shard.failures for shard in shards)
    return sum(shard.articles_done for shard in shards) + failed, failed


def _rounds(run: Run, start: StartDriver, at_once: int, last_words: list[str]) -> Iterator[list[RunInfo]]:
    """Start drivers, and again those that die, until none is at work any more; the shards at each look.

    `last_words` gets how each of them died.
    """
    shards = run.store.shards(run.id)
    told = {(shard.id, shard.driver_epoch) for shard in shards if shard.finished_at is not None}
    warned = set[str]()
    # Drivers that an earlier parent process has started end with the shard that they are at.
    others = {(shard.driver_host, shard.driver_pid) for shard in shards if _is_driven(shard)}
    to_start = [1] * min(at_once, sum(shard.state != "done" for shard in shards))
    at_work: list[tuple[ShardDriver, int]] = []
    while True:
        run.check()
        ended = {driver.name: driver.ended() for driver, _ in at_work}
        shards = run.store.shards(run.id)
        yield shards
        for shard in shards:
            if shard.finished_at is not None and (shard.id, shard.driver_epoch) not in told:
                told.add((shard.id, shard.driver_epoch))
                run.say(_how_it_ended(shard))
                _pass_on_warnings(run, shard, warned)
        for driver, starts in at_work:
            if death := ended[driver.name]:
                run.say(f"A driver of shards, {driver.name}, {death}")
                last_words.append(death)
                to_start += [starts + 1] if starts < MOST_STARTS else []
        at_work = [(driver, starts) for driver, starts in at_work if ended[driver.name] is None]
        of_others = sum((shard.driver_host, shard.driver_pid) in others and _is_driven(shard) for shard in shards)
        if not any(shard.state in ("pending", "running") or _has_lost_driver(shard) for shard in shards):
            to_start.clear()
        if not (at_work or of_others or to_start):
            return
        while to_start and len(at_work) + of_others < at_once:
            starts = to_start.pop(0)
            try:
                driver = start(run.epoch)
            except ClusterError as error:
                run.say(f"A driver of shards cannot be started: {error}")
                last_words.append(str(error))
                to_start += [starts + 1] if starts < MOST_STARTS else []
                break
            at_work.append((driver, starts))
            run.say(f"A driver of shards: {driver.name}")
        time.sleep(_PAUSE_SECONDS)


def _is_driven(shard: RunInfo) -> bool:
    return is_driven(shard, socket.gethostname(), datetime.now(UTC))


def _has_lost_driver(shard: RunInfo) -> bool:
    return has_lost_driver(shard, socket.gethostname(), datetime.now(UTC))


def _how_it_ended(shard: RunInfo) -> str:
    done = f"{shard.articles_done}/{shard.total_articles} articles, {shard.failures} failed"
    return f"Shard {shard.shard}, {shard.id}, is {shard.state}: {done}{f' ({shard.error})' if shard.error else ''}"


def _pass_on_warnings(run: Run, shard: RunInfo, warned: set[str]) -> None:
    """Say what the drivers of a shard warn of or cannot copy, each once: who follows a sharded run reads its log."""
    for _, line in run.store.log(shard.id):
        if line.text.startswith(("Warning: ", "Nothing ")) and line.text not in warned:
            warned.add(line.text)
            run.say(f"Shard {shard.shard}: {line.text}")


@contextmanager
def _stopped_with(run: Run) -> Iterator[None]:
    """An end that nobody waited for stops the drivers, too, unless the run has another parent process now."""
    try:
        yield
    finally:
        error = sys.exception()
        if error is not None and not isinstance(error, StoreError | GeneratorExit):
            run.say("Stopping the shards that are in work …")
            run.store.cancel_run(run.id, socket.gethostname())
            deadline = time.monotonic() + _STOP_SECONDS
            while any(map(_is_driven, run.store.shards(run.id))) and time.monotonic() < deadline:
                time.sleep(_PAUSE_SECONDS)


def _require_done(run: Run, shards: Sequence[RunInfo], last_words: Sequence[str]) -> None:
    """Refuse to end a run as done while one of its shards is not.

    Raises:
        ClusterError: names some of them, and why.
        CancelledError: somebody has asked for an end.
    """
    undone = [shard for shard in shards if shard.state != "done"]
    if undone:
        run.store.close_shards(run.id, run.epoch)
        if run.store.run_info(run.id).cancel_requested_at is not None:  # drivers may see it before this process does
            raise CancelledError(f"run {run.id} was cancelled")
        begun = [shard for shard in undone if shard.state != "pending"]
        named = [f"{shard.id}: {shard.error or shard.state}" for shard in begun[:_NAMED]]
        named += [f"the last driver: {last_words[-1]}"] if last_words else []
        raise ClusterError(
            f"Of the {len(shards)} shards of {run.id}, {len(undone)} are not done ({'; '.join(named)}"
            f"{'; …' if len(begun) > _NAMED else ''}). Resume it with: nws resume {run.id}"
        )


def drive_shards(
    store: Store, run_id: str, epoch: int, drive: Callable[[Store, str, int], Outcome], console: Console
) -> Outcome | None:
    """Drive shards of a run, one after the other, until none is left to claim and no other driver may lose its own.

    If nobody else does, the driver that has waited for the last of them ends the run, too.

    Args:
        store: where the run is.
        run_id: the parent of the shards.
        epoch: of the process that has started this one.
        drive: drives a shard that was claimed with this epoch, in a store that waits for its database.
        console: where errors of shards are printed.

    Returns:
        The outcome of the shard with which this driver was interrupted; None if it was not.

    Raises:
        StoreUnavailableError: the store did not come back.
    """
    host, pid = socket.gethostname(), os.getpid()
    patient = store.waiting(functools.partial(console.print, markup=False))
    is_waiting = True
    while is_waiting:
        shard, is_waiting = patient.claim_shard(run_id, epoch, host, pid)
        if shard is None:
            time.sleep(_WAIT_SECONDS if is_waiting else 0)
            continue
        try:
            with held(store, shard.id, shard.driver_epoch, console):
                outcome = drive(patient, shard.id, shard.driver_epoch)
        except StoreUnavailableError:
            raise
        except NwsError as error:  # of this shard: it is stored
            console.print(f"{shard.id}: {error}", markup=False)
            continue
        if outcome.state == "interrupted" and patient.run_info(shard.id).cancel_requested_at is None:
            return outcome  # by a signal
    _end_run(patient, run_id, epoch, console)
    return None


def _end_run(store: Store, run_id: str, epoch: int, console: Console) -> None:
    """End a run whose shards are all done, unless its parent process does: it may have died."""
    if not _is_driven(store.run_info(run_id)) and all(shard.state == "done" for shard in store.shards(run_id)):
        with suppress(FencedError):  # another driver has ended it
            take_run(store, run_id, console, lambda run: run.say("Ended by a driver of its shards"), epoch=epoch)


def shards_of(plan: Plan, spec: RunSpec, shards: int | None, articles: int | None) -> list[ShardSpec]:
    """The shards of a run: so many, or as many as it takes for each to have at most so many articles.

    The datasets lie one behind the other, and a shard is what stands between two places of that row. It has a part of
    one dataset, or of several. No shard is empty: there are fewer of them if there are fewer bundles.

    Args:
        plan: of the whole run.
        spec: the same; the specs of shards differ by their articles.
        shards: how many.
        articles: of each, a number that is rounded up to whole bundles; `shards` is None then.

    Raises:
        RecipeError: policies are trained, articles are streamed, or there would be too many shards.
    """
    if plan.training is not None:
        raise RecipeError("A training is one run: leave out --shards.")
    streamed = [corpus.name for corpus in plan.corpora if corpus.ids is None]
    if streamed:
        raise RecipeError(f"Shards need to know all articles, and {', '.join(streamed)} is streamed: download it.")
    size = plan.recipe.bundle_size
    bundles = [-(-len(corpus.ids) // size) for corpus in plan.corpora if corpus.ids is not None]
    if shards is None:
        assert articles is not None
        shards = -(-sum(bundles) // -(-articles // size))
    shards = min(shards, sum(bundles))
    if shards > MOST_SHARDS:
        raise RecipeError(f"That is {shards} shards; there may be {MOST_SHARDS}.")
    return [_shard(plan, spec, parts) for parts in parts_of(bundles, size, shards)]


def parts_of(bundles: Sequence[int], size: int, shards: int) -> Iterator[list[tuple[int, int] | None]]:
    """For each shard, which articles of each dataset it has: from one number (from 0) to before another, or none.

    Args:
        bundles: how many each dataset has.
        size: articles of a bundle. The last of a dataset may have fewer: an end may lie behind its last article.
        shards: how many, at most as many as there are bundles. They differ by one bundle at most.
    """
    total = sum(bundles)
    for number in range(shards):
        begin, end = number * total // shards, (number + 1) * total // shards
        parts: list[tuple[int, int] | None] = []
        first = 0
        for count in bundles:
            low, high = max(begin - first, 0), min(end - first, count)
            parts.append((low * size, high * size) if low < high else None)
            first += count
        yield parts


def _shard(plan: Plan, spec: RunSpec, parts: Sequence[tuple[int, int] | None]) -> ShardSpec:
    datasets, corpora = [], list[OpenDataset]()
    articles = 0
    for dataset, corpus, part in zip(plan.recipe.datasets, plan.corpora, parts, strict=True):
        if part is None or corpus.ids is None:
            continue
        begin, end = part[0], min(part[1], len(corpus.ids))
        datasets.append(replace(dataset, skip=dataset.skip + begin, limit=end - begin))
        corpora.append(replace(corpus, revision=corpus.part_revision(end)))
        articles += end - begin
    recipe = plan.recipe.model_copy(update={"datasets": tuple(datasets)})
    own = replace(
        spec,
        recipe=recipe.model_dump(mode="json"),
        recipe_hash=recipe.hash,
        revisions={**spec.revisions, "datasets": dataset_revisions(corpora)},
    )
    return ShardSpec(own, articles)
