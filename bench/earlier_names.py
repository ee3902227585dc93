"""Run a script that was written for an earlier commit, whose names for some functions have changed since.

So one script measures this commit and older ones, and its figures can be compared:

    python -m bench.earlier_names SCRIPT [ARGUMENT …]
"""

import runpy
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any

import jobs.recipes.sweep_recipe
from core.types import SegmentedArticle, Summary
from core.worker_factories import make_segmenter, make_sweeper
from jobs.recipes.job import make_plan


class _Scores(dict[str, float]):
    """Scores by the names of their columns, of which BERTScore's were those of an object."""

    @property
    def bertscore(self) -> SimpleNamespace:
        return SimpleNamespace(**{part: self[f"bertscore_{part}"] for part in ("precision", "recall", "f1")})


def _make_earlier_sweeper(*args: Any) -> Callable[[Sequence[SegmentedArticle]], list[Summary]]:
    sweep = make_sweeper(*args)
    return lambda bundle: [replace(summary, scores=_Scores(summary.scores)) for summary in sweep(bundle)]


_FUNCTIONS = {
    "core.sweep_plan": {"make_segmenter": make_segmenter, "make_sweeper": _make_earlier_sweeper},
    "jobs.plan.phase1": {"pin": make_plan},
}


def main() -> None:
    """Run the script of the command line as `__main__`, with the earlier names beside those of today."""
    for name, functions in _FUNCTIONS.items():
        sys.modules[name] = ModuleType(name)
        vars(sys.modules[name]).update(functions)
    sys.modules["jobs.recipes.phase1"] = jobs.recipes.sweep_recipe
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
