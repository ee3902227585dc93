"""How often what a report says in words is wrong, on sweeps whose truth is known. Writes the table of docs/phase1.md.

    python -m bench.error_rates > bench/results/error_rates.txt   made sweeps, correlated normal noise; then skewed
    python -m bench.error_rates --store sqlite:///nws.db --run R  the articles of a real sweep, drawn again and again

A real sweep is the truth of the second kind: its gains are shifted to what a column supposes, so that only the noise of
real articles is left, with its skew. A second table says how often the 95 % interval holds the mean of its scores.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import skew as skewness

from nws.core.analysis import Points, compare_all_pairs, compare_systems, magic_numbers, mean_intervals
from nws.core.analysis.points import NO_TEXT
from nws.core.analysis.sign_flip import holm, sign_flip_p
from nws.core.findings.comparisons import TOO_SKEWED, TWO_SIDED_LEVEL
from nws.core.metrics.specs import Metric
from nws.core.types import LEAD, RANDOM
from nws.jobs.store import open_store

ARTICLES = (8, 24, 100, 1000)
FEW_ARTICLES = (5, 8, 12, 24)
METRICS: tuple[Metric, ...] = ("bertscore_f1", "rouge1_f1", "rouge2_f1", "rougel_f1")
LENGTHS = tuple(range(1, 22, 2))
SEED = 0
SKEWS = (0.25, 0.5, 0.75, 1.0, 1.5)
SKEWED_ARTICLES = (12, 24, 60, 200, 1000)
EQUAL_SYSTEMS = (2, 3, 5, 10)

# From a generator and a number of articles: what a system has over a control, (articles, lengths), with mean 0.
Noise = Callable[[np.random.Generator, int], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of the sweeps.

    Attributes:
        verdict: of a system that equals `lead`: some n is called better or worse.
        recommended: of a system without gain over `random`: some n is recommended.
        dropped: of a system whose gain is the same at every n: some n is not recommended, though others are.
        missed: of a system whose gain has one peak: the best n is not recommended, though others are.
        silent: of the same: none is recommended.
        size: of the same: how many n are recommended, where any is.
    """

    verdict: float
    recommended: float
    dropped: float
    missed: float
    silent: float
    size: float


def made(rng: np.random.Generator, articles: int) -> NDArray[np.float64]:
    """Normal noise as large as that of MiniLM's BERTScore F1 over `random` on news; neighbouring n go together."""
    correlation = 0.8 ** np.abs(np.subtract.outer(np.arange(len(LENGTHS)), np.arange(len(LENGTHS))))
    return np.asarray(0.13 * rng.normal(size=(articles, len(LENGTHS))) @ np.linalg.cholesky(correlation).T)


def points_of(store: str, run: str) -> Points:
    with open_store(store) as opened:
        points = opened.points(run)
    return points.take(np.isin(points.n, LENGTHS))


def scores_of(points: Points, metric: Metric) -> dict[str, NDArray[np.float64]]:
    """The scores of the first system, of `lead` and of `random`, each (articles, lengths)."""
    system = min(name for name, kind in zip(points.systems, points.kinds, strict=True) if kind == "system")
    places = zip(points.system, points.article, points.n, points.scores[metric], strict=True)
    score = {(points.systems[s], points.articles[a][1], int(n)): value for s, a, n, value in places}
    ids = sorted({article_id for _, article_id in points.articles})
    return {name: np.array([[score[name, i, n] for n in LENGTHS] for i in ids]) for name in (system, LEAD, RANDOM)}


def drawn_from(points: Points) -> Noise:
    """Articles of a run's first system minus `random`, drawn with replacement."""
    system, _, random = scores_of(points, "bertscore_f1").values()
    centred = (system - random) - (system - random).mean(axis=0)
    return lambda rng, articles: np.asarray(centred[rng.integers(0, len(centred), articles)], dtype=np.float64)


