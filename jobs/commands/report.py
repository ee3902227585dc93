"""`nws report`: what a run found, as tables here and as files in a folder."""

import json
from pathlib import Path
from typing import Annotated

import typer

from jobs.commands.shared import DEFAULT_STORE, Json, StoreUrl, err, newest, out, reading, shown
from jobs.terminal.console import PrintableConsole


def report(
    run: Annotated[str | None, typer.Argument(help="Run id; default: the newest run with summaries.")] = None,
    out_dir: Annotated[
        Path | None, typer.Option("--out", help="Folder for plots and files; default: reports/RUN.")
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Show a run's curves: BERTScore F1 by n with 95 % intervals, the best n, and plots as PNG and SVG."""
    from jobs.report.by_job import REPORTS

    with reading(store) as opened:
        info = opened.run_info(run or newest(opened, with_summaries=True))
        folder = out_dir or Path("reports") / info.id
        written = REPORTS[info.job](opened, info, folder, err if as_json else PrintableConsole())
    if as_json:
        print(json.dumps(json.loads(written.json.read_text(encoding="utf-8"))))
        return
    out.print(f"Database  {shown(store)}")
    for name, paths in (("Plot", written.plots), ("Numbers", (*written.tables, written.json))):
        for i, path in enumerate(paths):
            out.print(f"{name if i == 0 else '':<9} {path}")
