"""The report of a run that trained policies: tables in the terminal, and files beside each other in one folder."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, fields
from pathlib import Path

from rich.console import Console

from core.analysis import COMPARED, SystemScore
from core.errors import NwsError
from jobs.report.policies.figure import plot_learning
from jobs.report.policies.numbers import PolicyNumbers, PolicyResults, analyse_policies, policies_json
from jobs.report.policies.printed_tables import print_policies
from jobs.report.run_facts import ReportFiles, kind_flags
from jobs.store import CurveRow, RunInfo

_COLUMNS = (
    *("run", "dataset", "system", "is_control", "is_upper_bound", "n", "articles", "comparable"),
    *("seeds", "bertscore_f1", "seed_low", "seed_high", "seed_sd"),
    *("rouge1_f1", "rouge2_f1", "rougel_f1", "efficiency", "density", "repeated_words"),
    *(f"vs_{other}_{part}" for other in COMPARED for part in ("articles", "mean", "low", "high")),
    *("gap_closed", "training_f1", "test_vs_training"),
)

_Value = str | int | float | None


def write_policy_report(run: RunInfo, results: PolicyResults, out_dir: Path, console: Console) -> ReportFiles:
    """Print a run's tables to `console`; write `report.json`, `policies.csv` and `learning.csv`, `.png` and `.svg`.

    `out_dir` is made where it does not exist; files of an earlier report in it are replaced.

    Raises:
        StoreError: the run has neither updates nor summaries yet, or the points are not those of one run.
        NwsError: `out_dir` cannot be written.
    """
    numbers = analyse_policies(run, results)
    try:
        files = _write_files(numbers, results.curve, out_dir)
    except OSError as error:
        raise NwsError(f"The report cannot be written to {out_dir}: {error}. Choose another folder.") from error
    print_policies(numbers, console)
    return files


def _write_files(numbers: PolicyNumbers, curve: Sequence[CurveRow], out_dir: Path) -> ReportFiles:
    out_dir.mkdir(parents=True, exist_ok=True)
    report, policies = out_dir / "report.json", out_dir / "policies.csv"
    text = json.dumps(policies_json(numbers), indent=2, ensure_ascii=False, allow_nan=False)
    report.write_text(text + "\n", encoding="utf-8")
    tables = (policies,) if numbers.scores else ()
    if numbers.scores:
        _write_csv(policies, _COLUMNS, (_row(numbers.run.id, score) for score in numbers.scores))
    if not curve:
        return ReportFiles(report, tables)
    learning, png, svg = (out_dir / f"learning.{kind}" for kind in ("csv", "png", "svg"))
    columns = ("run", *(field.name for field in fields(CurveRow)))
    _write_csv(learning, columns, ((numbers.run.id, *astuple(row)) for row in curve))
    plot_learning(numbers, png, svg)
    return ReportFiles(report, (*tables, learning), (png, svg))


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[_Value]]) -> None:
    """None is an empty cell."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        table.writerows(rows)


def _row(run: str, score: SystemScore) -> list[_Value]:
    seeds = score.seeds.values()
    return [
        *(run, score.dataset, score.system),
        *map(int, kind_flags(score.kind).values()),
        *(score.n, score.articles, int(score.comparable)),
        *(" ".join(map(str, score.seeds)), score.bertscore_f1),
        *(min(seeds, default=None), max(seeds, default=None), score.seed_sd),
        *(score.rouge1_f1, score.rouge2_f1, score.rougel_f1),
        *(score.efficiency, score.density, score.repeated_words),
        *_differences(score),
        *(score.gap_closed, score.training_f1, score.test_vs_training),
    ]


def _differences(score: SystemScore) -> Iterator[_Value]:
    for other in COMPARED:
        versus = score.versus.get(other)
        if versus is None:
            yield from [None] * 4
        else:
            yield from (versus.articles, versus.difference.mean, versus.difference.low, versus.difference.high)
