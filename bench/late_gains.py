"""How often a system that still gains is said to have stopped gaining: a table of docs/answer.md.

    python -m bench.late_gains sqlite:///nws.db RUN RUN … > bench/results/late_gains.txt

The articles of a run are the truth: a study draws from them, with replacement. What its systems gain is shifted until
they gain just the share of the reference's gain that is called stopping (`nws.core.analysis.late_gains`). Once more,
what the reference gains is shifted until it is just enough, and the systems lose.
"""

import sys

import numpy as np
from numpy.typing import NDArray

from nws.core.analysis import Points
from nws.core.analysis.grids import build_grids
from nws.core.analysis.late_gains import AT_LEAST, AT_MOST, late_gains, p_stopped
from nws.core.findings.content import CONTENT_KEPT, LateGain
from nws.core.findings.scores import ONE_SIDED_LEVEL
from nws.core.systems.rulers import REFERENCE_WORDS
from nws.jobs.store import open_store

ARTICLES = (20, 24, 60, 200)
STUDIES = 10_000


def wrong(points: Points, found: LateGain, articles: int) -> float:
    """The share of studies in which the system is said to have stopped, in the worse case of both."""
    (grid,) = (grid for grid in build_grids(points, CONTENT_KEPT, points.n > 0) if grid.dataset == found.dataset)
    rows = [grid.systems.index(system) for system in (found.system, REFERENCE_WORDS)]
    start, end = (grid.values[rows, grid.lengths.index(n)] for n in (found.start, found.end))
    gain, ruler = (end - start)[:, ~np.isnan(end - start).any(axis=0)]
    drawn = np.random.default_rng(0).integers(0, len(gain), (articles, STUDIES))

    def share(gain: NDArray[np.float64], ruler: NDArray[np.float64]) -> float:
        return float(np.mean(p_stopped(gain[drawn], ruler[drawn]) <= ONE_SIDED_LEVEL))

    centred = gain - gain.mean()
    return max(share(centred + AT_MOST * ruler.mean(), ruler), share(centred - 1, ruler - ruler.mean() + AT_LEAST))


def main() -> None:
    print(f"Wrongly said to have stopped, of {STUDIES:,} studies, in the worst case of all systems; aim: 5 %")
    print(f"| from n to n | {' | '.join(f'{n} articles' for n in ARTICLES)} |\n|{' --- |' * (len(ARTICLES) + 1)}")
    with open_store(sys.argv[1], read_only=True) as store:
        for points in (store.points(run, [CONTENT_KEPT]) for run in sys.argv[2:]):
            gains = late_gains(points)
            worst = (max(wrong(points, found, articles) for found in gains) for articles in ARTICLES)
            name = f"{gains[0].dataset.removesuffix('.jsonl')}, {gains[0].start} to {gains[0].end}"
            print(f"| {name} | {' | '.join(f'{share:.1%}' for share in worst)} |".replace("%", " %"), flush=True)


if __name__ == "__main__":
    main()
