"""How often a system that still gains is said to have stopped gaining: a table of docs/answer.md.

    python -m bench.late_gains --store sqlite:///nws.db RUN RUN … > bench/results/late_gains.txt

The articles of a run are the truth: a study draws from them, with replacement. What its systems gain is shifted until
they gain just the share of the reference's gain that is called stopping (`core.analysis.late_gains`). Once more, what
the reference gains is shifted until it is just enough, and the systems lose.
"""

import argparse
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from core.analysis import Points
from core.analysis.content_kept import KEPT
from core.analysis.grids import build_grids
from core.analysis.intervals import ALPHA
from core.analysis.late_gains import AT_LEAST, AT_MOST, LateGain, late_gains, p_stopped
from core.systems.rulers import REFERENCE_WORDS
from jobs.store import open_store

ARTICLES = (12, 24, 60, 200)
STUDIES = 10_000
SEED = 0


def gained(points: Points) -> Iterator[tuple[LateGain, NDArray[np.float64]]]:
    """What each article gains by each system, and by the reference's first words: (2, articles)."""
    grids = {grid.dataset: grid for grid in build_grids(points, KEPT, points.n > 0)}
    for found in late_gains(points):
        grid = grids[found.dataset]
        rows = [grid.systems.index(system) for system in (found.system, REFERENCE_WORDS)]
        start, end = (grid.values[rows, grid.lengths.index(n)] for n in (found.start, found.end))
        yield found, (end - start)[:, ~np.isnan(end - start).any(axis=0)]


def wrong(gain: NDArray[np.float64], of_reference: NDArray[np.float64], articles: int) -> float:
    """The share of studies in which the system is said to have stopped."""
    drawn = np.random.default_rng(SEED).integers(0, len(gain), (articles, STUDIES))
    return float(np.mean(p_stopped(gain[drawn], of_reference[drawn]) <= ALPHA))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", required=True)
    parser.add_argument("runs", nargs="+")
    options = parser.parse_args()
    print(f"Wrongly said to have stopped, of {STUDIES:,} studies, in the worst case of a system and n; aim: 5 %")
    print(f"| of | {' | '.join(f'{articles} articles' for articles in ARTICLES)} |\n| --- |{' --- |' * len(ARTICLES)}")
    for run in options.runs:
        with open_store(options.store, read_only=True) as opened:
            points = opened.points(run, [KEPT])
        worst, spans = np.zeros(len(ARTICLES)), set()
        for found, (gain, of_reference) in gained(points):
            spans.add(f"{found.dataset}, {found.start} to {found.end}")
            still = gain - gain.mean() + AT_MOST * of_reference.mean(), of_reference
            at_end = gain - gain.mean() - 1, of_reference - of_reference.mean() + AT_LEAST
            worst = np.maximum(
                worst, [max(wrong(*edge, articles) for edge in (still, at_end)) for articles in ARTICLES]
            )
        print(f"| {'; '.join(sorted(spans))} | {' | '.join(f'{share:.1%}' for share in worst)} |", flush=True)


if __name__ == "__main__":
    main()
