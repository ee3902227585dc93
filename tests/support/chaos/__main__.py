"""`make chaos SEED=1 KILLS=100`: runs whose processes are killed must store what undisturbed ones store.

Prints a line a kill, and ends with 1 at the first difference. A seed draws the same runs and moments each time; what a
process was doing at that moment is up to the machine.
"""

import argparse
import itertools
import sys
import tempfile
import traceback
from pathlib import Path

from chaos.carry_out import carry_out
from chaos.draw import draw_runs
from chaos.surroundings import Surroundings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--kills", type=int, required=True)
    asked = parser.parse_args()
    runs = draw_runs(asked.seed, asked.kills)
    numbers = itertools.count(1)

    def tell(line: str) -> None:
        print(f"{next(numbers):4}  {line}" if " killed at " in line else f"      {line}", flush=True)

    with (
        tempfile.TemporaryDirectory(prefix="nws-chaos-", ignore_cleanup_errors=True) as folder,
        Surroundings(Path(folder)) as around,
    ):
        for run in runs:
            try:
                carry_out(run, around, tell)
            except Exception:
                traceback.print_exc()
                print(f"A difference. To repeat this run: make chaos SEED={run.seed} KILLS={len(run.kills)}")
                return 1
    print(f"{asked.kills} kills in {len(runs)} runs with the seeds {runs[0].seed} to {runs[-1].seed}: no difference.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
