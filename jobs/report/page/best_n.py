"""Which n is best: the small picture of the answer, and how often each n is best for an article."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.analysis import MagicNumber


@dataclass(frozen=True, slots=True)
class BestBar:
    """One n of a histogram: the share of articles for which it is best, and that relative to the largest."""

    n: int
    share: float
    height: float


@dataclass(frozen=True, slots=True)
class Histogram:
    """The best n of each article, for one system."""

    system: str
    look: str
    articles: int
    median: float | None
    bars: tuple[BestBar, ...]


@dataclass(frozen=True, slots=True)
class StripCell:
    """The verdict on one n for one system: a sign, its meaning in words, and its CSS class."""

    mark: str
    meaning: str
    kind: str


_LARGEST = StripCell("★", "the largest gain", "candidate")
_CANDIDATE = StripCell("◎", "candidate: may be the largest as well", "candidate")
_LARGEST_OPEN = StripCell("☆", "the largest gain so far", "open")
_OPEN = StripCell("·", "open: no n of this system could be ruled out", "open")
_RULED_OUT = StripCell("–", "ruled out", "out")
_NO_GAIN = StripCell("×", "no gain shown", "out")
_UNKNOWN = StripCell("?", "too few articles", "out")


@dataclass(frozen=True, slots=True)
class Strip:
    """A row of the table of signs: which n may have the largest gain, for one system."""

    system: str
    look: str
    cells: tuple[StripCell, ...]


def strip_key(strips: Sequence[Strip]) -> tuple[tuple[str, str], ...]:
    """The signs that occur, with their meanings."""
    occurring = {cell: None for strip in strips for cell in strip.cells}
    order = (_LARGEST, _CANDIDATE, _LARGEST_OPEN, _OPEN, _RULED_OUT, _NO_GAIN, _UNKNOWN)
    return tuple((cell.mark, cell.meaning) for cell in order if cell in occurring)


def histogram(number: MagicNumber, look: Mapping[str, str]) -> Histogram:
    largest = max(number.best_per_article.values())
    bars = tuple(BestBar(n, share, share / largest) for n, share in number.best_per_article.items())
    return Histogram(number.system, look[number.system], number.articles, number.median, bars)


def strip(number: MagicNumber, lengths: Sequence[int], look: Mapping[str, str]) -> Strip:
    """Where no n is ruled out, all are open."""
    gains = {gain.n: gain for gain in number.gains}
    largest = None if number.largest_gain is None else number.largest_gain.n
    cells = []
    for n in lengths:
        if n not in gains or gains[n].p_behind is None:
            cells.append(_UNKNOWN)
        elif n in number.recommended:
            with_largest = (_LARGEST, _CANDIDATE) if number.is_conclusive else (_LARGEST_OPEN, _OPEN)
            cells.append(with_largest[n != largest])
        else:
            cells.append(_RULED_OUT if number.recommended else _NO_GAIN)
    return Strip(number.system, look[number.system], tuple(cells))
