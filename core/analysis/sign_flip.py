"""Is a mean difference more than chance? The paired sign-flip test, and Holm's correction for several of them.

The paired randomisation test of Fisher (The Design of Experiments, 1935, section 21): if two systems were alike, every
article's difference would have either sign with equal chance. p is two-sided: the share of sign patterns whose |mean|
is at least the observed one. All 2^articles patterns are counted if they are at most the number of resamples. Otherwise
patterns are drawn, and the observed one counts as one of them: (b + 1) / (m + 1), which is never 0 (Phipson and
Smyth 2010).
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

CELLS_AT_ONCE = 4_000_000
"""Signs in memory at a time: 16 MiB of float32, whatever the number of articles."""
_SIGNS = np.where(np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1), np.float32(-1), np.float32(1))
"""The eight signs of each byte, by its bits."""


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
    results: dict[int, tuple[float, bool]] = {}
    for columns, group in _complete_columns(differences):
        exact = 2 ** len(group) <= resamples
        extreme, patterns = _count_extreme(
            group, _all_signs(len(group)) if exact else _draw(len(group), seed, resamples)
        )
        counted = 0 if exact else 1
        for column, count in zip(columns, extreme, strict=True):
            results[column] = float(count + counted) / (patterns + counted), exact
    return [results[column] for column in range(differences.shape[1])]


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
    differences: NDArray[np.float64], blocks: Iterable[NDArray[np.float32]]
) -> tuple[NDArray[np.int64], int]:
    """For each column, how many sign patterns give a sum at least as far from 0 as its own; and how many there were.

    Sums are made in float32, which takes half the time. Those that its rounding leaves in doubt are made in float64.
    """
    total = np.abs(differences).sum(axis=0)
    # Equal sums of other signs must not differ by rounding, or a tie with the observed sum would not count.
    least = np.abs(differences.sum(axis=0)) - 1e-12 * total
    share = np.where(total > 0, total, 1.0)
    shares = (differences / share).astype(np.float32)
    high, low = _float32_bounds(least / share, total > 0, len(differences))
    extreme, patterns = np.zeros(differences.shape[1], dtype=np.int64), 0
    for signs in blocks:
        sums = np.abs(signs @ shares)
        sure = sums >= high
        extreme += sure.sum(axis=0)
        in_doubt = (sums >= low) & ~sure
        for column in np.flatnonzero(in_doubt.any(axis=0)):
            doubtful = signs[in_doubt[:, column]].astype(np.float64)
            extreme[column] += (np.abs(doubtful @ differences[:, column]) >= least[column]).sum()
        patterns += len(signs)
    return extreme, patterns


def _float32_bounds(
    least: NDArray[np.float64], differs: NDArray[np.bool_], articles: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Two bounds (high, low) of float32 sums, that tell whether the float64 sum is at least `least`.

    At `high` or above it surely is, and below `low` it surely is not.
    In whatever order they are added, k products of shares that add up to 1 are off by at most k u / (1 - k u), and by u
    more because the shares were rounded (Higham, Accuracy and Stability of Numerical Algorithms, 2002, 3.1; u = 2^-24).
    Where nothing differs, every sum is exactly 0.
    """
    u = 2.0**-24
    off = 1.01 * (articles + 1) * u / (1 - articles * u)
    high = np.nextafter((least + off).astype(np.float32), np.float32(np.inf))
    low = np.nextafter((least - off).astype(np.float32), np.float32(-np.inf))
    return np.where(differs, high, np.float32(0)), np.where(differs, low, np.float32(0))


def _all_signs(articles: int) -> Iterator[NDArray[np.float32]]:
    patterns = np.arange(2**articles)[:, None] >> np.arange(articles)
    yield np.where(patterns & 1, np.float32(-1), np.float32(1))


def _draw(articles: int, seed: int, resamples: int) -> Iterator[NDArray[np.float32]]:
    flips = _flips(seed, resamples << (articles - 1).bit_length())
    step = max(1, CELLS_AT_ONCE // articles)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        byte, bit = divmod(start * articles, 8)
        signs = np.take(_SIGNS, flips[byte : byte + (bit + rows * articles + 7) // 8], axis=0).reshape(-1)
        yield signs[bit : bit + rows * articles].reshape(rows, articles)


@lru_cache(maxsize=2)
def _flips(seed: int, signs: int) -> NDArray[np.uint8]:
    """Which of this many signs are flipped, a bit each, 8 in a byte.

    Drawing the signs takes as long as using them, so they are cached. A report tests many columns with nearly the same
    number of articles: all of them read from the beginning of one sequence. The generator gives the same sequence
    whatever the sizes of its calls.
    """
    rng = np.random.default_rng(seed)
    sizes = [min(CELLS_AT_ONCE, signs - start) for start in range(0, signs, CELLS_AT_ONCE)]
    return np.concatenate([np.packbits(rng.integers(0, 2, size, dtype=np.int32) == 1) for size in sizes])
