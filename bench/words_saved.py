"""Words that the best system saves against `lead`, and how often such claims are wrong: tables of docs/answer.md.

    python -m bench.words_saved STORE RUN [RUN …] > bench/results/words_saved.txt

The articles of a run are the truth: a study draws from them, with replacement. What the other system keeps with m words
is shifted until the length before the true answer keeps just less: there, a claim is hardest to keep right.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from nws.core.analysis.content_kept import first_kept, interval_of_n
from nws.core.analysis.grids import Grid, build_grids
from nws.core.analysis.intervals import Floats
from nws.core.analysis.words_saved import saved_at_each_length
from nws.core.findings.content import CONTENT_KEPT, WordsSaved
from nws.core.findings.scores import ONE_SIDED_LEVEL
from nws.core.types import LEAD
from nws.jobs.report.numerals import percent
from nws.jobs.report.system_names import system_names
from nws.jobs.store import open_store

DISTRACTORS = (LEAD, "random", "textrank")
ARTICLES, STUDIES = (20, 50, 200), 1_000


def hardest(of_a: Floats, of_b: Floats) -> list[tuple[int, Floats]]:
    """For each length of b where a claim can be too small: the true answer's place, and what a keeps beyond b."""
    nulls = []
    for ceiling in of_b.T:
        above = of_a - ceiling[:, None]
        place = int(first_kept(above.mean(axis=0)[None], 0)[0])
        if place and above[:, place - 1].std() > 0:
            nulls.append((place, above - above[:, place - 1].mean() - 1e-12))
    return nulls


def too_small(of_a: Floats, of_b: Floats, articles: int) -> tuple[float, float]:
    """The share of studies with a claim that is too small: for the worst single length, and for any, together."""
    rng, nulls = np.random.default_rng(0), hardest(of_a, of_b)
    wrong = np.zeros((STUDIES, len(nulls), 2), bool)
    for study in range(STUDIES):
        drawn = rng.integers(0, len(of_a), articles)
        for i, (place, above) in enumerate(nulls):
            for j, alpha in enumerate((ONE_SIDED_LEVEL, ONE_SIDED_LEVEL / of_b.shape[1])):
                wrong[study, i, j] = interval_of_n(above[drawn], alpha)[1] < place
    return float(wrong[:, :, 0].mean(axis=0).max()), float(wrong[:, :, 1].any(axis=1).mean())


def print_rates(grid: Grid, best: str) -> None:
    names, complete = system_names(grid.systems), grid.present.all(axis=(0, 1))
    of = {name: grid.values[i][:, complete].T for i, name in enumerate(map(names.__getitem__, grid.systems))}
    pairs = [*((names[best], other) for other in DISTRACTORS), (LEAD, names[best])]
    for articles in ARTICLES:
        found = (too_small(of[a], of[b], articles) for a, b in pairs)
        cells = (f"{percent(alone, 1)}, {percent(together, 1)}" for alone, together in found)
        print(f"| {_short(grid.dataset)}, {articles} | {' | '.join(cells)} |", flush=True)


def _short(dataset: str) -> str:
    return dataset.removesuffix(".jsonl")


def rows(saved: Sequence[WordsSaved], called: str) -> Iterator[str]:
    """A table with a column for each m."""

    def row(name: str, cells: Iterable[object]) -> str:
        return f"| {name} | {' | '.join('more' if cell is None else str(cell) for cell in cells)} |"

    found = [of.smallest for of in saved]
    yield row("`lead`", (of.m for of in saved))
    yield f"|{' --- |' * (1 + len(saved))}"
    yield row(f"`{called}`", (at.n for at in found))
    yield row("95 % interval", (f"{at.low}–{at.high or 'more'}" for at in found))
    yield row("claimed", (at.claimed or "–" for at in found))


def main() -> None:
    with open_store(sys.argv[1], read_only=True) as store:
        runs = [(store.points(run, [CONTENT_KEPT]), store.document([run]).ranking) for run in sys.argv[2:]]
    for points, ranked in runs:
        for dataset, (best, *_) in ranked.items():
            called = system_names(points.systems)[best]
            print(f"\n{_short(dataset)}: words that {called} needs to keep as much as lead with m words\n")
            print("\n".join(rows(saved_at_each_length(points, best, LEAD), called)))
    print(f"\nClaims that are too small, of {STUDIES:,} studies, at the worst length of b, and at any; aim: 5 %\n")
    print(f"| articles | best, {' | best, '.join(DISTRACTORS)} | lead, best |\n|{' --- |' * (2 + len(DISTRACTORS))}")
    for points, ranked in runs:
        for grid in build_grids(points, CONTENT_KEPT, points.n > 0):
            print_rates(grid, ranked[grid.dataset][0])


if __name__ == "__main__":
    main()
