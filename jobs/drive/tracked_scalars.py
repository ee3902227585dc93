"""What a tracker gets of a run: numbers at steps, and what made them."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jobs.store import CurveMeans, RunInfo, UpdateNumbers

# What TensorBoard and MLflow both take in a name.
_NO_PART_OF_A_NAME = re.compile(r"[^-/\w.]")


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number at a step: an update of a training, counted from 0, or n of a curve."""

    name: str
    step: int
    value: float


def update_scalars(updates: Iterable[UpdateNumbers]) -> Iterator[Scalar]:
    """A learning curve for each number of the table `updates`: `training/POLICY/reward` and so on, by update."""
    for update in updates:
        for name, value in update.numbers.items():
            yield Scalar(_safe(f"training/{update.policy}/{name}"), update.update_number, value)


def curve_scalars(curves: Iterable[CurveMeans]) -> Iterator[Scalar]:
    """Mean scores by n: `bertscore_f1/DATASET/SYSTEM` and so on, and of how many `articles`; n = 0 is uncut."""
    for at in curves:
        for name, value in {"articles": at.articles, **at.means}.items():
            yield Scalar(_safe(f"{name}/{at.dataset}/{at.system}"), at.n, value)


def run_facts(run: RunInfo) -> dict[str, str]:
    """What made the numbers of a run, as texts: seed, code, recipe, revisions and signatures, by dotted names."""
    parts = ("job", "seed", "code_version", "recipe", "revisions", "signatures")
    return dict(_flat({part: getattr(run, part) for part in parts}))


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        name = _safe(f"{prefix}{key}")
        if isinstance(value, Mapping):
            yield from _flat(value, f"{name}.")
        elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            yield from _flat(dict(enumerate(value)), f"{name}.")  # type: ignore[arg-type]
        else:
            yield name, value if isinstance(value, str) else json.dumps(value)


def _safe(name: str) -> str:
    return _NO_PART_OF_A_NAME.sub("_", name.replace("|", "/"))
