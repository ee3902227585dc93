"""Two systems compared article by article: difference, interval, test and its correction."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import computed_field
from pydantic.dataclasses import dataclass

from nws.core.findings.scores import Interval

TWO_SIDED_LEVEL = 0.05


FEWEST_ARTICLES = 20
"""With fewer articles no n is claimed and nothing is called significant: their skewness cannot be estimated."""
TOO_SKEWED = 0.1
"""The largest |skewness| / √articles without a warning. Above, over 7 % of verdicts may be wrong (docs/compare.md)."""


_AS_LONG = 0.9


@dataclass(frozen=True, slots=True)
class PairedLength:
    """A minus B at n words, over the `articles` for which both have a summary.

    Attributes:
        n: 0 where A's texts are uncut.
        only_a: the number of articles that only A has, which are left out; `only_b` likewise.
        p_holm: `p` corrected over all n of one pair on one dataset, or by `compare_all_pairs` over the pairs at one n.
        exact: whether every sign pattern was counted for `p`.
        wins: the number of articles on which A scores higher; `losses`: on which B does.
        ties: the number of articles on which the scores differ by at most `TIE`. Their difference counts as 0.
        same_text: the number of articles for which both wrote the same text; None where a side is a mean over texts.
        words_a: the mean number of words that A wrote for these articles; `words_b` likewise. Where n counts words,
            most systems write n.
        skewness: the skewness of the per-article differences, m3 / m2^1.5; None where all are equal.
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
        """Whether the difference is significant: Holm p is below .05. With few articles nothing is significant."""
        return self.p_holm < TWO_SIDED_LEVEL and self.articles >= FEWEST_ARTICLES

    @computed_field
    @property
    def at_equal_length(self) -> bool:
        """Whether both systems wrote n words. Otherwise part of the difference may come from length alone.

        Where n counts characters, this is False: texts of n characters have different numbers of words.
        """
        return self.words_a == self.n == self.words_b

    @computed_field
    @property
    def too_skewed(self) -> bool:
        """Whether the differences are so skewed that the error rate of the test may exceed its level."""
        return self.skewness is not None and abs(self.skewness) / self.articles**0.5 > TOO_SKEWED

    @property
    def better(self) -> bool:
        """Whether A scores significantly higher than B.

        If A and B are equal at every n, this is true at some n in at most 5 % of comparisons. With `compare_all_pairs`,
        it is true of some pair of equal systems on at most 5 % of datasets.
        """
        return self.significant and self.difference.mean > 0

    @property
    def worse(self) -> bool:
        """Whether A scores significantly lower than B, with the error rate of `better`."""
        return self.significant and self.difference.mean < 0

    def row(self) -> dict[str, Any]:
        """Return the numbers as plain values."""
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

    `left_out` holds the n at which A or B has summaries but they share no article. `short` maps n to the number of
    articles with fewer than n words, which are left out at that n; it lacks n without such articles.
    `is_length_matched` says that the comparison is length-matched: A chose its length, and each summary of B is the one
    nearest in length (`nws.core.analysis.length_matched`).
    """

    dataset: str
    a: str
    b: str
    lengths: tuple[PairedLength, ...]
    left_out: tuple[int, ...]
    short: Mapping[int, int]
    is_length_matched: bool = False

    @property
    def is_uncut(self) -> bool:
        """Whether the texts of both systems are uncut, and are compared as they are."""
        return not self.is_length_matched and self.lengths[0].n == 0

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each n, with plain values."""
        yield from ({"dataset": self.dataset, "a": self.a, "b": self.b} | at.row() for at in self.lengths)

    def significant_lengths(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the n at which A scores significantly higher, and those at which it scores significantly lower."""
        better = tuple(at.n for at in self.lengths if at.better)
        return better, tuple(at.n for at in self.lengths if at.worse)

    @computed_field
    @property
    def overtaking(self) -> "Overtaking | None":
        """Where B overtakes A: A is significantly above B at some n, and its mean is below that of B at the longest n.

        An n at which A's texts are clearly shorter than B's does not count, since A may be behind for that reason.
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
    """System `a` keeps significantly more up to n = `until`, and significantly less from n = `since` on.

    Its mean is lower from n = `at` on. `since` is None where it keeps significantly less at no n.
    """

    dataset: str
    a: str
    until: int
    at: int
    since: int | None
