"""What the two ways to find Korean key sentences, KR-WordRank and TextRank, have in common, and how they compare."""

from collections.abc import Iterable, Set

import numpy as np
import scipy.sparse.linalg
from scipy import sparse

from core.errors import RecipeError

# Characters of a sentence that is neither too short nor too long: those of the example in krwordrank's documentation.
SHORTEST, LONGEST = 25, 80
# Cosines that should be equal differ by about 1e-16.
_ROUNDING = 1e-9


def length_penalty(sentence: str) -> int:
    """0 for a sentence of 25 to 80 characters (spaces count), 1 for any other: it comes after all that fit."""
    return 0 if SHORTEST <= len(sentence) <= LONGEST else 1


def distinct(documents: Iterable[str]) -> list[str]:
    """The documents in order. Of those that differ only in white space, the first one."""
    return list({" ".join(document.split()): document for document in reversed(list(documents))}.values())[::-1]


def check_selection(count: int, diversity: float) -> None:
    """Refuse a number of sentences or a threshold that means nothing.

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
    """Take rows in `order`, leaving out each whose cosine distance to one taken before is below `diversity`.

    Args:
        vectors: of the sentences, (sentences, terms); those in `order` are not zero.
        order: of rows, the best first, each once.
        count: how many to take; fewer are returned where no more are far enough.
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
    """Keyword recall: the share of the keywords that are present in key sentences, in [0, 1]; 0 where there is none.

    It is ROUGE-1 recall with the set of keywords as the reference. It grows with the number of sentences: compare at
    equal numbers.
    """
    return len(keywords & present) / len(keywords) if keywords else 0.0
