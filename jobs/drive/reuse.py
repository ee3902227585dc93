"""The bundles of a stage: copies of summaries that other runs of the store have, and parts that are computed.

An article gets its copies in the transaction that stores its other summaries. So it has all summaries of a stage or
none, whoever dies in between. The SQL is in `nws.jobs.store.articles`.

A row may be copied from another run if six things are equal: NWS's code, the libraries, the models, the system, the
arithmetic and the article. The first four make the system's key (`SystemRow.reuse_key`, see `reuse_keys`). The other
two are compared where rows are looked for.
"""

import hashlib
import itertools
import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nws.core.article import Article
from nws.core.article_id_sets import ArticleIds, IdNumbers, id_numbers
from nws.core.learning.policy_system import PolicySystem
from nws.core.models.endpoint import Endpoint
from nws.core.models.generators import Generator
from nws.core.provenance import are_as_imported, code_as_imported, is_known
from nws.core.stage import Stage, Writer
from nws.core.systems.predictions import Predictions
from nws.core.systems.rulers import OTHER_ARTICLE
from nws.core.systems.system import Draft, Stored, SummarizedArticle, uncut_and_cut
from nws.core.text.length import UNCUT
from nws.core.text.model_outputs import CLEANING_MARK, without_thoughts
from nws.core.types import CHOSEN_SCORES, BundleResult
from nws.jobs.drive.ask import ask_endpoint
from nws.jobs.drive.run import Run
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import PaidText, Reusable

Bundles: TypeAlias = Iterator[Sequence[Article]]
# The system and n of a summary.
Place: TypeAlias = tuple[str, int]

ROWS_AT_ONCE = 10_000
"""The rows of a transaction that copies: 0.14 s of CPU on SQLite, for which its other writers wait."""


@dataclass(frozen=True, slots=True)
class Part:
    """Bundles of a stage that are computed alike.

    Attributes:
        bundles: without the articles that are finished.
        stage: the systems and lengths that are computed.
        reusable: the rows that are copied beside them.
        is_asked: whether an endpoint is asked for what the stage scores.
    """

    bundles: Bundles
    stage: Stage
    reusable: Reusable | None = None
    is_asked: bool = False


def unfinished_bundles(plan: Plan, finished: ArticleIds, announced: "array[int]") -> Iterator[tuple[Article, ...]]:
    """The run's bundles, in corpus order, that hold an article not `finished`.

    A bundle is always whole and always the same articles: embeddings depend, in their last digit, on what is in a
    batch, and a resumed run must give the numbers of an undisturbed one.

    Args:
        plan: what the run runs.
        finished: the articles in other bundles are not made, unless they are streamed.
        announced: gets the numbers of the ids of all articles, see `nws.core.types`: when their dataset's turn
            comes, or as they are read from a stream.
    """
    size = plan.recipe.bundle_size
    for corpus in plan.corpora:
        if corpus.ids is not None:
            announced.frombytes(corpus.ids.tobytes())
            yield from _bundles(corpus.read(_in_unfinished(corpus.ids, size, finished)), size)
            continue
        for bundle in _bundles(iter(corpus), size):
            numbers = id_numbers(article.id for article in bundle)
            announced.extend(numbers.tolist())
            if not finished.holds(numbers).all():
                yield bundle


def _bundles(articles: Iterator[Article], size: int) -> Iterator[tuple[Article, ...]]:
    while bundle := tuple(itertools.islice(articles, size)):
        yield bundle


def _in_unfinished(ids: IdNumbers, size: int, finished: ArticleIds) -> NDArray[np.bool_]:
    """Whether the bundle of each article has an unfinished article, (articles,)."""
    unfinished = ~finished.holds(ids)
    any_in_bundle: NDArray[np.bool_] = np.logical_or.reduceat(unfinished, np.arange(0, len(ids), size))
    return np.repeat(any_in_bundle, size)[: len(ids)]


def reuse_keys(plan: Plan) -> dict[str, str]:
    """The key of each system whose rows may be copied, by its name."""
    return {system.signature: _key(plan, stage, system) for stage, system, obstacle in _systems(plan) if not obstacle}


def obstacles(plan: Plan) -> dict[str, list[str]]:
    """Why rows are not copied: the systems by the reason. Policies, which are trained for their run, are left out."""
    named: dict[str, list[str]] = {}
    for _, system, obstacle in _systems(plan):
        if obstacle and not isinstance(system, PolicySystem):
            named.setdefault(obstacle, []).append(system.signature)
    return named


