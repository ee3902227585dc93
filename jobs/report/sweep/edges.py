"""Answers at an end of the n tried, where the next n might be the answer: they are never recommended."""

from typing import Literal, TypeAlias

from core.analysis import MagicNumber
from core.analysis.content_kept import ContentKept

Edge: TypeAlias = Literal["longest", "shortest", "only"]
"""Of the n tried."""


def edge_of(kept: ContentKept, n: int | None) -> Edge | None:
    """At which end of its lengths the n lies from which on a system keeps a share."""
    if n is None:
        return None
    if len(kept.lengths) == 1:
        return "only"
    if n == kept.longest:
        return "longest"
    return "shortest" if n == kept.lengths[0].n else None


def edge_of_gain(number: MagicNumber) -> Edge | None:
    """At which end the n lies that is the only one left as that with the largest gain; None where several are left."""
    lengths = [gain.n for gain in number.gains]
    if len(number.recommended) != 1:
        return None
    if len(lengths) == 1:
        return "only"
    (n,) = number.recommended
    if n == max(lengths):
        return "longest"
    return "shortest" if n == min(lengths) else None


def edge_text(edge: Edge, n: int) -> str:
    """What to say behind an n at an end: "the longest tried"."""
    if edge == "only":
        return "the only n tried"
    return "the shortest there is" if n == 1 else f"the {edge} tried"


def is_recommended(number: MagicNumber) -> bool:
    """Whether one n alone is left, and lies between others that were tried."""
    return len(number.recommended) == 1 and edge_of_gain(number) is None
