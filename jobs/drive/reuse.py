"""Copy what other runs of the store have of a stage, and divide the rest into parts to compute.

An article gets its copies in the transaction that stores the rest of it, so it still has all summaries of a stage or
none, whoever dies in between. What may be copied, and the SQL of it: `jobs.store.copies`.
"""

import functools
import itertools
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from core.article_id_set import ArticleIds
from core.models.endpoint import Endpoint
from core.summarizers.systems import UNCUT, Draft, Stored, SummarizedArticle, uncut_and_cut
from core.sweep_plan import NO_SEGMENTS, SweepPlan, plan_for_missing
from core.types import CHOSEN_SCORES, Article, BundleResult
from jobs.drive.bundles import unfinished_bundles
from jobs.drive.run import Run
from jobs.plan.pinned import Pinned, PlannedStage
from jobs.plan.work import works
from jobs.store import PaidText, Reusable

Bundles: TypeAlias = Iterator[tuple[Article, ...]]
# The system and n of a summary.
Place: TypeAlias = tuple[str, int]

ROWS_AT_ONCE = 10_000
"""Of a transaction that copies, 0.14 s of CPU on SQLite: its other writers wait for it."""


@dataclass(frozen=True, slots=True)
class Part:
    """Bundles of a stage that are computed alike.

    Attributes:
        bundles: without the articles that are finished.
        narrow: from the stage's plan to what is computed of them.
        reusable: what is copied beside it.
    """

    bundles: Bundles
    narrow: Callable[[SweepPlan], SweepPlan] = field(default=lambda plan: plan)
    reusable: Reusable | None = None


def find_reusable(
    run: Run, pinned: Pinned, planned: PlannedStage, arithmetic: Callable[[], str | None]
) -> Reusable | None:
    """What other runs may have of a stage; None if they have nothing, or if the run must compute everything itself."""
    info, plan = run.store.run_info(run.id), planned.plan
    keys = [key for system, key in works(pinned).items() if system in plan.signatures]
    sources = run.store.runs_of_equal_work(run.id, keys) if info.reuse and keys else {}
    if not sources:
        return None
    # Of this machine, which imports torch. Of another, that of the rows so far, or of the newest run: if its workers
    # multiply in another way, the run says so, and is a mixed one.
    known = arithmetic() or next(reversed(info.arithmetic), None) or next(iter(sources.values()))
    alike = tuple(source for source, way in sources.items() if way == known)
    if isinstance(plan.generator, Endpoint):
        alike = alike[:1]  # of the cuts of one text, which an endpoint writes anew each time it is asked
    of_stage = tuple(keys), plan.signatures, (UNCUT, *plan.lengths), plan.summaries_per_article
    return Reusable(alike, known, *of_stage) if alike else None