def _key(plan: Plan, stage: Stage, system: Writer) -> str:
    names = () if isinstance(system, Generator | Endpoint) else system.encoders
    used = replace(stage, encoders=tuple(encoder for encoder in stage.encoders if encoder.name in names)).models
    decisive = {
        "code": code_as_imported(),
        "libraries": plan.revisions["libraries"],
        "models": list(map(str, used)),
        "pipeline": (plan.revisions["segmentation"], plan.revisions.get("language_data")),
        "system": (system.signature, repr(system), stage.language, stage.length_unit),  # a `repr` has all its fields
        "seed": stage.seed if system is stage.generator else None,  # that of other systems is a field
        "metrics": stage.metrics.signatures,
        "other articles": [panel.sha256 for panel in stage.panels] if system.signature == OTHER_ARTICLE else None,
    }
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()


def _systems(plan: Plan) -> Iterator[tuple[Stage, Writer, str]]:
    """Every system of a run with its stage, and why its rows may not be copied; "" if they may."""
    obstacle_of_run = _obstacle_of_run(plan)
    for stage in plan.stages:
        for system in stage.writers:
            yield stage, system, obstacle_of_run or _obstacle(stage, system)


def _obstacle_of_run(plan: Plan) -> str:
    unknown = [name for name, version in plan.revisions["libraries"].items() if not is_known(version)]
    if unknown:
        return f"no version tells the code of {', '.join(unknown)} (installed editable?)"
    if not are_as_imported():
        return "NWS's sources were edited after this process had begun"
    return "the run has plugins, and nothing tells what these import" if "plugins" in plan.revisions else ""


def _obstacle(stage: Stage, system: Writer) -> str:
    precisions = sorted({stage.precision, stage.metrics.bertscore.precision} - {"float32"})
    if precisions:
        return f"in {' and '.join(precisions)} a row depends on what else is in its batch"
    if isinstance(system, PolicySystem):
        return "policies are their run's own"
    return "predictions are scored in each run" if isinstance(system, Predictions) else ""


def find_reusable(run: Run, plan: Plan, stage: Stage, arithmetic: Callable[[], str | None]) -> Reusable | None:
    """The rows of other runs that a stage may copy; None if there are none, or the run computes everything itself."""
    info = run.store.run_info(run.id)
    keys = [key for system, key in reuse_keys(plan).items() if system in stage.signatures]
    sources = run.store.runs_with_reuse_keys(run.id, keys) if info.reuse and keys else {}
    if not sources:
        return None
    # Of this machine, which imports torch. Of another, that of the rows so far, or of the newest run: if its workers
    # multiply in another way, the run says so, and is a mixed one.
    way = arithmetic() or next(reversed(info.arithmetic), None) or next(iter(sources.values()))
    equal_sources = tuple(source for source, source_way in sources.items() if source_way == way)
    if isinstance(stage.generator, Endpoint):
        # An endpoint writes another text each time, and the cuts of an article are to be of one text.
        equal_sources = equal_sources[:1]
    if not equal_sources:
        return None
    return Reusable(equal_sources, way, tuple(keys), stage.signatures, (UNCUT, *stage.lengths), len(stage.places))


