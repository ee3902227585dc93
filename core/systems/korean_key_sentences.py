"""Selection of Korean key sentences, as KR-WordRank and TextRank share it, and the recall of keywords in them."""

from collections.abc import Iterable, Set

import numpy as np
import scipy.sparse.linalg
from scipy import sparse

from core.errors import RecipeError

# The characters of a sentence of a fit length, as in the example of krwordrank's documentation.
SHORTEST, LONGEST = 25, 80
# Cosines that should be equal differ by about 1e-16.
_ROUNDING = 1e-9


def length_penalty(sentence: str) -> int:
    """0 for a sentence of 25 to 80 characters (spaces count), 1 for any other: it comes after all that fit."""
    return 0 if SHORTEST <= len(sentence) <= LONGEST else 1


def distinct(documents: Iterable[str]) -> list[str]:
    """The distinct documents in their order. Of those that differ only in white space, the first is kept."""
    return list({" ".join(document.split()): document for document in reversed(list(documents))}.values())[::-1]


def check_selection(count: int, diversity: float) -> None:
    """Refuse a number of sentences or a threshold that is out of range.

    Raises:
        RecipeError: `count` is below 1, or `diversity` outside [0, 1].
    """
    if count < 1:
        raise RecipeError(f"{count} are too few: ask for at least 1 keyword and 1 sentence.", settings=("top",))
    if not 0 <= diversity <= 1:
        raise RecipeError(
            f"The diversity is {diversity}: the cosine distance between key sentences must be within 0 and 1.",
            settings=("diversity",),
        )


def spread(vectors: sparse.csr_matrix, order: Iterable[int], count: int, diversity: float) -> list[int]:
    """The rows in `order` without those whose cosine distance to an earlier one is below `diversity`.

    Args:
        vectors: of the sentences, (sentences, terms); those in `order` are not zero.
        order: of rows, the best first, each once.
        count: the number of rows; fewer are returned where no more are far enough apart.
        diversity: the least distance, in [0, 1]; 0 leaves none out.
    """
    lengths = scipy.sparse.linalg.norm(vectors.astype(np.float64), axis=1)
    unit = (sparse.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ vectors).tocsr()
    nearest = np.zeros(unit.shape[0])
    taken: list[int] = []
    for row in order:
        if len(taken) == count:
            break
        if 1 - nearest[row] < diversity - _ROUNDING:
            continue
        taken.append(row)
        nearest = np.maximum(nearest, (unit @ unit[row].T).toarray().ravel())
    return taken


def share_found(keywords: Set[str], present: Set[str]) -> float:
    """Keyword recall: the share of the keywords that are in the key sentences, in [0, 1]; 0 without keywords.

    It is ROUGE-1 recall with the set of keywords as the reference. It grows with the number of sentences, so methods
    are compared at equal numbers.
    """
    return len(keywords & present) / len(keywords) if keywords else 0.0
