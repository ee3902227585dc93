"""What is said wherever systems are compared that do not all write n words."""

from collections.abc import Mapping

NOT_EQUAL = (
    "Where systems do not write n words, they are not compared at equal length: a longer summary has a higher F1 "
    "because of its length alone."
)


def length_notes(words: Mapping[str, Mapping[int, float]]) -> tuple[str, ...]:
    """Which systems do not write n words, and what that means for comparisons; nothing if all do.

    Args:
        words: by system and n the mean number of words.
    """
    told = tuple(filter(None, (_writes_other_lengths(system, by_n) for system, by_n in words.items())))
    return (*told, NOT_EQUAL) if told else ()


def _writes_other_lengths(system: str, words: Mapping[int, float]) -> str | None:
    """A sentence that says how many words a system writes, at the n from which that is farthest.

    Args:
        system: its name.
        words: mean number of words by n.

    Returns:
        None if it always writes n words.
    """
    other = {n: mean for n, mean in words.items() if mean != n}
    if not other:
        return None
    n = max(other, key=lambda n: (abs(1 - other[n] / n), n))
    at = "" if len(words) == 1 else f"; at {len(other)} of {len(words)} n it is not n"
    return f"{system} wrote {other[n]:.1f} words on average at n = {n}{at}."
