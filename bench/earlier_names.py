"""Run a script that was written for an earlier commit, whose names for some functions have changed since.

So one script measures this commit and older ones, and its figures can be compared:

    python -m bench.earlier_names SCRIPT [ARGUMENT …]
"""

import runpy
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import core.sweep_plan
import jobs.plan.sweep
import jobs.recipes.sweep
from core.types import SegmentedArticle, Summary
from core.worker_factories import make_segmenter, make_sweeper


class _Scores(dict[str, float]):
    """Scores by the names of their columns, of which BERTScore's were those of an object."""

    @property
    def bertscore(self) -> SimpleNamespace:
        return SimpleNamespace(**{part: self[f"bertscore_{part}"] for part in ("precision", "recall", "f1")})


def _make_earlier_sweeper(*args: Any) -> Callable[[Sequence[SegmentedArticle]], list[Summary]]:
    sweep = make_sweeper(*args)
    return lambda bundle: [replace(summary, scores=_Scores(summary.scores)) for summary in sweep(bundle)]


_FUNCTIONS = {core.sweep_plan: {"make_segmenter": make_segmenter, "make_sweeper": _make_earlier_sweeper}}
_MODULES = {"jobs.plan.phase1": jobs.plan.sweep, "jobs.recipes.phase1": jobs.recipes.sweep}


def main() -> None:
    """Run the script of the command line as `__main__`, with the earlier names beside those of today."""
    for module, functions in _FUNCTIONS.items():
        for name, function in functions.items():
            setattr(module, name, function)
    sys.modules.update(_MODULES)
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
