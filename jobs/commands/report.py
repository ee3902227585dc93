"""`nws report`: what a run found, as tables here and as files in a folder, or as one HTML page."""

import json
from pathlib import Path
from typing import Annotated

import typer

from core.errors import RecipeError
from core.metrics.specs import CHOICES
from jobs.commands.shared import DEFAULT_STORE, Json, StoreUrl, err, newest, out, reading, shown, store_flag
from jobs.terminal.busy import busy
from jobs.terminal.console import PrintableConsole


def report(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN", help="Run ids; default: the newest run with summaries.")
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--page", "-o", help="Write one HTML page, e.g. report.html, of one run or several."),
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    articles: Annotated[
        int | None, typer.Option(min=1, help="The most articles in the page's viewer; default: as many as fit.")
    ] = None,
    out_dir: Annotated[
        Path | None, typer.Option("--out", help="Folder for plots and files; default: reports/RUN.")
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            help=f"What the report is about: {CHOICES}. Files of another metric than the default go to "
            "reports/RUN/METRIC."
        ),
    ] = "bertscore_f1",
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Show which n is best, and how sure that is.

    Prints sentences and tables by n, and writes plots as PNG and SVG. With --page, it writes one HTML page instead,
    which also shows the articles and their summaries.
    """
    if page is not None:
        if out_dir is not None:
            raise RecipeError("--out is a folder for plots and files, and --page is one file: give one of them.")
        _write_page(page, runs or [], metric, articles, store, open_page, as_json)
        return
    if open_page or articles is not None:
        raise RecipeError(f"{'--open' if open_page else '--articles'} needs a page. Name its file: --page report.html.")
    if runs and len(runs) > 1:
        raise RecipeError("Several runs are reported on one page. Name its file: --page report.html.")
    _write_files(runs[0] if runs else None, metric, out_dir, store, as_json)


def _write_files(run: str | None, metric: str, out_dir: Path | None, store: str, as_json: bool) -> None:
    with busy("Loading libraries"):
        from jobs.report.by_job import REPORTS
        from jobs.terminal.metrics import find_metric

    with reading(store) as opened:
        info = opened.run_info(run or newest(opened, with_summaries=True))
        chosen = find_metric(metric, "report", info)
        folder = out_dir or Path("reports") / info.id / ("" if metric == "bertscore_f1" else metric)
        console = err if as_json else PrintableConsole()
        written = REPORTS[info.job](opened, info, chosen, folder, console, store_flag(store))
    if as_json:
        print(json.dumps(json.loads(written.json.read_text(encoding="utf-8"))))
        return
    out.print(f"Database  {shown(store)}")
    for name, paths in (("Plot", written.plots), ("Numbers", (*written.tables, written.json))):
        for i, path in enumerate(paths):
            out.print(f"{name if i == 0 else '':<9} {path}")


def _write_page(
    path: Path,
    runs: list[str],
    metric: str,
    articles: int | None,
    store: str,
    open_page: bool,
    as_json: bool,
) -> None:
    with busy("Loading libraries"):
        from jobs.report.page.page import write_page
        from jobs.terminal.numerals import counted

    with reading(store) as opened, busy("Computing intervals, and packing articles"):
        page = write_page(opened, runs or [newest(opened, with_summaries=True)], path, metric, articles)
    ids, archive = [run.id for run in page.runs], page.archive
    if as_json:
        print(
            json.dumps(
                {"page": str(path), "runs": ids, "articles": archive.total_articles, "in_viewer": archive.articles}
            )
        )
    else:
        out.print(f"Page      {path} ({path.stat().st_size / 1e6:.1f} MB)")
        out.print(f"Viewer    {archive.articles} of {counted(archive.total_articles, 'article')}")
    if open_page:
        typer.launch(path.resolve().as_uri())
