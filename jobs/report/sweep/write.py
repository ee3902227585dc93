"""The report of a sweep: a run's summaries become tables in the terminal and files beside each other in one folder."""

import json
from pathlib import Path

from rich.console import Console

from core.analysis import Metric, Points
from core.errors import NwsError
from core.whole_files import replacing
from jobs.report.csv_file import write_csv
from jobs.report.run_facts import ReportFiles
from jobs.report.sweep.curve_rows import CURVE_COLUMNS, curve_rows
from jobs.report.sweep.figure import plot_sweep
from jobs.report.sweep.latex_curves import write_latex
from jobs.report.sweep.numbers import Numbers, analyse, report_json
from jobs.report.sweep.printed_tables import print_tables
from jobs.store import RunInfo
from jobs.terminal.busy import busy
from jobs.terminal.table_style import print_line


def write_sweep_report(
    run: RunInfo, points: Points, out_dir: Path, console: Console, metric: Metric = "bertscore_f1", where: str = ""
) -> ReportFiles:
    """Print a run's tables to `console`, and write `report.json`, and `curves` as CSV, LaTeX, PNG and SVG.

    `out_dir` is made where it does not exist; files of an earlier report in it are replaced. `where` is what
    the commands that are named need to find the run, such as ` --store URL`.

    Raises:
        StoreError: the run has no summaries yet, or the points are not those of one run.
        NwsError: `out_dir` cannot be written.
    """
    with busy("Computing intervals"):
        numbers = analyse(run, points, metric)
    try:
        with busy("Drawing, and writing files"):
            files = _write_files(numbers, out_dir)
    except OSError as error:
        reason = error.strerror or error
        raise NwsError(f"The report cannot be written to {out_dir}: {reason}. Choose another folder.") from error
    print_tables(numbers, console, where)
    for warning in files.warnings:
        print_line(console, warning, style="yellow")
    return files


def _write_files(numbers: Numbers, out_dir: Path) -> ReportFiles:
    out_dir.mkdir(parents=True, exist_ok=True)
    report = out_dir / "report.json"
    text = json.dumps(report_json(numbers), indent=2, ensure_ascii=False, allow_nan=False)
    with replacing(report) as unfinished:
        unfinished.write_text(text + "\n", encoding="utf-8")
    if not numbers.curves:
        return ReportFiles(report)
    table, latex, png, svg = (out_dir / f"curves.{kind}" for kind in ("csv", "tex", "png", "svg"))
    write_csv(table, CURVE_COLUMNS, curve_rows(numbers))
    write_latex(latex, numbers)
    warning = plot_sweep(numbers, png, svg)
    return ReportFiles(report, (table, latex), (png, svg), (warning,) if warning else ())