def divide(
    run: Run, plan: Plan, stage: Stage, reusable: Reusable | None, finished: ArticleIds, announced: "array[int]"
) -> tuple[ArticleIds, list[Part]]:
    """Copy the articles of which other runs have all summaries, and divide the other bundles into two parts.

    In the first part other runs have some summaries of each bundle, and only the rest is computed; in the second they
    have none. Of an endpoint, the first part has all texts from other runs, which are only scored, and the second asks
    for the missing ones.

    Returns:
        The articles that are finished now, and the parts.
    """
    endpoint = stage.generator
    paid = PaidTexts(run, stage, endpoint) if isinstance(endpoint, Endpoint) else None
    bundles = unfinished_bundles(plan, finished, announced)
    if reusable is None and paid is None:
        return finished, [Part(bundles, stage)]
    everything, missing = stage.places, set[Place]()
    # Of each bundle that is not copied whole: whether something is known of it.
    are_known, copied = bytearray(), array("Q")
    at_once = max(1, ROWS_AT_ONCE // (len(everything) * plan.recipe.bundle_size))
    while batch := list(itertools.islice(bundles, at_once)):
        run.check()
        unfinished = [_without(bundle, finished) for bundle in batch]
        lacking = _copy_whole(run, stage, reusable, list(itertools.chain.from_iterable(unfinished)), copied)
        if paid is not None:
            lacking = paid.lacking(lacking)
        for bundle in unfinished:
            if each := [lacking[article.id] for article in bundle if article.id in lacking]:
                union = frozenset[Place]().union(*each)
                are_known.append(union != everything if paid is None else not union)
                missing |= union if are_known[-1] else set()
    if copied:
        run.say(f"Copied {len(copied)} articles that other runs of this store have; --no-reuse computes them anew.")
        finished = finished | ArticleIds(np.unique(np.frombuffer(copied, np.uint64)))
    if any(are_known):
        run.say(
            "Summaries that other runs of this store have are copied, and only the rest is computed; --no-reuse "
            "computes them anew."
            if paid is None
            else f"Texts of {paid.system} that other runs have are scored anew, and not asked for again."
        )

    def rest(is_known: bool) -> Bundles:
        all_left = unfinished_bundles(plan, finished, array("Q"))
        chosen = itertools.compress(all_left, (known == is_known for known in are_known))
        return (_without(bundle, finished) for bundle in chosen)

    if paid is not None and isinstance(endpoint, Endpoint):
        scored = stage.with_systems(stage.name, Stored(paid.system))
        most = None if plan.articles is None else plan.articles - len(finished)
        asked = ask_endpoint(run, plan, stage, endpoint, map(paid.given, rest(False)), most)
        return finished, [Part(map(paid.given, rest(True)), scored), Part(asked, scored, is_asked=True)]
    return finished, [Part(rest(True), stage.narrowed(missing), reusable), Part(rest(False), stage, reusable)]


def _without(bundle: Sequence[Article], finished: ArticleIds) -> tuple[Article, ...]:
    return tuple(article for article in bundle if article.id not in finished)


def _copy_whole(
    run: Run, stage: Stage, reusable: Reusable | None, articles: Sequence[Article], copied: "array[int]"
) -> dict[str, frozenset[Place]]:
    """Copy the articles of which other runs have all summaries. Returns what each of the others lacks, by its id."""
    ids = [article.id for article in articles]
    copyable = run.store.known_summaries(reusable, ids) if reusable else {}
    lacking = {id_: stage.places - copyable.get(id_, set()) for id_ in ids}
    whole = [article for article in articles if not lacking[article.id]]
    if whole:
        run.record([(whole, BundleResult((), ()))], stage.name, stage.signatures, reusable)
        copied.extend(int(article.id, 16) for article in whole)
    return {id_: places for id_, places in lacking.items() if places}


class PaidTexts:
    """The texts of an endpoint in other runs that sent it the same requests: URL, model, prompt and parameters.

    Attributes:
        system: the endpoint's name.
    """

    def __init__(self, run: Run, stage: Stage, endpoint: Endpoint) -> None:
        self.system = endpoint.signature
        self._store, self._stage = run.store, stage
        self._asked = (UNCUT,) if endpoint.has_uncut else stage.lengths
        reuses = run.store.run_info(run.id).reuse
        self._sources = run.store.runs_that_asked(run.id, self.system) if reuses else []

    def lacking(self, ids: Iterable[str]) -> dict[str, frozenset[Place]]:
        """The texts of each article that no other run has, by its id."""
        paid = self._read(list(ids))
        return {id_: frozenset((self.system, n) for n in self._asked if n not in paid.get(id_, {})) for id_ in ids}

    def given(self, bundle: Sequence[Article]) -> Sequence[Article]:
        """The articles with the texts that other runs have."""
        paid = self._read([article.id for article in bundle])
        return tuple(self._with_drafts(article, paid.get(article.id, {})) for article in bundle)

    def _read(self, ids: Sequence[str]) -> dict[str, dict[int, PaidText]]:
        paid = self._store.paid_texts(self._sources, self.system, ids) if self._sources else {}
        # What earlier code has stored may be thoughts that were cut to n words. Where they are kept, the name says so.
        may_think = CLEANING_MARK in self.system
        return {
            id_: {n: one for n, one in of_id.items() if may_think or without_thoughts(one.text) == one.text}
            for id_, of_id in paid.items()
        }

    def _with_drafts(self, article: Article, paid: Mapping[int, PaidText]) -> Article:
        drafts = [draft for n in self._asked if n in paid for draft in self._drafts(n, paid[n])]
        values = article.dataset, article.split, article.key, article.text, article.references
        return SummarizedArticle(*values, tuple((self.system, draft) for draft in drafts))

    def _drafts(self, n: int, paid: PaidText) -> list[Draft]:
        """One text, uncut and cut to every length, or the text of a length; with what was stored beside it."""
        extra = {"text_from": paid.run_id} | {name: v for name, v in paid.extra.items() if name != CHOSEN_SCORES}
        drafts = [Draft(n, paid.text, extra=extra)]
        if n == UNCUT:
            drafts = uncut_and_cut(paid.text, self._stage.lengths, self._stage.length_unit, extra)
        return [replace(draft, seconds=paid.seconds) for draft in drafts]
