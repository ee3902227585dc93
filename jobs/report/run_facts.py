"""What every report says of its run, and the files that it writes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.analysis import Metric
from core.types import SystemKind
from jobs.store import RunInfo

METRIC: Metric = "bertscore_f1"


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """What was written: all numbers as JSON, and what there was to put into tables (CSV) and plots (PNG, SVG)."""

    json: Path
    tables: tuple[Path, ...] = ()
    plots: tuple[Path, ...] = ()


def run_json(run: RunInfo) -> dict[str, Any]:
    """What made the numbers, as plain JSON values; `articles` and `failures` count those finished and given up on."""
    names = ("id", "seed", "code_version", "signatures", "revisions", "device", "state")
    return {name: getattr(run, name) for name in names} | {"articles": run.articles_done, "failures": run.failures}


def kind_flags(kind: SystemKind) -> dict[str, bool]:
    """What a system is, as two plain values."""
    return {"is_control": kind == "control", "is_upper_bound": kind == "upper bound"}


def bertscore_signature(run: RunInfo) -> str:
    """The signature of the metric every number of a report is in."""
    return run.signatures.get("bertscore", "signature not recorded")
