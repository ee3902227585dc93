"""The report of a sweep: a run's summaries become tables in the terminal and files beside each other in one folder."""

import csv
import json
from pathlib import Path

from rich.console import Console

from core.analysis import Points
from core.errors import NwsError
from jobs.report.run_facts import ReportFiles, kind_flags
from jobs.report.sweep.figure import plot_sweep
from jobs.report.sweep.numbers import Numbers, analyse, report_json
from jobs.report.sweep.printed_tables import print_tables
from jobs.store import RunInfo

_COLUMNS = (
    *("run", "dataset", "system", "is_control", "is_upper_bound", "n", "articles", "of_articles", "comparable"),
    *("mean", "low", "high", "gain_mean", "gain_low", "gain_high"),
)


def write_sweep_report(run: RunInfo, points: Points, out_dir: Path, console: Console) -> ReportFiles:
    """Print a run's tables to `console` and write `report.json`, `curves.csv`, `curves.png` and `curves.svg`.

    `out_dir` is made where it does not exist; files of an earlier report in it are replaced.

    Raises:
        StoreError: the run has no summaries yet, or the points are not those of one run.
        NwsError: `out_dir` cannot be written.
    """
    numbers = analyse(run, points)
    try:
        files = _write_files(numbers, out_dir)
    except OSError as error:
        raise NwsError(f"The report cannot be written to {out_dir}: {error}. Choose another folder.") from error
    print_tables(numbers, console)
    return files


def _write_files(numbers: Numbers, out_dir: Path) -> ReportFiles:
    out_dir.mkdir(parents=True, exist_ok=True)
    report = out_dir / "report.json"
    text = json.dumps(report_json(numbers), indent=2, ensure_ascii=False, allow_nan=False)
    report.write_text(text + "\n", encoding="utf-8")
    if not numbers.curves:
        return ReportFiles(report)
    table, png, svg = (out_dir / f"curves.{kind}" for kind in ("csv", "png", "svg"))
    _write_curves(numbers, table)
    plot_sweep(numbers, png, svg)
    return ReportFiles(report, (table,), (png, svg))


def _write_curves(numbers: Numbers, path: Path) -> None:
    """One row per dataset, system and n; the gain columns are empty where there is no `random` to compare with."""
    gains = {(m.dataset, m.system, gain.n): gain.gain for m in numbers.magic_numbers for gain in m.gains}
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(_COLUMNS)
        for curve in numbers.curves:
            for at in curve.lengths:
                gain = gains.get((curve.dataset, curve.system, at.n))
                row = [numbers.run.id, curve.dataset, curve.system, *map(int, kind_flags(curve.kind).values())]
                row += [at.n, at.articles, at.of_articles, int(at.comparable), at.mean, at.low, at.high]
                row += [gain.mean, gain.low, gain.high] if gain else ["", "", ""]
                table.writerow(row)
