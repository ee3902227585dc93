"""The reuse of summaries: which of a stage are copied from other runs of the store, and which are computed.

The copies of an article are stored in the same transaction as its other summaries. So it has all summaries of a stage
or none, even if a process dies in between. The SQL is in `nws.jobs.store.articles`.

A row may be copied from another run if six things are equal: NWS's code, the libraries, the models, the system, the
arithmetic and the article. The first four make the system's key (`SystemRow.reuse_key`, see `reuse_keys`). The
arithmetic and the article are compared when rows are looked up.
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
from nws.jobs.store import EndpointText, Reusable

Bundles: TypeAlias = Iterator[Sequence[Article]]
# A system and an n: the place of a summary within its article.
Place: TypeAlias = tuple[str, int]

ROWS_AT_ONCE = 10_000
"""The rows of one copying transaction: 0.14 s of CPU on SQLite, during which other writers wait."""


@dataclass(frozen=True, slots=True)
class Part:
    """Bundles of a stage that are computed in the same way.

    Attributes:
        bundles: the bundles, without finished articles.
        stage: the systems and lengths that are computed.
        reusable: the rows that are copied in addition.
        is_asked: whether an endpoint is asked for the texts that the stage scores.
    """

    bundles: Bundles
    stage: Stage
    reusable: Reusable | None = None
    is_asked: bool = False


def unfinished_bundles(plan: Plan, finished: ArticleIds, announced: "array[int]") -> Iterator[tuple[Article, ...]]:
    """Yield the run's bundles that have an unfinished article, in corpus order.

    A bundle is always whole and always has the same articles: the last digits of embeddings depend on the other texts
    of a batch, and a resumed run must give the numbers of an undisturbed run.

    Args:
        plan: the plan of the run.
        finished: the finished articles. Unless articles are streamed, bundles with only finished articles are not read.
        announced: gets the ids of all articles as numbers, see `nws.core.types`: when the turn of their dataset comes,
            or as they are read from a stream.
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
    """Return whether the bundle of each article has an unfinished article, (articles,)."""
    unfinished = ~finished.holds(ids)
    any_in_bundle: NDArray[np.bool_] = np.logical_or.reduceat(unfinished, np.arange(0, len(ids), size))
    return np.repeat(any_in_bundle, size)[: len(ids)]


def reuse_keys(plan: Plan) -> dict[str, str]:
    """Return the reuse key of each system whose rows may be copied, by name of the system."""
    return {system.signature: _key(plan, stage, system) for stage, system, obstacle in _systems(plan) if not obstacle}


def obstacles(plan: Plan) -> dict[str, list[str]]:
    """Return the reasons why rows are not copied, with their systems. Policies belong to their run and are left out."""
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
    """Yield every system of a run with its stage, and the reason why its rows may not be copied; "" if they may."""
    obstacle_of_run = _obstacle_of_run(plan)
    for stage in plan.stages:
        for system in stage.writers:
            yield stage, system, obstacle_of_run or _obstacle(stage, system)


def _obstacle_of_run(plan: Plan) -> str:
    unknown = [name for name, version in plan.revisions["libraries"].items() if not is_known(version)]
    if unknown:
        return f"the version of {', '.join(unknown)} does not identify its code (installed editable?)"
    if not are_as_imported():
        return "NWS's sources were edited after this process had started"
    return "the run has plugins, and what these import is unknown" if "plugins" in plan.revisions else ""


def _obstacle(stage: Stage, system: Writer) -> str:
    precisions = sorted({stage.precision, stage.metrics.bertscore.precision} - {"float32"})
    if precisions:
        return f"in {' and '.join(precisions)}, a row depends on the other texts of its batch"
    if isinstance(system, PolicySystem):
        return "policies belong to the run that trained them"
    return "predictions are scored in each run" if isinstance(system, Predictions) else ""


def find_reusable(run: Run, plan: Plan, stage: Stage, arithmetic: Callable[[], str | None]) -> Reusable | None:
    """Find the rows of other runs that a stage may copy; None if there are none, or if the run does not reuse."""
    info = run.store.run_info(run.id)
    keys = [key for system, key in reuse_keys(plan).items() if system in stage.signatures]
    sources = run.store.runs_with_reuse_keys(run.id, keys) if info.reuse and keys else {}
    if not sources:
        return None
    # For this machine, torch tells the arithmetic. For another, that of the run's rows so far is assumed, or that of
    # the newest other run. If its workers then multiply in another way, the run says so and is marked as mixed.
    way = arithmetic() or next(reversed(info.arithmetic), None) or next(iter(sources.values()))
    equal_sources = tuple(source for source, source_way in sources.items() if source_way == way)
    if isinstance(stage.generator, Endpoint):
        # An endpoint writes another text each time, and all cuts of an article must come from the same text.
        equal_sources = equal_sources[:1]
    if not equal_sources:
        return None
    return Reusable(equal_sources, way, tuple(keys), stage.signatures, (UNCUT, *stage.lengths), len(stage.places))


