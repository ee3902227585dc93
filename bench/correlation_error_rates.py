"""How often `nws correlate` finds two metrics different that are equally good, where each favours some systems.

    python -m bench.correlation_error_rates > bench/results/correlation_error_rates.txt

Scores are normal: human ones and those of two metrics share the quality of each system (standard deviation .1). Each
metric adds its own to all summaries of a system (the interaction), and noise to each summary (.15). Beside
Perm-Systems, which NWS uses, stand Perm-Both of the same paper (Deutsch, Dror and Roth 2021) and how often the
bootstrap interval of the difference leaves 0 out.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

from nws.core.analysis.correlation import (
    LEVELS,
    coefficients,
    coefficients_of_draws,
    mean_over_documents,
    observed,
    resampled_correlations,
    standardised,
)
from nws.core.analysis.perm_systems import exchanged_at

SEED = 0
INTERACTIONS = (0.0, 0.05, 0.1, 0.2)
SIZES = ((25, 100), (10, 50))
EXCHANGES = 199
ALPHA = 0.05

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def made(rng: np.random.Generator, systems: int, documents: int, interaction: float) -> tuple[FloatArray, ...]:
    """Human scores and those of two metrics, (systems, documents) each."""
    quality = rng.normal(0, 0.1, (systems, 1))
    added = (0.0, interaction, interaction)
    return tuple(
        quality
        + rng.normal(0, of, (systems, 1))
        + rng.normal(0, 0.1, (1, documents))
        + rng.normal(0, 0.15, (systems, documents))
        for of in added
    )


def exchanged_both(
    a: FloatArray, b: FloatArray, gold: FloatArray, systems: BoolArray, documents: BoolArray
) -> FloatArray:
    """Perm-Both: a cell is exchanged where its system or its document is, but not both."""
    moved = documents.astype(np.float64) @ (b - a).T / a.shape[1]
    means_a, means_b = a.mean(axis=1), b.mean(axis=1)
    first = np.where(systems, means_b - moved, means_a + moved)
    golds = np.broadcast_to(gold.mean(axis=1), first.shape)
    at_systems = coefficients(first, golds) - coefficients(means_a + means_b - first, golds)
    scores, gold_twice = np.concatenate([a, b]).T, np.concatenate([gold, gold]).T
    counts = np.concatenate([~systems, systems], axis=1).astype(np.float64)
    taken, left = (coefficients_of_draws(scores, gold_twice, drawn) for drawn in (counts, 1 - counts))
    every = np.ones(documents.shape)
    at_summaries = mean_over_documents(np.where(documents.T, left, taken), every) - mean_over_documents(
        np.where(documents.T, taken, left), every
    )
    return np.stack([at_systems, at_summaries])


def is_significant(gap: FloatArray, exchanged: FloatArray) -> BoolArray:
    extreme = (np.abs(exchanged) >= np.abs(gap)[..., None] - 1e-12).sum(axis=-1)
    return np.asarray((extreme + 1) / (EXCHANGES + 1) <= ALPHA)


def rates(systems: int, documents: int, interaction: float, trials: int) -> dict[str, FloatArray]:
    """By test, how often it finds a difference: (levels, coefficients)."""
    rng = np.random.default_rng(SEED)
    found: dict[str, list[BoolArray]] = {"Perm-Systems": [], "Perm-Both": [], "interval": []}
    for trial in range(trials):
        human, *scores = made(rng, systems, documents, interaction)
        gold, a, b = (standardised(values) for values in (human, *scores))
        gap = observed(a, gold) - observed(b, gold)
        of_systems, of_documents = (rng.random((EXCHANGES, size)) < 0.5 for size in (systems, documents))
        exchanged = np.stack([exchanged_at(level, a, b, gold, of_systems) for level in LEVELS])
        found["Perm-Systems"].append(is_significant(gap, exchanged))
        found["Perm-Both"].append(is_significant(gap, exchanged_both(a, b, gold, of_systems, of_documents)))
        resampled = resampled_correlations(dict(zip("ab", scores, strict=True)), human, seed=trial, resamples=EXCHANGES)
        low, high = np.nanquantile(resampled["a"] - resampled["b"], [ALPHA / 2, 1 - ALPHA / 2], axis=-1)
        found["interval"].append(np.asarray((low > 0) | (high < 0)))
    return {name: np.mean(values, axis=0) for name, values in found.items()}


def print_system_level(trials: int) -> None:
    """Perm-Systems at the system level alone, which takes little time: more trials, a smaller error."""
    error = 200 * (ALPHA * (1 - ALPHA) / trials) ** 0.5
    print(f"\nPerm-Systems at the system level, 25 systems, 100 documents, {trials} trials (± {error:.1f} %)")
    print("| interaction | Pearson / Spearman / Kendall |\n| --- | --- |")
    for interaction in INTERACTIONS:
        rng, found = np.random.default_rng(SEED), []
        for _ in range(trials):
            gold, a, b = (standardised(values) for values in made(rng, *SIZES[0], interaction))
            systems = rng.random((EXCHANGES, SIZES[0][0])) < 0.5
            as_found = np.zeros((1, SIZES[0][0]), dtype=np.bool_)
            (gap,) = exchanged_at("system", a, b, gold, as_found).T
            found.append(is_significant(gap, exchanged_at("system", a, b, gold, systems)))
        rates_in_percent = (f"{100 * rate:.1f}" for rate in np.mean(found, axis=0))
        print(f"| {interaction} | {' / '.join(rates_in_percent)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=150)
    options = parser.parse_args()
    error = 200 * (ALPHA * (1 - ALPHA) / options.trials) ** 0.5
    print(f"{options.trials} trials; two standard errors of 5 %: ± {error:.1f} %. Pearson / Spearman / Kendall, in %")
    for systems, documents in SIZES:
        print(f"\n{systems} systems, {documents} documents")
        print("| level | interaction | Perm-Systems | Perm-Both | interval without 0 |")
        print("| --- | --- | --- | --- | --- |")
        lines: list[list[str]] = [[], []]
        for interaction in INTERACTIONS:
            found = rates(systems, documents, interaction, options.trials)
            for i, level in enumerate(LEVELS):
                cells = (" / ".join(f"{100 * rate:.0f}" for rate in of[i]) for of in found.values())
                lines[i].append(f"| {level} | {interaction} | {' | '.join(cells)} |")
        print("\n".join([*lines[0], *lines[1]]), flush=True)
    print_system_level(5 * options.trials)


if __name__ == "__main__":
    main()
