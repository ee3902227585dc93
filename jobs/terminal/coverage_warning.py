"""Warnings of predictions that fit no article, and of articles that have none."""

from rich.console import Console

from jobs.plan.own import coverages
from jobs.plan.pinned import Pinned


def warn_of_coverages(pinned: Pinned, console: Console) -> None:
    """Say which predictions are of no article, and which articles have none.

    Raises:
        RecipeError: a file of predictions does not fit the articles of the run at all.
    """
    for coverage in coverages(pinned):
        for line in coverage.lines:
            console.print(f"Warning: {line}", markup=False, soft_wrap=True)