def divide(
    run: Run, plan: Plan, stage: Stage, reusable: Reusable | None, finished: ArticleIds, announced: "array[int]"
) -> tuple[ArticleIds, list[Part]]:
    """Copy the articles of which other runs have all summaries, and divide the other bundles into two parts.

    For the bundles of the first part, other runs have some summaries, and only the others are computed. For those of
    the second part, they have none. With an endpoint, all texts of the first part come from other runs and are only
    scored, and for the second part the missing texts are requested.

    Returns:
        The finished articles after copying, and the parts.
    """
    endpoint = stage.generator
    paid = EarlierTexts(run, stage, endpoint) if isinstance(endpoint, Endpoint) else None
    bundles = unfinished_bundles(plan, finished, announced)
    if reusable is None and paid is None:
        return finished, [Part(bundles, stage)]
    everything, missing = stage.places, set[Place]()
    # For each bundle that is not copied whole: whether other runs have some of it.
    are_known, copied = bytearray(), array("Q")
    at_once = max(1, ROWS_AT_ONCE // (len(everything) * plan.recipe.bundle_size))
    while batch := list(itertools.islice(bundles, at_once)):
        run.check()
        unfinished = [_without(bundle, finished) for bundle in batch]
        lacking = _copy_whole(run, stage, reusable, list(itertools.chain.from_iterable(unfinished)), copied)
        if paid is not None:
            lacking = paid.missing(lacking)
        for bundle in unfinished:
            if each := [lacking[article.id] for article in bundle if article.id in lacking]:
                union = frozenset[Place]().union(*each)
                are_known.append(union != everything if paid is None else not union)
                missing |= union if are_known[-1] else set()
    if copied:
        run.say(f"Copied {len(copied)} articles from other runs of this store. --no-reuse computes them anew.")
        finished = finished | ArticleIds(np.unique(np.frombuffer(copied, np.uint64)))
    if any(are_known):
        run.say(
            "Summaries that other runs of this store have are copied, and only the others are computed. --no-reuse "
            "computes all anew."
            if paid is None
            else f"Texts of {paid.system} that other runs have are scored anew, and not requested again."
        )

    def rest(is_known: bool) -> Bundles:
        all_left = unfinished_bundles(plan, finished, array("Q"))
        chosen = itertools.compress(all_left, (known == is_known for known in are_known))
        return (_without(bundle, finished) for bundle in chosen)

    if paid is not None and isinstance(endpoint, Endpoint):
        scored = stage.with_systems(stage.name, Stored(paid.system))
        most = None if plan.articles is None else plan.articles - len(finished)
        asked = ask_endpoint(run, plan, stage, endpoint, map(paid.with_texts, rest(False)), most)
        return finished, [Part(map(paid.with_texts, rest(True)), scored), Part(asked, scored, is_asked=True)]
    return finished, [Part(rest(True), stage.narrowed(missing), reusable), Part(rest(False), stage, reusable)]


def _without(bundle: Sequence[Article], finished: ArticleIds) -> tuple[Article, ...]:
    return tuple(article for article in bundle if article.id not in finished)


def _copy_whole(
    run: Run, stage: Stage, reusable: Reusable | None, articles: Sequence[Article], copied: "array[int]"
) -> dict[str, frozenset[Place]]:
    """Copy the articles of which other runs have all summaries. Returns what each other article lacks, by its id."""
    ids = [article.id for article in articles]
    copyable = run.store.known_summaries(reusable, ids) if reusable else {}
    lacking = {id_: stage.places - copyable.get(id_, set()) for id_ in ids}
    whole = [article for article in articles if not lacking[article.id]]
    if whole:
        run.record([(whole, BundleResult((), ()))], stage.name, stage.signatures, reusable)
        copied.extend(int(article.id, 16) for article in whole)
    return {id_: places for id_, places in lacking.items() if places}


class EarlierTexts:
    """The texts of an endpoint in other runs that sent it the same requests (URL, model, prompt and parameters).

    Attributes:
        system: the endpoint's name.
    """

    def __init__(self, run: Run, stage: Stage, endpoint: Endpoint) -> None:
        self.system = endpoint.signature
        self._store, self._stage = run.store, stage
        self._asked = (UNCUT,) if endpoint.has_uncut else stage.lengths
        reuses = run.store.run_info(run.id).reuse
        self._sources = run.store.runs_that_asked(run.id, self.system) if reuses else []

    def missing(self, ids: Iterable[str]) -> dict[str, frozenset[Place]]:
        """Return the texts of each article that no other run has, by its id."""
        paid = self._read(list(ids))
        return {id_: frozenset((self.system, n) for n in self._asked if n not in paid.get(id_, {})) for id_ in ids}

    def with_texts(self, bundle: Sequence[Article]) -> Sequence[Article]:
        """Return the articles with the texts that other runs have."""
        paid = self._read([article.id for article in bundle])
        return tuple(self._with_drafts(article, paid.get(article.id, {})) for article in bundle)

    def _read(self, ids: Sequence[str]) -> dict[str, dict[int, EndpointText]]:
        paid = self._store.endpoint_texts(self._sources, self.system, ids) if self._sources else {}
        # Earlier code may have stored a model's thoughts, cut to n words. The system's name says if they are wanted.
        may_think = CLEANING_MARK in self.system
        return {
            id_: {n: one for n, one in of_id.items() if may_think or without_thoughts(one.text) == one.text}
            for id_, of_id in paid.items()
        }

    def _with_drafts(self, article: Article, paid: Mapping[int, EndpointText]) -> Article:
        drafts = [draft for n in self._asked if n in paid for draft in self._drafts(n, paid[n])]
        values = article.dataset, article.split, article.key, article.text, article.references
        return SummarizedArticle(*values, tuple((self.system, draft) for draft in drafts))

    def _drafts(self, n: int, paid: EndpointText) -> list[Draft]:
        """Return an uncut text and its cuts to every length, or the text of one length, with its extra values."""
        extra = {"text_from": paid.run_id} | {name: v for name, v in paid.extra.items() if name != CHOSEN_SCORES}
        drafts = [Draft(n, paid.text, extra=extra)]
        if n == UNCUT:
            drafts = uncut_and_cut(paid.text, self._stage.lengths, self._stage.length_unit, extra)
        return [replace(draft, seconds=paid.seconds) for draft in drafts]
