"""Two systems compared article by article: difference, interval, test and its correction."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import computed_field
from pydantic.dataclasses import dataclass

from nws.core.findings.scores import Interval

ALPHA = 0.05


FEWEST_ARTICLES = 20
"""With fewer, no n is claimed: with so few, skewness cannot be estimated."""
TOO_SKEWED = 0.1
"""Of |skewness| / √articles. Beyond it, over 7 % of comparisons may be wrong (simulated: docs/compare.md)."""


_AS_LONG = 0.9


@dataclass(frozen=True, slots=True)
class PairedLength:
    """A minus B at n words, over the `articles` for which both have a summary.

    Attributes:
        n: 0 where A was given no length: its text is uncut.
        only_a: articles that only A has, which are left out; `only_b` likewise.
        p_holm: `p` corrected over the n of one pair on one dataset, or by `compare_all_pairs` over the pairs at one n.
        exact: whether every sign pattern was counted for `p`.
        wins: articles on which A is higher; `losses` likewise.
        ties: articles on which the scores are within `TIE`. Their difference counts as 0.
        same_text: articles for which both wrote the same text; None where a side is a mean over several texts.
        words_a: mean number of words that A wrote for these articles; `words_b` likewise. Most systems write n, where n
            are words.
        skewness: of the per-article differences, m3 / m2^1.5; None where all are equal.
    """

    n: int
    articles: int
    only_a: int
    only_b: int
    mean_a: float
    mean_b: float
    difference: Interval
    p: float
    p_holm: float
    exact: bool
    wins: int
    ties: int
    losses: int
    same_text: int | None
    words_a: float
    words_b: float
    skewness: float | None

    @computed_field
    @property
    def significant(self) -> bool:
        return self.p_holm < ALPHA

    @property
    def is_told(self) -> bool:
        """Whether the difference is called significant where people read: of few articles, nothing is."""
        return self.significant and self.articles >= FEWEST_ARTICLES

    @computed_field
    @property
    def at_equal_length(self) -> bool:
        """Whether both wrote n words. Otherwise a part of the difference may be one of length.

        Of n characters, texts have different numbers of words: it is never so.
        """
        return self.words_a == self.n == self.words_b

    @computed_field
    @property
    def too_skewed(self) -> bool:
        """Whether the test is wrong more often than it says, if the differences are skewed around a mean of 0."""
        return self.skewness is not None and abs(self.skewness) / self.articles**0.5 > TOO_SKEWED

    @property
    def better(self) -> bool:
        """Whether A is significantly above B. If they differ at no n, at most 5 % of comparisons say so of any n.

        Of `compare_all_pairs`: on at most 5 % of datasets this is said of any two systems that do not differ.
        """
        return self.significant and self.difference.mean > 0

    @property
    def worse(self) -> bool:
        """Whether A is significantly below B, with the error rate of `better`."""
        return self.significant and self.difference.mean < 0

    def row(self) -> dict[str, Any]:
        """The numbers as plain values."""
        return (
            {"n": self.n, "articles": self.articles, "mean_a": self.mean_a, "mean_b": self.mean_b}
            | {"difference": self.difference.mean, "low": self.difference.low, "high": self.difference.high}
            | {"p": self.p, "p_holm": self.p_holm, "significant": self.significant}
            | {"wins": self.wins, "ties": self.ties, "losses": self.losses}
            | {"words_a": self.words_a, "words_b": self.words_b, "only_a": self.only_a}
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """System `a` minus system `b` on one dataset; `lengths` in rising n.

    `left_out` holds the n at which at least one of them has summaries but they share no article. `short` counts, by n,
    the articles with fewer words than n. These take no part there; an n without such articles is not in it.
    `is_at_own_length` says that A chose its length, and B's summaries have as many words
    (`nws.core.analysis.own_length`).
    """

    dataset: str
    a: str
    b: str
    lengths: tuple[PairedLength, ...]
    left_out: tuple[int, ...]
    short: Mapping[int, int]
    is_at_own_length: bool = False

    @property
    def is_uncut(self) -> bool:
        """Whether both systems chose their lengths, and their texts are compared as they are."""
        return not self.is_at_own_length and self.lengths[0].n == 0

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each n, with plain values."""
        yield from ({"dataset": self.dataset, "a": self.a, "b": self.b} | at.row() for at in self.lengths)

    def told(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The n at which A is called significantly better where people read, and those at which it is worse."""
        better = tuple(at.n for at in self.lengths if at.is_told and at.better)
        return better, tuple(at.n for at in self.lengths if at.is_told and at.worse)

    @computed_field
    @property
    def overtaking(self) -> "Overtaking | None":
        """Where B overtakes A: A is significantly above B at some n, and by its mean below B at the longest.

        At n that A does not write, it may be behind because its texts are shorter: these do not count.
        """
        fair = [at for at in self.lengths if at.words_a >= _AS_LONG * at.words_b]
        better = [at.n for at in fair if at.better]
        behind = [at for at in fair if at.n > max((at.n for at in fair if at.difference.mean >= 0), default=0)]
        if not behind or not better:
            return None
        worse = [at.n for at in behind if at.worse]
        return Overtaking(self.dataset, self.a, max(better), behind[0].n, min(worse, default=None))


@dataclass(frozen=True, slots=True)
class Overtaking:
    """System `a` keeps more up to `until`, and less from `since` on: both are significant. `at` lies between.

    By the means it is behind from `at` on. It is not shown to be overtaken where `since` is None.
    """

    dataset: str
    a: str
    until: int
    at: int
    since: int | None
