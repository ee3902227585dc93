"""What the analysis reads: the scores of a run's summaries as columns (`Points`), or of several runs together."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nws.core.errors import StoreError
from nws.core.findings.scores import system_order
from nws.core.findings.statements import CutTexts
from nws.core.metrics.specs import METRICS, Metric
from nws.core.systems.rulers import OTHER_ARTICLE
from nws.core.text.length import LengthUnit
from nws.core.types import LEAD, SystemKind

NO_TEXT = 0
"""The key of a point that is a mean over several texts."""

SCORE_TOLERANCE = 1e-6
"""The largest difference of scores that count as equal: the same text may score differently in another batch."""
_AT_ONCE = 1_000_000
_COLUMNS = ("n", "words", "text")

Place: TypeAlias = tuple[str, str, int]
"""Dataset, article id and n."""


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Scored summaries as columns: `system` and the arrays after it have one value for each summary.

    Attributes:
        systems: the names of all systems.
        kinds: the kind of each of `systems`.
        articles: dataset and id of each article.
        system: the index of the summary's system in `systems`, int32.
        article: the index of the summary's article in `articles`, int32.
        n: the number of words that was asked for (0: uncut), int32.
        words: the number of words that the summary has, int32.
        text: the key of the text, int64. Equal texts have equal keys (`text_keys`). `NO_TEXT` for a mean.
        scores: the scores by each metric that was read, float64.
        repeated_words: the share of the text's words that occurred before in it (`repeated_word_share`), float64. None
            unless it was asked for, since computing it takes longer than everything else.
        article_characters: the length of each of `articles`, int32, where n counts characters; None where n counts
            words.
        reference_lengths: by dataset, the median length of the first references of some articles, in the unit of n.
            Empty where it was not read.
        cut: by dataset, the texts that are longer than what BERTScore's backbone reads. Datasets without such texts
            are missing.
    """

    systems: tuple[str, ...]
    kinds: tuple[SystemKind, ...]
    articles: tuple[tuple[str, str], ...]
    system: NDArray[np.int32]
    article: NDArray[np.int32]
    n: NDArray[np.int32]
    words: NDArray[np.int32]
    text: NDArray[np.int64]
    scores: Mapping[Metric, NDArray[np.float64]]
    repeated_words: NDArray[np.float64] | None = None
    article_characters: NDArray[np.int32] | None = None
    reference_lengths: Mapping[str, float] = field(default_factory=dict)
    cut: Mapping[str, CutTexts] = field(default_factory=dict)

    @property
    def length_unit(self) -> LengthUnit:
        """The unit of n."""
        return "words" if self.article_characters is None else "characters"

    def __len__(self) -> int:
        return len(self.n)

    @classmethod
    def none(cls) -> "Points":
        """Make an empty `Points`."""
        codes, floats = np.empty(0, np.int32), np.empty(0, np.float64)
        scores = dict.fromkeys(METRICS, floats)
        return cls((), (), (), codes, codes, codes, codes, np.empty(0, np.int64), scores, floats)

    @classmethod
    def together(cls, parts: Sequence["Points"]) -> "Points":
        """Join the points of all parts. The shares of repeated words are there only if all parts have them.

        Raises:
            StoreError: n counts words in one part, and characters in another.
        """
        parts = parts or [cls.none()]
        if len({part.length_unit for part in parts}) > 1:
            raise StoreError("Summaries of n words and of n characters cannot be read together: take runs of one unit.")
        kinds = {system: kind for part in parts for system, kind in zip(part.systems, part.kinds, strict=True)}
        articles = list(dict.fromkeys(article for part in parts for article in part.articles))
        row = {system: i for i, system in enumerate(kinds)}
        depth = {article: i for i, article in enumerate(articles)}
        rows = [np.array([row[system] for system in part.systems], dtype=np.int32)[part.system] for part in parts]
        depths = [np.array([depth[of] for of in part.articles], dtype=np.int32)[part.article] for part in parts]
        shares = [part.repeated_words for part in parts if part.repeated_words is not None]
        return cls(
            systems=tuple(kinds),
            kinds=tuple(kinds.values()),
            articles=tuple(articles),
            system=np.concatenate(rows),
            article=np.concatenate(depths),
            **{name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS},
            scores={name: np.concatenate([part.scores[name] for part in parts]) for name in parts[0].scores},
            repeated_words=np.concatenate(shares) if len(shares) == len(parts) else None,
            article_characters=_characters_together(parts, depth),
            reference_lengths={name: length for part in parts for name, length in part.reference_lengths.items()},
            cut={name: cut for part in parts for name, cut in part.cut.items()},
        )

    def take(self, chosen: NDArray[np.bool_]) -> "Points":
        """Take the points where `chosen` is true, with only their systems and articles.

        Args:
            chosen: bool with one value per point.
        """
        if chosen.all():
            return self
        system, systems = _renumbered(self.system[chosen], len(self.systems))
        article, articles = _renumbered(self.article[chosen], len(self.articles))
        return replace(
            self,
            systems=tuple(self.systems[i] for i in systems),
            kinds=tuple(self.kinds[i] for i in systems),
            articles=tuple(self.articles[i] for i in articles),
            system=system,
            article=article,
            **{name: getattr(self, name)[chosen] for name in _COLUMNS},
            scores={name: values[chosen] for name, values in self.scores.items()},
            repeated_words=None if self.repeated_words is None else self.repeated_words[chosen],
            article_characters=None if self.article_characters is None else self.article_characters[articles],
        )

    def of_metrics(self, metrics: Sequence[Metric]) -> "Points":
        """Return the same points with these scores only, so that taking some of them needs less memory.

        If there are no points, there are no scores.
        """
        return replace(self, scores={metric: self.scores[metric] for metric in metrics} if len(self.n) else {})

    def is_of_kind(self, kind: SystemKind) -> NDArray[np.bool_]:
        """Return whether the system of each point is of this kind, (points,)."""
        return np.array([system_kind == kind for system_kind in self.kinds], dtype=np.bool_)[self.system]


