"""The work of each system of a run: a signature of everything that decides its rows, except the article and n.

Two rows are equal if they have the same work, the same content of the article and the same n: their texts byte for
byte, their scores to 1e-6, as in a resumed run. So one run may copy them from another. Any difference makes it another
work, even if the numbers might be the same.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from core.analysis.points import POLICY
from core.plugins.plugin_system import PluginSystem
from core.provenance import is_known
from core.summarizers.rulers import OTHER_ARTICLE
from core.sweep_plan import SweepPlan
from jobs.plan.pinned import Pinned


def works(pinned: Pinned, code: str) -> dict[str, str]:
    """The work of every system that has one, by its name; none where nobody knows a library.

    That of the nearest other article depends on which others there are: on the panels, once they are drawn.
    Policies have none: what they are is only known when they are trained, and then they are their run's own. Nor has
    what a model computes in less than float32: it depends on what else is in a pass.

    Args:
        pinned: what runs.
        code: see `core.provenance.code_as_imported`.
    """
    if not all(map(is_known, pinned.revisions["libraries"].values())):
        return {}
    about = {
        "code": code,
        "libraries": pinned.revisions["libraries"],
        "segmentation": pinned.revisions["segmentation"],
        "language_data": pinned.revisions.get("language_data", {}),
        # Of every system: inline, a plugin shares a process with all others, and may change what they compute with.
        "plugins": [(Path(plugin.plugin).name, plugin.sha256) for plugin in pinned.recipe.plugins],
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
        "metrics": plan.metrics.signatures,
        "bertscore": str(plan.metrics.bertscore.model),
        # Only where it is not words, so that rows of before keep their work.
        **({"length_unit": plan.length_unit} if plan.length_unit != "words" else {}),
    }
    decisive_values: dict[str, dict[str, Any]] = {}
    if {plan.precision, plan.metrics.bertscore.precision} != {"float32"}:
        return decisive_values
    for system in plan.systems:
        if not system.signature.startswith(POLICY):
            encoders = [str(encoder) for encoder in plan.encoders if encoder.name in system.encoders]
            decisive_values[system.signature] = setting | {"system": repr(system), "encoders": encoders}
            if isinstance(system, PluginSystem) and system.reads_key:  # an object, which is told all n at once
                decisive_values[system.signature]["lengths"] = plan.lengths
            if system.signature == OTHER_ARTICLE:
                decisive_values[system.signature]["panels"] = [panel.sha256 for panel in plan.panels]
    if plan.generator is not None:
        decisive_values[plan.generator.signature] = setting | {"generator": repr(plan.generator), "seed": plan.seed}
    return {name: {"name": name} | decisive for name, decisive in decisive_values.items()}


def _sha256(value: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
