"""What decides the rows of a system, as one key, and why some rows have none.

A row may be copied from another run if six things are equal: NWS's code, the libraries, the models, the system, the
arithmetic and the article. The first four are its system's key (`SystemRow.work`); the other two are compared where
rows are looked for (`jobs.store.copies`).
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from core.analysis.points import POLICY
from core.models.endpoint import Endpoint
from core.provenance import are_as_imported, code_as_imported, is_known
from core.summarizers.generators import Generator
from core.summarizers.predictions import Predictions
from core.summarizers.rulers import OTHER_ARTICLE
from core.summarizers.systems import System
from core.sweep_plan import SweepPlan
from jobs.plan.pinned import Pinned

AnySystem: TypeAlias = System | Generator | Endpoint


def works(pinned: Pinned) -> dict[str, str]:
    """The key of each system whose rows may be copied, by its name."""
    return {system.signature: _key(pinned, plan, system) for plan, system, obstacle in _systems(pinned) if not obstacle}


def obstacles(pinned: Pinned) -> dict[str, list[str]]:
    """Why rows are not copied, and those of which systems. Policies, which are trained for their run, are not named."""
    named: dict[str, list[str]] = {}
    for _, system, obstacle in _systems(pinned):
        if obstacle and not system.signature.startswith(POLICY):
            named.setdefault(obstacle, []).append(system.signature)
    return named


def _key(pinned: Pinned, plan: SweepPlan, system: AnySystem) -> str:
    names = () if isinstance(system, Generator | Endpoint) else system.encoders
    used = replace(plan, encoders=tuple(encoder for encoder in plan.encoders if encoder.name in names)).models
    decisive = {
        "code": code_as_imported(),
        "libraries": pinned.revisions["libraries"],
        "models": list(map(str, used)),
        "pipeline": (pinned.revisions["segmentation"], pinned.revisions.get("language_data")),
        "system": (system.signature, repr(system), plan.language, plan.length_unit),  # a `repr` has all its fields
        "seed": plan.seed if system is plan.generator else None,  # that of other systems is a field
        "metrics": plan.metrics.signatures,
        "other articles": [panel.sha256 for panel in plan.panels] if system.signature == OTHER_ARTICLE else None,
    }
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()


def _systems(pinned: Pinned) -> Iterator[tuple[SweepPlan, AnySystem, str]]:
    """Every system of a run, with its plan, and why none of its rows may be copied; "" where they may."""
    of_run = _obstacle_of_run(pinned)
    for planned in pinned.stages:
        plan = planned.plan
        for system in (*plan.systems, *(() if plan.generator is None else (plan.generator,))):
            yield plan, system, of_run or _obstacle(plan, system)


def _obstacle_of_run(pinned: Pinned) -> str:
    unknown = [name for name, version in pinned.revisions["libraries"].items() if not is_known(version)]
    if unknown:
        return f"no version tells the code of {', '.join(unknown)} (installed editable?)"
    if not are_as_imported():
        return "NWS's sources were edited after this process had begun"
    if "plugins" in pinned.revisions:
        return "the run has plugins, and nothing tells what these import"
    return ""


def _obstacle(plan: SweepPlan, system: AnySystem) -> str:
    precisions = sorted({plan.precision, plan.metrics.bertscore.precision} - {"float32"})
    if precisions:
        return f"in {' and '.join(precisions)} a row depends on what else is in its batch"
    if system.signature.startswith(POLICY):
        return "policies are their run's own"
    return "predictions are scored in each run" if isinstance(system, Predictions) else ""