def coverage(scores: NDArray[np.float64], articles: int, draws: int) -> tuple[float, float]:
    """The smallest and the largest share, over the n, of draws whose interval holds the mean of all scores.

    An n at which all scores are equal is left out: there is nothing to be sure of.
    """
    scores = scores[:, scores.std(axis=0) > 0]
    rng, truth = np.random.default_rng(SEED), scores.mean(axis=0)
    held = np.zeros(scores.shape[1])
    for _ in range(draws):
        intervals = mean_intervals(scores[rng.integers(0, len(scores), articles)])
        held += [
            i.low is not None and i.high is not None and i.low <= m <= i.high
            for i, m in zip(intervals, truth, strict=True)
        ]
    return float(held.min() / draws), float(held.max() / draws)


def made_points(scores: dict[str, NDArray[np.float64]]) -> Points:
    """The points of systems with these scores, (articles, lengths)."""
    systems, (articles, lengths) = tuple(scores), next(iter(scores.values())).shape
    cells = len(systems) * articles * lengths
    s, a, n = (index.ravel() for index in np.indices((len(systems), articles, lengths)))
    words = np.array(LENGTHS, dtype=np.int32)[n]
    return Points(
        systems=systems,
        kinds=tuple("control" if system in (LEAD, RANDOM) else "system" for system in systems),
        articles=tuple(("made", f"{i:06d}") for i in range(articles)),
        system=s.astype(np.int32),
        article=a.astype(np.int32),
        n=words,
        words=words,
        text=np.full(cells, NO_TEXT, dtype=np.int64),
        scores={"bertscore_f1": np.stack(list(scores.values())).ravel()},
    )


def sweep(noise: NDArray[np.float64], gain: NDArray[np.float64], control: str) -> Points:
    """The points of a system that has `gain` and `noise` over a control."""
    return made_points({"a": 0.4 + noise + gain, control: np.full_like(noise, 0.4)})


def rates(noise: Noise, articles: int, sweeps: int) -> Rates:
    rng = np.random.default_rng(SEED)
    none, flat = np.zeros(len(LENGTHS)), np.full(len(LENGTHS), 0.3)
    peak = 0.15 + 0.15 * np.exp(-((np.array(LENGTHS) - 9) ** 2) / 8)
    verdicts = []
    recommended: dict[str, list[tuple[int, ...]]] = {"none": [], "flat": [], "peak": []}
    for _ in range(sweeps):
        points = sweep(noise(rng, articles), none, LEAD)
        (compared,) = compare_systems(points, points, [("a", LEAD)])
        verdicts.append(any(length.p_holm < TWO_SIDED_LEVEL for length in compared.lengths))
        for name, gain in (("none", none), ("flat", flat), ("peak", peak)):
            numbers = magic_numbers(sweep(noise(rng, articles), gain, RANDOM))
            recommended[name].append(next(number.recommended for number in numbers if number.system == "a"))
    not_silent = [lengths for lengths in recommended["peak"] if lengths]
    return Rates(
        verdict=float(np.mean(verdicts)),
        recommended=float(np.mean([bool(lengths) for lengths in recommended["none"]])),
        dropped=float(np.mean([bool(lengths) and lengths != LENGTHS for lengths in recommended["flat"]])),
        missed=float(np.mean([bool(lengths) and 9 not in lengths for lengths in recommended["peak"]])),
        silent=float(np.mean([not lengths for lengths in recommended["peak"]])),
        size=float(np.mean([len(lengths) for lengths in not_silent])) if not_silent else float("nan"),
    )


def skewed_rates(sigma: float, articles: int, sweeps: int) -> tuple[float, float, float]:
    """Of lognormal differences with mean 0 at correlated n: how skewed, and how often some n has a verdict.

    Returns:
        The median of |skewness| / √articles in samples; the share of sweeps with a verdict at some n; and with a
        verdict that no warning of skewed differences goes with.
    """
    rng = np.random.default_rng(SEED)
    skews, told, unwarned = [], 0, 0
    for _ in range(sweeps):
        normal = made(rng, articles) / 0.13
        differences = np.exp(sigma * normal) - np.exp(sigma**2 / 2)
        skew = np.abs(skewness(differences, axis=0)) / articles**0.5
        is_significant = np.array(holm([p for p, _ in sign_flip_p(differences)])) < TWO_SIDED_LEVEL
        skews.append(skew)
        told += bool(is_significant.any())
        unwarned += bool((is_significant & (skew <= TOO_SKEWED)).any())
    return float(np.median(skews)), told / sweeps, unwarned / sweeps


