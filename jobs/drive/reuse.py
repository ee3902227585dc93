"""Copy what other runs of the store have of a stage, and divide the rest into parts to compute.

An article gets its copies in the transaction that stores the rest of it, so it still has all summaries of a stage or
none, whoever dies in between. What may be copied, and the SQL of it: `jobs.store.copies`.
"""

import itertools
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TypeAlias

import numpy as np

from core.article_id_set import ArticleIds
from core.errors import EndpointError
from core.provenance import code_as_imported
from core.summarizers.endpoint import Endpoint
from core.summarizers.systems import UNCUT
from core.sweep_plan import SweepPlan
from core.types import Article, BundleResult
from jobs.drive.bundles import has_unfinished, unfinished_bundles
from jobs.drive.run import Run
from jobs.plan.pinned import Pinned, PlannedStage
from jobs.plan.work import works
from jobs.store import Reusable, StageWork

# By system, the lengths that an article lacks; with none, its uncut summary alone.
Missing: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]
Bundles: TypeAlias = Iterator[tuple[Article, ...]]
# What is missing, None for everything, and the bundles that lack it.
Part: TypeAlias = tuple[Missing | None, Bundles]

ROWS_AT_ONCE = 10_000
"""Of a transaction that copies, 0.14 s of CPU on SQLite: its other writers wait for it."""
MOST_PARTS = 4
"""Each loads its models anew."""


def find_reusable(
    run: Run, pinned: Pinned, planned: PlannedStage, finished: ArticleIds, arithmetic: Callable[[], str | None]
) -> Reusable | None:
    """What other runs have of a stage; None if they have nothing, or if the run must compute everything itself.

    Of an endpoint, that is what the model has written that answers there now. It is asked unless all is `finished`.
    """
    info = run.store.run_info(run.id)
    if not info.reuse:
        return None
    plan = planned.plan
    stage_works = {name: work for name, work in works(pinned, code_as_imported()).items() if name in plan.signatures}
    if not stage_works:
        return None
    lengths = (UNCUT, *plan.lengths)
    judged_by_key = any(metric.reads_key for metric in plan.metrics.plugins)
    reading_key = [system.signature for system in plan.systems if system.reads_key]
    by_article = frozenset(plan.signatures if judged_by_key else reading_key)
    stage = StageWork(stage_works, plan.signatures, lengths, plan.summaries_per_article, by_article)
    reusable = run.store.rows_of_equal_work(run.id, stage, None)
    own = arithmetic() if reusable else None  # asked only if there is something: it imports torch
    known = own or next(reversed(info.arithmetic), None)  # of its rows so far: nothing is copied to make it two
    if reusable and known:
        reusable = run.store.rows_of_equal_work(run.id, stage, known)
    if reusable:
        reusable = replace(reusable, is_assumed=own is None and info.summaries == info.reused)
    if reusable is None or not isinstance(plan.generator, Endpoint):
        return reusable
    is_needed = has_unfinished(pinned, finished)
    return _of_the_same_model(run, plan.generator, plan.seed, plan.lengths, reusable) if is_needed else None


def _of_the_same_model(
    run: Run, endpoint: Endpoint, seed: int, lengths: Sequence[int], reusable: Reusable
) -> Reusable | None:
    """What the model has written that answers now; None where nobody knows which that is."""
    from core.summarizers.endpoint_requests import LoadedEndpoint  # and with it httpx

    try:
        backend = LoadedEndpoint(endpoint, seed).backend
    except EndpointError as error:
        run.say(f"Warning: nothing of {endpoint.signature} is copied: the driver cannot ask which model it is. {error}")
        return None
    if backend.answered_by is None:
        run.say(f"Warning: nothing of {endpoint.signature} is copied: the endpoint does not say which model answers.")
        return None
    if endpoint.has_uncut:
        return _of_one_run(run, lengths, replace(reusable, **asdict(backend)))
    return replace(reusable, **asdict(backend))


def _of_one_run(run: Run, lengths: Sequence[int], reusable: Reusable) -> Reusable | None:
    """What the newest run has that has every n: cuts are of one text, and an endpoint writes another each time."""
    for source, systems in reusable.sources.items():
        if {*lengths} <= {*run.store.run_info(source).recipe["n"]}:
            alone = replace(reusable, sources={source: systems})
            if run.store.has_rows(alone):
                return alone
    return None