def divide(
    run: Run,
    pinned: Pinned,
    planned: PlannedStage,
    reusable: Reusable | None,
    finished: ArticleIds,
    announced: "array[int]",
) -> tuple[ArticleIds, list[Part]]:
    """Copy the articles of which all summaries are known, and divide the bundles with others into two parts.

    In one part something is known of each bundle, and only the rest is computed; in the other, nothing is. Of an
    endpoint, one part has all texts from other runs, and they are only scored; the other is asked for what is missing.

    Returns the articles that are finished now, and the parts.
    """
    endpoint = planned.plan.generator
    paid = PaidTexts(run, planned.plan, endpoint) if isinstance(endpoint, Endpoint) else None
    bundles = unfinished_bundles(pinned, finished, announced)
    if reusable is None and paid is None:
        return finished, [Part(bundles)]
    everything, missing = _places(planned.plan), set[Place]()
    # Of each bundle that is not copied whole: whether something is known of it.
    are_known, copied = bytearray(), array("Q")
    at_once = max(1, ROWS_AT_ONCE // (len(everything) * pinned.recipe.bundle_size))
    while some := list(itertools.islice(bundles, at_once)):
        run.check()
        unfinished = [_without(bundle, finished) for bundle in some]
        lacking = _copy_whole(run, planned, reusable, list(itertools.chain.from_iterable(unfinished)), copied)
        if paid is not None:
            lacking = paid.lacking(lacking)
        for bundle in unfinished:
            if each := [lacking[article.id] for article in bundle if article.id in lacking]:
                union = frozenset[Place]().union(*each)
                are_known.append(union != everything if paid is None else not union)
                missing |= union if are_known[-1] else set()
    if copied:
        articles = "1 article" if len(copied) == 1 else f"{len(copied)} articles"
        run.say(f"Copied {articles} that other runs of this store have; --no-reuse computes them anew.")
        finished = finished | ArticleIds(np.unique(np.frombuffer(copied, np.uint64)))
    if any(are_known):
        run.say(
            "Some summaries of other articles are copied from other runs, too, and only the rest is computed."
            if paid is None
            else f"Texts of {paid.system} that other runs have are scored anew, and not asked for again."
        )

    def rest(is_known: bool) -> Bundles:
        chosen = itertools.compress(
            unfinished_bundles(pinned, finished, array("Q")), (known == is_known for known in are_known)
        )
        return (_without(bundle, finished) for bundle in chosen)

    if paid is not None:
        return finished, [Part(map(paid.given, rest(True)), _scored_alone), Part(map(paid.given, rest(False)))]
    narrow = functools.partial(plan_for_missing, missing=missing)
    return finished, [Part(rest(True), narrow, reusable), Part(rest(False), reusable=reusable)]


def _places(plan: SweepPlan) -> frozenset[Place]:
    """Every summary that a plan has of an article."""
    systems = (*plan.systems, *(() if plan.generator is None else (plan.generator,)))
    return frozenset((s.signature, n) for s in systems for n in (*plan.lengths, *([UNCUT] * s.has_uncut)))


def _without(bundle: Sequence[Article], finished: ArticleIds) -> tuple[Article, ...]:
    return tuple(article for article in bundle if article.id not in finished)


def _copy_whole(
    run: Run, planned: PlannedStage, reusable: Reusable | None, articles: Sequence[Article], copied: "array[int]"
) -> dict[str, frozenset[Place]]:
    """Copy the articles of which all summaries are known. Returns what each of the others lacks, by its id."""
    ids = [article.id for article in articles]
    known = run.store.known_summaries(reusable, ids) if reusable else {}
    everything = _places(planned.plan)
    lacking = {id_: everything - known.get(id_, set()) for id_ in ids}
    whole = [article for article in articles if not lacking[article.id]]
    if whole:
        run.record([(whole, BundleResult((), ()))], planned.stage, reusable)
        copied.extend(int(article.id, 16) for article in whole)
    return {id_: places for id_, places in lacking.items() if places}


class PaidTexts:
    """What an endpoint has written in other runs that asked it for the same: URL, model, prompt and parameters.

    Attributes:
        system: the endpoint's name.
    """

    def __init__(self, run: Run, plan: SweepPlan, endpoint: Endpoint) -> None:
        self.system = endpoint.signature
        self._store, self._plan = run.store, plan
        self._asked = (UNCUT,) if endpoint.has_uncut else plan.lengths
        reuses = run.store.run_info(run.id).reuse
        self._sources = run.store.runs_that_asked(run.id, self.system) if reuses else []

    def lacking(self, ids: Iterable[str]) -> dict[str, frozenset[Place]]:
        """For each article, which texts of it nobody has."""
        paid = self._read(list(ids))
        return {id_: frozenset((self.system, n) for n in self._asked if n not in paid.get(id_, {})) for id_ in ids}

    def given(self, bundle: tuple[Article, ...]) -> tuple[Article, ...]:
        """The articles with the texts that are known of them."""
        paid = self._read([article.id for article in bundle])
        return tuple(self._with_drafts(article, paid.get(article.id, {})) for article in bundle)

    def _read(self, ids: Sequence[str]) -> dict[str, dict[int, PaidText]]:
        return self._store.paid_texts(self._sources, self.system, ids) if self._sources else {}

    def _with_drafts(self, article: Article, paid: Mapping[int, PaidText]) -> Article:
        drafts = [draft for n in self._asked if n in paid for draft in self._drafts(n, paid[n])]
        values = article.dataset, article.split, article.key, article.text, article.references
        return SummarizedArticle(*values, tuple((self.system, draft) for draft in drafts))

    def _drafts(self, n: int, paid: PaidText) -> list[Draft]:
        """One text, uncut and cut to every length, or the text of a length; with what was stored beside it."""
        extra = {"text_from": paid.run_id} | {name: v for name, v in paid.extra.items() if name != CHOSEN_SCORES}
        drafts = [Draft(n, paid.text, extra=extra)]
        if n == UNCUT:
            drafts = uncut_and_cut(paid.text, self._plan.lengths, self._plan.length_unit, extra)
        return [replace(draft, seconds=paid.seconds) for draft in drafts]


def _scored_alone(plan: SweepPlan) -> SweepPlan:
    """The plan of texts that are all there."""
    assert plan.generator is not None
    systems = (Stored(plan.generator.signature),)
    return replace(plan, pipeline=NO_SEGMENTS, encoders=(), systems=systems, generator=None)
