"""The length at which summaries are shown by default."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.analysis import RANDOM, MagicNumber, magic_numbers
from jobs.store import RunInfo, Store


@dataclass(frozen=True, slots=True)
class Length:
    """A number of words (0: uncut), and why it is this one."""

    n: int
    why: str


def default_length(store: Store, run: RunInfo, system: str, dataset: str | None) -> Length:
    """The n to show a system's summaries at: the one with the largest gain among those that remain candidates for it.

    Where there are none, or no n is ruled out, the one with the largest gain at all, or in the middle.

    Args:
        store: where `run` is.
        run: which has summaries by `system`.
        system: a full name.
        dataset: of the articles; None for the one with the most articles by the system.
    """
    lengths = [n for n in store.articles(run.id).lengths(system) if n]
    if not lengths:
        return Length(0, f"{system} has written no summaries of n words.")
    points = store.points(run.id, ["bertscore_f1"], systems=(system, RANDOM))
    by_system = [number for number in magic_numbers(points) if number.system == system]
    numbers = [number for number in by_system if number.dataset == dataset] or by_system
    if not numbers:  # every article has fewer words than n
        middle = lengths[len(lengths) // 2]
        return Length(middle, "No article has enough words to tell which n is best. This is the middle one.")
    number = max(numbers, key=lambda number: number.articles)
    length = _candidate(number) or _no_candidate(number, lengths)
    return Length(length.n, f"{number.dataset}: {length.why}") if len(by_system) > 1 else length


def _candidate(number: MagicNumber) -> Length | None:
    if not number.is_conclusive:
        return None
    if len(number.recommended) == 1:
        return Length(number.recommended[0], f"The n recommended for {number.system}.")
    candidates = f"Of the n that remain candidates for {number.system} ({number.verdict})"
    largest = number.largest_gain
    if largest is None or largest.n not in number.recommended:
        return Length(number.recommended[0], f"{candidates}, the smallest.")
    return Length(largest.n, f"{candidates}, the one with the largest gain over {RANDOM}.")


def _no_candidate(number: MagicNumber, lengths: Sequence[int]) -> Length:
    reason = number.verdict.partition(": ")[2] or number.verdict
    why = f"No n can be recommended for {number.system}: {reason}. This is"
    if number.largest_gain is not None:
        return Length(number.largest_gain.n, f"{why} the one with the largest gain over {RANDOM}.")
    return Length(lengths[len(lengths) // 2], f"{why} the middle one of its lengths.")