def copy_and_divide(
    run: Run,
    pinned: Pinned,
    planned: PlannedStage,
    reusable: Reusable,
    finished: ArticleIds,
    announced: "array[int]",
) -> tuple[ArticleIds, list[Part]]:
    """Copy the articles of which all summaries are known, and divide the others into parts to compute.

    Returns the articles that are finished now, and the parts. Each bundle is in one part, and has no finished article.
    """
    needs: list[Missing] = []  # of each bundle that lacks any, what any of its articles lacks
    seen: dict[Missing, Missing] = {}
    copied = array("Q")
    at_once = max(1, ROWS_AT_ONCE // (reusable.stage.rows * pinned.recipe.bundle_size))
    bundles = unfinished_bundles(pinned, finished, announced)
    while some := list(itertools.islice(bundles, at_once)):
        run.check()
        unfinished = [[article for article in bundle if article.id not in finished] for bundle in some]
        lacking = _copy_whole(run, planned, reusable, list(itertools.chain.from_iterable(unfinished)), copied)
        for bundle in unfinished:
            if need := _union(planned.plan, [lacking[article.id] for article in bundle if article.id in lacking]):
                needs.append(seen.setdefault(need, need))  # one of a kind: there may be millions
    if copied:
        articles = "1 article" if len(copied) == 1 else f"{len(copied)} articles"
        run.say(f"Copied {articles} that other runs of this store have; --no-reuse computes them anew.")
        if reusable.is_assumed:
            run.say(
                f"It is assumed that this run's machines multiply as theirs did ({reusable.arithmetic}): only workers "
                "can tell, and those of this run have computed nothing yet."
            )
        finished = finished | ArticleIds(np.unique(np.frombuffer(copied, np.uint64)))
    part_by_need = _parts(planned.plan, Counter(needs))
    if any(part != _missing(planned.plan, set()) for part in part_by_need.values()):
        run.say("Some summaries of other articles are copied from other runs, too, and only the rest is computed.")
    return finished, [
        (part, _bundles_of_part(pinned, [part_by_need[need] == part for need in needs], finished))
        for part in dict.fromkeys(part_by_need.values())
    ]


def _parts(plan: SweepPlan, bundles: Mapping[Missing, int]) -> dict[Missing, Missing]:
    """The part in which each kind of missing work is computed. The most frequent kinds have a part of their own."""
    needs = sorted((need for need in bundles if need), key=lambda need: -bundles[need])
    if len(needs) <= MOST_PARTS:
        return {need: need for need in needs}
    own, others = needs[: MOST_PARTS - 1], needs[MOST_PARTS - 1 :]
    return {need: need for need in own} | dict.fromkeys(others, _union(plan, others))


def _bundles_of_part(pinned: Pinned, is_in: Sequence[bool], finished: ArticleIds) -> Bundles:
    """The bundles of one part, without the articles that have everything."""
    for bundle in itertools.compress(unfinished_bundles(pinned, finished, array("Q")), is_in):
        yield tuple(article for article in bundle if article.id not in finished)


def _copy_whole(
    run: Run, planned: PlannedStage, reusable: Reusable, articles: Sequence[Article], copied: "array[int]"
) -> dict[str, Missing]:
    """Copy the articles of which all summaries are known. Returns what each of the others lacks, by its id."""
    hashes = {article.id: article.content_hash for article in articles}
    known = run.store.known_summaries(reusable, hashes)
    lacking = {id_: _missing(planned.plan, known.get(id_, set())) for id_ in hashes}
    known_articles = [article for article in articles if not lacking[article.id]]
    if known_articles:
        run.record([(known_articles, BundleResult((), ()))], planned.stage, reusable)
        copied.extend(int(article.id, 16) for article in known_articles)
    return {id_: missing for id_, missing in lacking.items() if missing}


def _missing(plan: SweepPlan, known: set[tuple[str, int]]) -> Missing:
    """The summaries of a plan that are not known."""
    uncut = {system.signature for system in plan.systems if system.has_uncut}
    uncut |= {plan.generator.signature} if plan.generator is not None and plan.generator.has_uncut else set()
    missing = []
    for system in plan.signatures:
        lengths = tuple(n for n in plan.lengths if (system, n) not in known)
        if lengths or (system in uncut and (system, UNCUT) not in known):
            missing.append((system, lengths))
    return tuple(missing)


def _union(plan: SweepPlan, several: Sequence[Missing]) -> Missing:
    """Everything that any of them lacks, in the plan's order."""
    lengths: dict[str, set[int]] = {}
    for system, lacking in itertools.chain.from_iterable(several):
        lengths.setdefault(system, set()).update(lacking)
    return tuple((system, tuple(sorted(lengths[system]))) for system in plan.signatures if system in lengths)
