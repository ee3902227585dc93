"""The work of each system of a run: a signature of everything that decides its rows, except the article and n.

Two rows are equal if they have the same work, the same content of the article and the same n: their texts byte for
byte, their scores to 1e-6, as in a resumed run. So one run may copy them from another. Any difference makes it another
work, even if the numbers might be the same.
"""

import hashlib
import json
import re
from typing import Any

from core.analysis.points import POLICY
from core.partial_plan import asks_for
from core.sweep_plan import SweepPlan
from jobs.plan.pinned import Pinned

# A commit without changes. What else `code_version` may be does not tell the code.
_COMMIT = re.compile(r"[0-9a-f]{12,40}")


def works(pinned: Pinned, code_version: str) -> dict[str, str]:
    """The work of every system that has one, by its name; none where the code is no commit.

    Policies have none: what they are is only known when they are trained, and then they are their run's own.
    """
    if not _COMMIT.fullmatch(code_version):
        return {}
    about = {
        "code": code_version,
        "libraries": pinned.revisions["libraries"],
        "segmentation": pinned.revisions["segmentation"],
    }
    return {
        system: _sha256(about | decisive)
        for planned in pinned.stages
        for system, decisive in _systems(planned.plan).items()
    }


def _systems(plan: SweepPlan) -> dict[str, dict[str, Any]]:
    """The values that decide the rows of each system, by its name. A system's `repr` has all its fields and seeds."""
    setting = {
        "language": plan.language,
        "precision": plan.precision,
        "metrics": plan.metrics.signatures,
        "bertscore": str(plan.metrics.bertscore.model),
    }
    decisive_values: dict[str, dict[str, Any]] = {}
    for system in plan.systems:
        if not system.signature.startswith(POLICY):
            encoders = [str(encoder) for encoder in plan.encoders if asks_for(system, encoder)]
            decisive_values[system.signature] = setting | {"system": repr(system), "encoders": encoders}
    if plan.generator is not None:
        decisive_values[plan.generator.signature] = setting | {"generator": repr(plan.generator), "seed": plan.seed}
    return {name: {"name": name} | decisive for name, decisive in decisive_values.items()}


def _sha256(value: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
