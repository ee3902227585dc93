"""A warning if a run has no control, without which its report lacks an answer."""

from collections.abc import Collection

from rich.console import Console

from core.analysis import LEAD, RANDOM

_LACKING = {
    RANDOM: "no n can be recommended",
    LEAD: "no system can be compared with the first n words of the article",
}


def warn_of_controls(systems: Collection[str], console: Console) -> None:
    """Say what cannot be told without the controls that are not among these systems."""
    for control, lacking in _LACKING.items():
        if control not in systems:
            console.print(f"Warning: Without the system {control} {lacking}. Add --system {control}.", markup=False)
