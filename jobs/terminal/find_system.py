"""Which system of a run a person means."""

from collections.abc import Collection

from core.analysis import POLICY
from core.errors import RecipeError


def find_system(name: str, known: Collection[str], run_id: str, methods: Collection[str] = ()) -> str:
    """The whole name of a system: `name`, with or without `policy|` before it, or the one that has it as a part.

    Args:
        name: what was typed.
        known: the systems of the run.
        run_id: names the run in the error.
        methods: whole names that stand for several systems, such as `policy|reinforce`.

    Raises:
        RecipeError: it is part of no name, or of several.
    """
    for whole in (name, POLICY + name):
        if whole in known or whole in methods:
            return whole
    matches = [system for system in known if name in system]
    if len(matches) == 1:
        return matches[0]
    problem = "has more than one system" if matches else "has no system"
    raise RecipeError(
        f"Run {run_id} {problem} with {name!r} in its name. Its systems are {', '.join(matches or known)}."
    )
