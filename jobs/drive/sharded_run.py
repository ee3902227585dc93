"""A sharded run in work: its parent process starts drivers, each of which claims shards until none is left.

Each shard is an ordinary run, and the drivers find it in the store. So the parent process computes nothing, and drivers
go on without it.
"""

import functools
import itertools
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from rich.console import Console

from core.errors import (
    CancelledError,
    ClusterError,
    RecipeError,
    StoreError,
)
from core.text.dataset import OpenDataset
from jobs.drive.driver import fetch_models
from jobs.drive.run import Outcome, Run, take_run
from jobs.drive.shard_drivers import ShardDriver, StartDriver, is_driven_now
from jobs.recipes.plan import Plan, dataset_revisions
from jobs.store import RunInfo, RunSpec, Store, has_lost_driver

MOST_STARTS = 3
"""Of each driver, on average: another one is started where one has died."""
_PAUSE_SECONDS = 0.5
_STOP_SECONDS = 60.0
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
    ends the shard that it is at, and the new one waits for that.

    Args:
        store: where the run is.
        run_id: which.
        start: starts a driver.
        drivers: how many are at work at once.
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
    deaths: list[str] = []
    with _stopped_with(run), run.progress(f"{len(shards)} shards", total, finished) as advance:
        for shards in _rounds(run, start, drivers, deaths):
            before = finished, failed
            finished, failed = _counts(shards)
            new = max(0, failed - before[1])
            advance(max(0, finished - before[0] - new), new)
            at = run.store.progress_of([shard.id for shard in shards if shard.state == "running"]).values()
            run.show(newest=max((one.newest for one in at if one.newest), default=None))
    _require_done(run, shards, deaths)


def _counts(shards: Sequence[RunInfo]) -> tuple[int, int]:
    """How many articles are done or failed, and how many failed."""
    failed = sum(shard.failures for shard in shards)
    return sum(shard.articles_done for shard in shards) + failed, failed


def _rounds(run: Run, start: StartDriver, at_once: int, deaths: list[str]) -> Iterator[list[RunInfo]]:
    """Start drivers, and others for those that die, until none is at work any more; the shards at each look.

    `deaths` gets how each of them died.
    """
    shards = run.store.shards(run.id)
    told = {(shard.id, shard.driver_epoch) for shard in shards if shard.finished_at is not None}
    warned = set[str]()
    wanted = min(at_once, sum(shard.state != "done" for shard in shards))
    starts = 0
    drivers: list[ShardDriver] = []
    while True:
        run.check()
        ended = [(driver, driver.ended()) for driver in drivers]
        shards = run.store.shards(run.id)
        yield shards
        for shard in shards:
            if shard.finished_at is not None and (shard.id, shard.driver_epoch) not in told:
                told.add((shard.id, shard.driver_epoch))
                run.say(_how_it_ended(shard))
                _pass_on_warnings(run, shard, warned)
        drivers = [driver for driver, death in ended if death is None]
        for driver, death in ended:
            if death:
                run.say(f"A driver of shards, {driver.name}, {death}")
                deaths.append(death)
        if not drivers and any(map(is_driven_now, shards)):  # by drivers of an earlier parent process
            time.sleep(_PAUSE_SECONDS)
            continue
        may_start = wanted + min(len(deaths), (MOST_STARTS - 1) * wanted) if any(map(_is_to_do, shards)) else 0
        if not drivers and starts >= may_start:
            return
        while starts < may_start:
            starts += 1
            try:
                drivers.append(start(run.epoch))
            except ClusterError as error:
                run.say(f"A driver of shards cannot be started: {error}")
                deaths.append(str(error))
                break
            run.say(f"A driver of shards: {drivers[-1].name}")
        time.sleep(_PAUSE_SECONDS)


def _is_to_do(shard: RunInfo) -> bool:
    is_lost = has_lost_driver(shard, socket.gethostname(), datetime.now(UTC))
    return shard.state in ("pending", "running") or is_lost


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
            while any(map(is_driven_now, run.store.shards(run.id))) and time.monotonic() < deadline:
                time.sleep(_PAUSE_SECONDS)


def _require_done(run: Run, shards: Sequence[RunInfo], deaths: Sequence[str]) -> None:
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
        why = [f"the last driver: {death}" for death in deaths[-1:]]
        why += [f"{shard.id}: {shard.error}" for shard in undone if shard.error]
        raise ClusterError(
            f"Of the {len(shards)} shards of {run.id}, {len(undone)} are not done ({'; '.join(why[:3])}). "
            f"Resume it with: nws resume {run.id}"
        )


def shards_of(plan: Plan, spec: RunSpec, shards: int | None, articles: int | None) -> list[tuple[RunSpec, int]]:
    """The shards of a run: so many, or as many as it takes for each to have at most so many articles.

    The datasets lie one behind the other, and a shard is what stands between two places of that row. It has a part of
    one dataset, or of several. No shard is empty: there are fewer of them if there are fewer bundles.

    Args:
        plan: of the whole run.
        spec: the same; the specs of shards differ by their articles.
        shards: how many.
        articles: of each, a number that is rounded up to whole bundles; `shards` is None then.

    Raises:
        RecipeError: articles are streamed, or there would be too many shards.
    """
    streamed = [corpus.name for corpus in plan.corpora if corpus.ids is None]
    if streamed:
        raise RecipeError(f"Shards need to know all articles, and {', '.join(streamed)} is streamed: download it.")
    counts = [len(corpus.ids) for corpus in plan.corpora if corpus.ids is not None]
    size = plan.recipe.bundle_size
    bundles = sum(-(-count // size) for count in counts)
    if shards is None:
        assert articles is not None
        shards = -(-bundles // -(-articles // size))
    shards = min(shards, bundles)
    if shards > MOST_SHARDS:
        raise RecipeError(f"That is {shards} shards; there may be {MOST_SHARDS}.")
    return [_shard(plan, spec, parts) for parts in parts_of(counts, size, shards)]


def parts_of(counts: Sequence[int], size: int, shards: int) -> Iterator[list[tuple[int, int, int]]]:
    """The parts of each shard: the number of a dataset, and from which of its articles to before which they go.

    Args:
        counts: how many articles each dataset has.
        size: articles of a bundle.
        shards: how many, at most as many as there are bundles. They differ by one bundle at most.
    """
    bundles = [(number, first) for number, count in enumerate(counts) for first in range(0, count, size)]
    bounds = [shard * len(bundles) // shards for shard in range(shards + 1)]
    for begin, end in itertools.pairwise(bounds):
        parts = []
        for number, of_dataset in itertools.groupby(bundles[begin:end], key=lambda bundle: bundle[0]):
            firsts = [first for _, first in of_dataset]
            parts.append((number, firsts[0], min(firsts[-1] + size, counts[number])))
        yield parts


def _shard(plan: Plan, spec: RunSpec, parts: Sequence[tuple[int, int, int]]) -> tuple[RunSpec, int]:
    datasets, corpora = [], list[OpenDataset]()
    for number, begin, end in parts:
        dataset, corpus = plan.recipe.datasets[number], plan.corpora[number]
        datasets.append(replace(dataset, skip=dataset.skip + begin, limit=end - begin))
        corpora.append(replace(corpus, revision=corpus.part_revision(end)))
    recipe = plan.recipe.model_copy(update={"datasets": tuple(datasets)})
    own = replace(
        spec,
        recipe=recipe.model_dump(mode="json"),
        recipe_hash=recipe.hash,
        revisions={**spec.revisions, "datasets": dataset_revisions(corpora)},
    )
    return own, sum(end - begin for _, begin, end in parts)
