"""`nws report`: what a run found, as tables, files or one page; `nws show`: an article; `nws cite`: whom to cite."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from core.errors import RecipeError
from jobs.commands.groups import grouped, plain
from jobs.commands.options import DEFAULT_STORE, LABEL, Json, StoreUrl, parse_labels
from jobs.commands.shared import (
    ScoredRun,
    chosen_run,
    complete_run,
    err,
    out,
    reading,
    shown,
    store_flag,
)
from jobs.report.console import PrintableConsole, busy

_RUN_ID = re.compile(r"[a-z0-9]+-\d{8}-[0-9a-f]{6}(-\d+)?")


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What is reported, and where it is written."""

    page: Path | None = plain("--page -o FILE", "Write one HTML page, e.g. report.html, of one run or several.")
    open_page: bool = plain("--open", "Open the page in the browser.", False)
    articles: int | None = plain(
        "--articles N", "The most articles in the page's viewer; default: as many as fit.", min=1
    )
    out_dir: Path | None = plain("--out FOLDER", "Folder for plots and files; default: reports/RUN.")
    metric: str = plain(
        "--metric NAME",
        "What the report is about: bertscore_f1, rouge1_f1, rouge2_f1, rougel_f1, the same with _precision or _recall "
        "in place of _f1, kept, kept_words, efficiency, density, coverage, or a plugin's. Files of another "
        "metric than the default go to reports/RUN/METRIC.",
        "bertscore_f1",
    )
    labels: list[str] | None = plain(*LABEL)
    style: Literal["screen", "paper"] = plain(
        "--style NAME",
        "paper: plots as PDF, too, as wide as a column and as a page, without title and footer.",
        "screen",
    )


@grouped
def report(
    what: ReportOptions,
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN", help="Run ids; default: the newest run with summaries.", autocompletion=complete_run
        ),
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Show how many words keep how much, and how sure that is.

    Prints sentences and tables by n, and writes plots as PNG and SVG. With --page, it writes one HTML page instead,
    which also shows the articles and their summaries.
    """
    if what.page is not None:
        if what.out_dir is not None:
            raise RecipeError("--out is a folder for plots and files, and --page is one file: give one of them.")
        _write_page(what.page, runs or [], what, store, as_json)
        return
    if what.open_page or what.articles is not None:
        named = "--open" if what.open_page else "--articles"
        raise RecipeError(f"{named} needs a page. Name its file: --page report.html.")
    if runs and len(runs) > 1:
        raise RecipeError("Several runs are reported on one page. Name its file: --page report.html.")
    _write_files(runs[0] if runs else None, what, store, as_json)


def _write_files(run: str | None, what: ReportOptions, store: str, as_json: bool) -> None:
    with busy("Loading libraries"):
        from jobs.report.metric_names import find_metric
        from jobs.report.report_files import REPORTS, ReportStyle

    labels = parse_labels(what.labels)
    with reading(store) as opened:
        info = opened.run_info(chosen_run(opened, run, with_summaries=True))
        chosen = find_metric(what.metric, "report", info)
        folder = what.out_dir or Path("reports") / info.id / ("" if what.metric == "bertscore_f1" else what.metric)
        console = err if as_json else PrintableConsole()
        written = REPORTS[info.job](
            opened, info, chosen, folder, console, ReportStyle(labels, store_flag(store), what.style)
        )
    if as_json:
        print(json.dumps(json.loads(written.json.read_text(encoding="utf-8"))))
        return
    out.print(f"Database  {shown(store)}")
    for name, paths in (("Plot", written.plots), ("Numbers", (*written.tables, written.json))):
        for i, path in enumerate(paths):
            out.print(f"{name if i == 0 else '':<9} {path}")


def _write_page(path: Path, runs: list[str], what: ReportOptions, store: str, as_json: bool) -> None:
    with busy("Loading libraries"):
        from jobs.report.numerals import counted
        from jobs.report.page.page import write_page

    with reading(store) as opened, busy("Computing intervals, and packing articles"):
        chosen = [opened.full_id(run) for run in runs] or [opened.newest_id(with_summaries=True)]
        page = write_page(opened, chosen, path, what.metric, what.articles, parse_labels(what.labels))
    ids, archive = [run.id for run in page.runs], page.archive
    if as_json:
        told = {"page": str(path), "runs": ids, "articles": archive.total_articles, "in_viewer": archive.articles}
        print(json.dumps(told))
    else:
        out.print(f"Page      {path} ({path.stat().st_size / 1e6:.1f} MB)")
        out.print(f"Viewer    {archive.articles} of {counted(archive.total_articles, 'article')}")
    if what.open_page:
        typer.launch(path.resolve().as_uri())


@dataclass(frozen=True, slots=True)
class ShowOptions:
    """Which summaries of an article are shown, and which one is marked in it."""

    system: str | None = plain(
        "--system NAME",
        "The system whose words are marked in the article: its name in `nws report`, or a part of it. Default: the "
        "one that keeps most.",
    )
    n: int | None = plain("--n N", "Length in words, 0: uncut. Default: the n that the answer names.", min=0)
    labels: list[str] | None = plain(*LABEL)


@grouped
def show(
    how: ShowOptions,
    article: Annotated[
        str | None,
        typer.Argument(
            help="An article's key, its id or the beginning of that, or a part of its text; default: the first one."
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Argument(
            help="Run id; default: the newest run with summaries. It may also stand before ARTICLE, or alone.",
            autocompletion=complete_run,
        ),
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Show an article and its summaries.

    Prints its references, its text, and the summary of every system with its scores. The words of one system are marked
    in the article.
    """
    from jobs.report.shown_article import print_shown
    from jobs.report.shown_article import show as find_and_align

    if article is not None and _RUN_ID.fullmatch(article):
        article, run = run, article
    with reading(store) as opened:
        info = opened.run_info(chosen_run(opened, run, with_summaries=True))
        with busy("Looking for the article"):
            shown = find_and_align(opened, info, article, how.system, how.n, parse_labels(how.labels))
    if as_json:
        print(json.dumps(shown.as_dict(), allow_nan=False))
    else:
        print_shown(shown, PrintableConsole())


def cite(
    run: ScoredRun = None,
    store: StoreUrl = DEFAULT_STORE,
) -> None:
    """Print BibTeX of all that a run used.

    That is NWS and the libraries, models, datasets, metrics and systems. What has no entry is named on stderr.
    """
    from jobs.report.citations import bibtex, citations

    with reading(store) as opened:
        info = opened.run_info(chosen_run(opened, run, with_summaries=True))
        found = citations(info, opened.systems(info.id))
    print(bibtex(info, found), end="")
    for line in found.without:
        err.print(line, markup=False)