def print_skewed(sweeps: int) -> None:
    print("\nSystems that are equal, with lognormal differences: verdicts at some n")
    print("| sigma | articles | median skewness / √articles | verdict | without a warning |")
    print("| --- | --- | --- | --- | --- |")
    for sigma in SKEWS:
        for articles in SKEWED_ARTICLES:
            skew, told, unwarned = skewed_rates(sigma, articles, sweeps)
            print(f"| {sigma} | {articles:,} | {skew:.2f} | {told:.1%} | {unwarned:.1%} |", flush=True)


def highest_rate(systems: int, articles: int, sweeps: int) -> tuple[float, float]:
    """Of systems that are equal, the highest is said to be above another; and where the others are all 0.1 below it."""
    rng = np.random.default_rng(SEED)
    wrong, right = 0, 0
    for _ in range(sweeps):
        equal = {f"s{s}": made(rng, articles) for s in range(systems)}
        pairs = compare_all_pairs(made_points(equal), "bertscore_f1")
        wrong += any(pair.lengths[0].p_holm < TWO_SIDED_LEVEL for pair in pairs)
        apart = equal | {"s0": equal["s0"] + 0.1}
        pairs = compare_all_pairs(made_points(apart), "bertscore_f1")
        first = [pair.lengths[0] for pair in pairs if pair.a == "s0"]
        right += all(at.p_holm < TWO_SIDED_LEVEL and at.difference.mean > 0 for at in first)
    return wrong / sweeps, right / sweeps


def print_highest(sweeps: int) -> None:
    print("\nAll pairs of systems at the longest n: a difference that is not there; and one of 0.1 that is")
    print("| systems | articles | false | shown of every other system |")
    print("| --- | --- | --- | --- |")
    for systems in EQUAL_SYSTEMS:
        for articles in (*FEW_ARTICLES[1:], 60, 200):
            wrong, right = highest_rate(systems, articles, sweeps)
            print(f"| {systems} | {articles} | {wrong:.1%} | {right:.1%} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store")
    parser.add_argument("--run")
    parser.add_argument("--sweeps", type=int, default=1000)
    options = parser.parse_args()
    points = points_of(options.store, options.run) if options.store else None
    noise = made if points is None else drawn_from(points)
    print(f"{options.sweeps} sweeps of {len(LENGTHS)} n each; two standard errors of 5 %: ±", end="")
    print(f"{200 * (0.05 * 0.95 / options.sweeps) ** 0.5:.1f} %")
    print("| articles | verdict | recommended | dropped | missed | silent | n recommended |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for articles in ARTICLES:
        found = rates(noise, articles, options.sweeps)
        shares = (found.verdict, found.recommended, found.dropped, found.missed, found.silent)
        print(f"| {articles:,} | {' | '.join(f'{share:.1%}' for share in shares)} | {found.size:.1f} |", flush=True)
    if points is None:
        print_skewed(options.sweeps)
        print_highest(options.sweeps)
        return
    print("\n| 95 % interval of | articles |", " | ".join(METRICS), "|\n| --- | --- |", "--- | " * len(METRICS))
    for name in scores_of(points, "bertscore_f1"):
        for articles in FEW_ARTICLES:
            held = [coverage(scores_of(points, metric)[name], articles, options.sweeps) for metric in METRICS]
            print(
                f"| {name.replace('|', ' ')} | {articles} |",
                " | ".join(f"{low:.0%} to {high:.0%}" for low, high in held),
                "|",
            )


if __name__ == "__main__":
    main()
