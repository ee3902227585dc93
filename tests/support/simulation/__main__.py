"""`make simulate SEED=1 SEEDS=1000`: runs on simulated fleets, with everything that may befall them.

A seed repeats its simulation exactly. Ends with 1 at the first in which something is not as it must be.
"""

import argparse
import sys
import time

from simulation.cases import MOST_ARTICLES, draw_small
from simulation.simulate import simulate
from simulation.stage import Stage


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True, help="the first one")
    parser.add_argument("--seeds", type=int, required=True, help="how many")
    asked = parser.parse_args()
    began, hours = time.perf_counter(), 0.0
    with Stage(MOST_ARTICLES) as stage:
        for seed in range(asked.seed, asked.seed + asked.seeds):
            try:
                hours += simulate(draw_small(seed), stage).world.now / 3600
            except AssertionError as error:
                print(f"{error}\nTo repeat it: make simulate SEED={seed} SEEDS=1")
                return 1
    took = time.perf_counter() - began
    print(f"{asked.seeds} seeds from {asked.seed} on: {hours:.1f} simulated hours in {took:.0f} s, nothing amiss.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
