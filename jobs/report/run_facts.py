"""What every report says about its run, and the files that it writes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from core.analysis import Point, Points, short_articles
from core.types import SystemKind
from jobs.store import RunInfo

Short: TypeAlias = Mapping[tuple[str, int], tuple[str, ...]]
"""By dataset and n the ids of the articles that have fewer words, which a report leaves out at that n."""


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """The files that were written: all numbers as JSON, tables as CSV and LaTeX, plots as PNG and SVG.

    `warnings` name texts that the plots had to change.
    """

    json: Path
    tables: tuple[Path, ...] = ()
    plots: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()


def run_json(run: RunInfo) -> dict[str, Any]:
    """What made the numbers, as plain JSON values; `articles` and `failures` count those finished and given up on."""
    names = ("id", "seed", "code_version", "signatures", "revisions", "device", "state")
    return {name: getattr(run, name) for name in names} | {"articles": run.articles_done, "failures": run.failures}


def kind_flags(kind: SystemKind) -> dict[str, bool]:
    """What a system is, as two plain values."""
    return {"is_control": kind == "control", "is_upper_bound": kind == "upper bound"}


def short_by_length(points: Points | Iterable[Point]) -> Short:
    short: dict[tuple[str, int], list[str]] = {}
    for dataset, article, n in sorted(short_articles(points)):
        short.setdefault((dataset, n), []).append(article)
    return {place: tuple(articles) for place, articles in short.items()}


def short_json(short: Short) -> list[dict[str, Any]]:
    return [{"dataset": dataset, "n": n, "articles": list(articles)} for (dataset, n), articles in short.items()]


def short_note(dataset: str, short: Short) -> str:
    """The note for a reader if a dataset has such articles."""
    counts = ", ".join(
        f"{len(articles)} at n = {n}"
        for (short_dataset, n), articles in sorted(short.items())
        if short_dataset == dataset
    )
    return f"Articles with fewer than n words are left out at that n (report.json names them): {counts}."
