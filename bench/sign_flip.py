"""Does a verdict of the sign-flip test depend on luck, how near is its p to that of all patterns, what does it cost?

    python -m bench.sign_flip > bench/results/sign_flip.txt

Three tables: the relative error of p where the series of `core/analysis/sign_flip.py` replaces counting; how many
answers 100 seeds give where 10,000 patterns are drawn, as is usual; and CPU seconds.
"""

import argparse
import time
from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bench.error_rates import LENGTHS, made, made_points
from nws.core.analysis import compare_systems, magic_numbers
from nws.core.analysis.sign_flip import COUNTED, _counted_p, _series_p, holm, sign_flip_p
from nws.core.findings.comparisons import TWO_SIDED_LEVEL
from nws.core.types import LEAD, RANDOM

SEED = 0
SMALLEST, LARGEST = 1e-6, 0.2
"""The p in which an error could change a verdict: from .05 corrected for 50,000 tests up."""
GAIN = 0.15 + 0.05 * np.exp(-((np.array(LENGTHS) - 9) ** 2) / 30)

# From a generator and a number of articles, the sizes of differences.
Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
SHAPES: dict[str, tuple[Draw, tuple[int, ...]]] = {
    "normal": (lambda rng, k: np.abs(rng.normal(size=k)), (25, 28, 32)),
    "lognormal": (lambda rng, k: np.exp(rng.normal(size=k)), (25, 28, 32)),
    "Student's t, 2 degrees of freedom": (lambda rng, k: np.abs(rng.standard_t(2, size=k)), (25, 28, 32)),
    "normal, in steps of 1/50": (lambda rng, k: np.abs(np.rint(50 * rng.normal(size=k))), (60, 200, 2000)),
    "0 or 1": (lambda rng, k: rng.integers(0, 2, k).astype(float), (60, 200, 2000)),
    "0 to 4": (lambda rng, k: rng.integers(0, 5, k).astype(float), (40, 60, 200, 2000)),
}


def exact_p(values: NDArray[np.float64]) -> float:
    """Over all sign patterns: by convolution for whole numbers, else by counting."""
    sizes = np.abs(values[values != 0])
    if (sizes != np.rint(sizes)).any():
        return _counted_p(sizes, abs(float(values.sum())))
    shares, reach = np.ones(1), 0
    for size in sizes.astype(int):
        grown = np.zeros(2 * (reach + size) + 1)
        grown[: 2 * reach + 1] += shares / 2
        grown[2 * size :] += shares / 2
        shares, reach = grown, reach + size
    sums = np.arange(-reach, reach + 1)
    return float(shares[np.abs(sums) >= abs(values.sum())].sum())


def errors(draw: Draw, articles: int, draws: int) -> NDArray[np.float64]:
    """Relative errors of p, where more of the differences are above 0 than below."""
    rng, found = np.random.default_rng(SEED), list[float]()
    while len(found) < draws:
        above = 0.5 + rng.uniform(0.5, 3) / articles**0.5
        values = draw(rng, articles) * np.where(rng.random(articles) < above, 1, -1)
        if np.count_nonzero(values) <= COUNTED:
            continue
        exact = exact_p(values)
        if SMALLEST <= exact <= LARGEST:
            (series,) = _series_p(np.abs(values)[None], np.array([abs(values.sum())]))
            found.append(series / exact - 1)
    return np.abs(found)


def drawn_candidates(gains: NDArray[np.float64], seed: int, patterns: int = 10_000) -> tuple[int, ...]:
    """The n that no other n is significantly above, by drawn sign patterns."""
    pairs = list(combinations(range(len(LENGTHS)), 2))
    differences = np.stack([gains[:, i] - gains[:, j] for i, j in pairs], axis=1)
    rng, total = np.random.default_rng(seed), differences.sum(axis=0)
    extreme = np.ones(len(pairs))
    for _ in range(10):
        signs = np.where(rng.random((patterns // 10, len(gains)), dtype=np.float32) < 0.5, -1.0, 1.0)
        extreme += (np.abs(signs @ differences) >= np.abs(total) - 1e-12).sum(axis=0)
    corrected = holm((extreme / (patterns + 1)).tolist())
    behind = {
        j if ahead > 0 else i for (i, j), ahead, p in zip(pairs, total, corrected, strict=True) if p < TWO_SIDED_LEVEL
    }
    return tuple(n for i, n in enumerate(LENGTHS) if i not in behind)


def print_errors(draws: int) -> None:
    print(f"Relative error of p between {SMALLEST} and {LARGEST}, of {draws} draws (40 of 2,000 articles)")
    print("| sizes of differences | articles | median | largest |\n| --- | --- | --- | --- |")
    for name, (draw, counts) in SHAPES.items():
        for articles in counts:
            found = errors(draw, articles, draws if articles < 2000 else 40)
            print(f"| {name} | {articles:,} | {np.median(found):.2%} | {found.max():.1%} |", flush=True)


def print_seeds(seeds: int, sweeps: int) -> None:
    print(f"\nHow many sets of candidates {seeds} seeds give, in {sweeps} made sweeps (1 of 2,000 articles)")
    print("| articles | 10,000 patterns drawn: mean | most |\n| --- | --- | --- |")
    for articles in (24, 60, 200, 2000):
        rng, drawn = np.random.default_rng(SEED), []
        for _ in range(sweeps if articles < 2000 else 1):
            gains = made(rng, articles) + GAIN
            drawn.append(len({drawn_candidates(gains, seed) for seed in range(seeds)}))
        print(f"| {articles:,} | {np.mean(drawn):.1f} | {max(drawn)} |", flush=True)


def print_seconds() -> None:
    print("\nCPU seconds on one core, 3 systems at 11 n: candidates in `nws report`, verdicts in `nws compare`")
    print("| articles | candidates | verdicts |\n| --- | --- | --- |")
    for articles in (24, 60, 200, 2000, 20_000):
        rng = np.random.default_rng(SEED)
        scores = {system: 0.4 + made(rng, articles) + GAIN for system in "abc"}
        points = made_points(scores | {control: np.full((articles, len(LENGTHS)), 0.4) for control in (LEAD, RANDOM)})
        start = time.process_time()
        magic_numbers(points)
        between = time.process_time()
        compare_systems(points, points, [(system, LEAD) for system in "abc"])
        end = time.process_time()
        print(f"| {articles:,} | {between - start:.2f} | {end - between:.2f} |", flush=True)
    values = np.random.default_rng(SEED).normal(size=(1_000_000, 1))
    start = time.process_time()
    sign_flip_p(values)
    print(f"\nOne test of 1,000,000 articles: {time.process_time() - start:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--sweeps", type=int, default=10)
    options = parser.parse_args()
    print_errors(options.draws)
    print_seeds(options.seeds, options.sweeps)
    print_seconds()


if __name__ == "__main__":
    main()
