"""Is a mean difference more than chance? The paired sign-flip test, and Holm's correction for several of them.

The paired randomisation test of Fisher (The Design of Experiments, 1935, section 21): were two systems alike, every
article's difference would have either sign with equal chance. p is two-sided, the share of sign patterns whose |mean|
is at least the one found. All 2^articles patterns count where they are at most the number of resamples; else patterns
are drawn, and the one found counts as one of them: (b + 1) / (m + 1), which is never 0 (Phipson and Smyth 2010).
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

CELLS_AT_ONCE = 4_000_000
"""Signs held at a time: 32 MiB of float64, whatever the number of articles."""


def sign_flip_p(differences: NDArray[np.float64], seed: int, resamples: int = 10_000) -> list[tuple[float, bool]]:
    """For each column, the two-sided p that its mean is 0, and whether every sign pattern was counted.

    Columns that lack the same articles see the same signs.

    Args:
        differences: float64 of shape (articles, columns). NaN says that the column lacks the article.
        seed: of numpy's `default_rng`; the same seed and differences give the same p.
        resamples: the most sign patterns that are looked at.

    Raises:
        ValueError: a column has no value.
    """
    found: dict[int, tuple[float, bool]] = {}
    for columns, group in _complete_columns(differences):
        exact = 2 ** len(group) <= resamples
        extreme, patterns = _count_extreme(group, _all_signs(len(group)) if exact else _draw(group, seed, resamples))
        counted = 0 if exact else 1
        found |= {c: (float(b + counted) / (patterns + counted), exact) for c, b in zip(columns, extreme, strict=True)}
    return [found[column] for column in range(differences.shape[1])]


def holm(p: Sequence[float]) -> list[float]:
    """Each p corrected for the others, in the same order: Holm's step-down method (Holm 1979)."""
    corrected = [0.0] * len(p)
    largest = 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        corrected[i] = largest
    return corrected


def _complete_columns(values: NDArray[np.float64]) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
    """The columns that lack the same articles (NaN): their indices, and their values, (articles they have, columns)."""
    present = ~np.isnan(values)
    if not present.any(axis=0).all():
        raise ValueError("a mean needs at least one value: a column is empty")
    groups: dict[bytes, list[int]] = {}
    for column in range(values.shape[1]):
        groups.setdefault(present[:, column].tobytes(), []).append(column)
    for columns in groups.values():
        yield columns, values[present[:, columns[0]]][:, columns]


def _count_extreme(
    differences: NDArray[np.float64], blocks: Iterable[NDArray[np.float64]]
) -> tuple[NDArray[np.int64], int]:
    """For each column, how many sign patterns give a sum at least as far from 0 as its own; and how many there were."""
    # Equal sums of other signs must not differ by rounding, or a tie with the sum found would not count.
    least = np.abs(differences.sum(axis=0)) - 1e-12 * np.abs(differences).sum(axis=0)
    extreme, patterns = np.zeros(differences.shape[1], dtype=np.int64), 0
    for signs in blocks:
        extreme += (np.abs(signs @ differences) >= least).sum(axis=0)
        patterns += len(signs)
    return extreme, patterns


def _all_signs(articles: int) -> Iterator[NDArray[np.float64]]:
    patterns = np.arange(2**articles)[:, None] >> np.arange(articles)
    yield np.where(patterns & 1, -1.0, 1.0)


def _draw(differences: NDArray[np.float64], seed: int, resamples: int) -> Iterator[NDArray[np.float64]]:
    articles = len(differences)
    rng = np.random.default_rng(seed)
    step = max(1, CELLS_AT_ONCE // max(differences.shape))
    for start in range(0, resamples, step):
        flipped = rng.integers(0, 2, size=(min(step, resamples - start), articles))
        yield np.where(flipped, -1.0, 1.0)