def _characters_together(parts: Sequence[Points], depth: Mapping[tuple[str, str], int]) -> NDArray[np.int32] | None:
    """Return the length of each article of all parts, at its place in `depth`."""
    characters = np.zeros(len(depth), dtype=np.int32)
    for part in parts:
        if part.article_characters is None:
            return None
        characters[[depth[article] for article in part.articles]] = part.article_characters
    return characters


def _renumbered(codes: NDArray[np.int32], size: int) -> tuple[NDArray[np.int32], list[int]]:
    """Renumber codes from 0 without gaps. Return them, and the old code of each new one."""
    used = np.bincount(codes, minlength=size) > 0
    return (np.cumsum(used, dtype=np.int32) - np.int32(1))[codes], np.flatnonzero(used).tolist()


def text_keys(texts: Sequence[str | None]) -> NDArray[np.int64]:
    """Return a 64-bit key of each text, always the same for the same text; `NO_TEXT` for None.

    Among ten million texts, two different ones have the same key with a probability of 1 in 400,000. Besides, only
    texts of one article and n are compared.
    """
    return np.fromiter((NO_TEXT if text is None else _text_key(text) for text in texts), np.int64, len(texts))


def _text_key(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True) or 1


def pairs_with_lead(points: Points) -> list[tuple[str, str]]:
    """Pair each system with `lead`: a system that is not better than an article's first words is not worth running."""
    return [(system, LEAD) for system, kind in kinds_of(points).items() if kind == "system"]


def kinds_of(points: Points) -> dict[str, SystemKind]:
    """Return the kind of each system, in the order of `system_order`."""
    kinds = dict(zip(points.systems, points.kinds, strict=True))
    return {system: kinds[system] for system in sorted(kinds, key=lambda system: system_order(system, kinds[system]))}


def short_articles(points: Points) -> frozenset[Place]:
    """Find the places where an article has fewer words than n.

    The controls show these places, since they always write n words if they can. The exception is `OTHER_ARTICLE`, which
    is written from another article's reference, and that may be short. An article without a summary by a control counts
    as long enough.

    Where n counts characters, an article is short if all of it fits.
    """
    if points.article_characters is not None:
        is_short = (points.n > 0) & (points.article_characters[points.article] <= points.n)
    else:
        of_article = np.array([system != OTHER_ARTICLE for system in points.systems], dtype=np.bool_)[points.system]
        is_short = points.is_of_kind("control") & of_article & (points.words < points.n)
    places = set(zip(points.article[is_short].tolist(), points.n[is_short].tolist(), strict=True))
    return frozenset((*points.articles[article], n) for article, n in places)


def pieces(rows: int) -> Iterator[slice]:
    """Yield some rows at a time, since selecting from an array takes 8 bytes a row meanwhile."""
    for start in range(0, rows, _AT_ONCE):
        yield slice(start, start + _AT_ONCE)


def elsewhere(points: Points, places: Iterable[Place]) -> NDArray[np.bool_]:
    """Return whether each point is at none of `places`, (points,)."""
    depth = {article: i for i, article in enumerate(points.articles)}
    most = int(points.n.max(initial=0))
    left_out = np.zeros((len(points.articles), most + 1), dtype=np.bool_)
    for dataset, article, n in places:
        if (dataset, article) in depth and n <= most:
            left_out[depth[dataset, article], n] = True
    is_elsewhere = np.empty(len(points), dtype=np.bool_)
    for piece in pieces(len(points)):
        is_elsewhere[piece] = ~left_out[points.article[piece], points.n[piece]]
    return is_elsewhere


def combine(runs: Sequence[tuple[str, Points]]) -> tuple[Points, dict[str, dict[str, str]]]:
    """Join the points of several runs. Return them, and by run the names that its systems have among them.

    A system of two runs counts as one system if it wrote the same texts with the same scores wherever the runs share an
    article and n. Otherwise it keeps its name for the first run, and is called `NAME @RUN` for any other run.
    """
    if len(runs) == 1:
        ((run_id, points),) = runs
        return points, {run_id: {system: system for system in points.systems}}
    texts: dict[tuple[str, str, str, int], tuple[int, float]] = {}
    parts: list[Points] = []
    sources: dict[str, dict[str, str]] = {}
    for run_id, points in runs:
        rows = list(_rows(points))
        differing = {system for system, place, text in rows if not _is_same(text, texts.get((system, *place), text))}
        names = {system: f"{system} @{run_id}" if system in differing else system for system in points.systems}
        is_new = np.array([(names[system], *place) not in texts for system, place, _ in rows])
        for system, place, text in rows:
            texts.setdefault((names[system], *place), text)
        parts.append(replace(points, systems=tuple(names.values())).take(is_new))
        sources[run_id] = names
    return Points.together(parts), sources


def _rows(points: Points) -> Iterator[tuple[str, tuple[str, str, int], tuple[int, float]]]:
    """Yield for each summary its system; its dataset, article and n; and the key of its text with its F1."""
    columns = (points.system, points.article, points.n, points.text, points.scores["bertscore_f1"])
    for system, article, n, text, f1 in zip(*(column.tolist() for column in columns), strict=True):
        yield points.systems[system], (*points.articles[article], n), (text, f1)


def _is_same(text: tuple[int, float], other: tuple[int, float]) -> bool:
    return text[0] == other[0] and abs(text[1] - other[1]) <= SCORE_TOLERANCE
