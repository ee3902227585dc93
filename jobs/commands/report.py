"""The results of a run: `nws report`, `show` (an article) and `compare` (systems)."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from nws.core.errors import RecipeError
from nws.core.metrics.specs import CHOICES, DEFAULT_METRIC
from nws.jobs.commands.options import DEFAULT_STORE, LABEL, LISTS, Json, StoreUrl, grouped, parse_labels, plain
from nws.jobs.commands.shared import (
    ScoredRun,
    chosen_run,
    complete_run,
    err,
    out,
    print_result,
    reading,
    store_flag,
)
from nws.jobs.report.console import PrintableConsole, busy

_RUN_ID = re.compile(r"[a-z0-9]+-\d{8}-[0-9a-f]{6}(-\d+)?")


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of `nws report`."""

    out: Path | None = plain(
        "--out -o PATH",
        "Where to write. A name that ends in .html makes one HTML page, of one run or several. Any other name is a "
        "folder for plots and files. Default: reports/RUN.",
    )
    open_page: bool = plain("--open", "Open the page in the browser.", False)
    full: bool = plain("--full", "Print all systems, lengths and tables.", False)
    metric: str | None = plain(
        "--metric NAME",
        "Metric of the tables instead of content kept: bertscore_f1, rouge1_f1, rouge2_f1, rougel_f1, the same "
        "with _precision or _recall "
        "in place of _f1, kept, kept_words, efficiency, density, coverage, or a plugin's. Files of another "
        "metric than bertscore_f1 go to reports/RUN/METRIC.",
    )
    claim: str | None = plain("--claim N-N", "Also test a claim about the right number of words, such as 7-13 or 9.")
    labels: list[str] | None = plain(*LABEL)
    style: Literal["screen", "paper"] = plain(
        "--style NAME",
        "paper: also write plots as PDF, one column and one page wide, without title and footer.",
        "screen",
    )


@grouped
def report(
    options: ReportOptions,
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN", help="Run ids; default: the newest run with summaries.", autocompletion=complete_run
        ),
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Show how much of the content systems keep with n words.

    Prints a table and a few sentences, or everything with --full, and writes all numbers and plots to files. With
    -o report.html, it writes one HTML page
    instead, which also shows the articles and their summaries.
    """
    if options.out is not None and options.out.suffix.lower() in (".html", ".htm"):
        if options.claim is not None:
            raise RecipeError("--claim is answered in the terminal and in report.json, not on a page. Leave one out.")
        _write_page(options.out, runs or [], options, store, as_json)
        return
    if options.open_page or len(runs or ()) > 1:
        raise RecipeError("--open and several runs need a page. Name its file, such as -o report.html.")
    _write_files(runs[0] if runs else None, options, store, as_json)


def _write_files(run: str | None, options: ReportOptions, store: str, as_json: bool) -> None:
    with busy("Loading libraries"):
        from nws.jobs.report.claim_answer import print_claims
        from nws.jobs.report.metric_names import find_metric
        from nws.jobs.report.policy_report import read_examples
        from nws.jobs.report.printed_report import print_costs, print_full, print_report, read_costs
        from nws.jobs.report.report_files import write_report
        from nws.jobs.report.run_report import read_report

    labels, where = parse_labels(options.labels), store_flag(store)
    with reading(store) as opened:
        info = opened.run_info(chosen_run(opened, run, with_summaries=True))
        chosen = find_metric(options.metric or DEFAULT_METRIC, "report", info)
        if options.claim is not None and info.job == "phase2":
            raise RecipeError("--claim needs a run of phase1 or baselines. Name such a run.")
        folder = options.out or Path("reports") / info.id / ("" if chosen == DEFAULT_METRIC else chosen)
        with busy("Reading the report"):
            report = read_report(opened, info, chosen, labels, options.claim)
            costs = read_costs(opened, info, report.names)
            examples = read_examples(opened, report) if options.full else ()
            curve = opened.learning_curve(info.id) if report.document.policies else ()
    if not as_json:
        console = PrintableConsole()
        if options.full:
            print_full(report, console, where, examples)
            print_costs(costs, console)
        else:
            print_report(report, console, where, options.metric and chosen)
        print_claims(report, console)
    written = write_report(report, folder, options.style, costs, curve)
    if as_json:
        print(json.dumps(json.loads(written.json.read_text(encoding="utf-8"))))
    else:
        out.print(f"{'Files':<11} {folder}")


def _write_page(path: Path, runs: list[str], options: ReportOptions, store: str, as_json: bool) -> None:
    with busy("Loading libraries"):
        from nws.jobs.report.numerals import counted
        from nws.jobs.report.page.page import write_page

    with reading(store) as opened, busy("Computing intervals, and packing articles"):
        chosen = [opened.full_id(run) for run in runs] or [opened.newest_id(with_summaries=True)]
        page = write_page(opened, chosen, path, options.metric or DEFAULT_METRIC, parse_labels(options.labels))
    ids, archive = [run.id for run in page.runs], page.archive
    if as_json:
        counts = {"page": str(path), "runs": ids, "articles": archive.total_articles, "in_viewer": archive.articles}
        print(json.dumps(counts))
    else:
        out.print(f"Page      {path} ({path.stat().st_size / 1e6:.1f} MB)")
        out.print(f"Viewer    {archive.articles} of {counted(archive.total_articles, 'article')}")
    if options.open_page:
        typer.launch(path.resolve().as_uri())


@dataclass(frozen=True, slots=True)
class ShowOptions:
    """Options of `nws show`: the summaries of an article, and the one that is marked in it."""

    system: str | None = plain(
        "--system NAME",
        "System whose words are marked in the article: its name in `nws report`, or a part of it. Default: the system "
        "that keeps most.",
    )
    n: int | None = plain(
        "--n N", "Length in words; 0 for uncut summaries. Default: the n that the answer names.", min=0
    )
    labels: list[str] | None = plain(*LABEL)


@grouped
def show(
    options: ShowOptions,
    article: Annotated[
        str | None,
        typer.Argument(
            help="Key or id of an article, the beginning of its id, or part of its key or text. Default: the first."
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Argument(
            help="Run id; default: the newest run with summaries. It may also come before ARTICLE, or stand alone.",
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
    from nws.jobs.report.shown_article import print_shown
    from nws.jobs.report.shown_article import show as find_and_align

    if article is not None and _RUN_ID.fullmatch(article):
        article, run = run, article
    with reading(store) as opened:
        info = opened.run_info(chosen_run(opened, run, with_summaries=True))
        with busy("Looking for the article"):
            shown = find_and_align(opened, info, article, options.system, options.n, parse_labels(options.labels))
    print_result(as_json, shown.as_dict(), lambda: print_shown(shown, PrintableConsole()))


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """Options of `nws compare`."""

    systems: list[str] | None = plain(
        "--system NAME",
        "Name of a system in `nws report`, or a part of it. Given twice: compare A with B; differences are A minus B. "
        "Given once: compare this system with every other, or with itself in RUN2. Default: compare every system with "
        "lead at the longest n, or with itself in RUN2.",
    )
    n: str | None = plain(
        "--n N,N", "Summary lengths in words: 7,9 or 7-9; 0 for uncut texts. Default: every n that both have."
    )
    metric: str | None = plain(
        "--metric NAME", f"kept, {CHOICES}. Default: kept, where the runs have it, else bertscore_f1."
    )
    dataset: str | None = plain(
        "--dataset NAME",
        "Compare files of predictions on this dataset of articles and references, as `nws submit` takes it.",
    )
    equal_length: bool = plain(
        "--equal-length",
        "For files: also print a table of the articles whose two texts differ by at most 10 % in words.",
        False,
    )
    list_predictions: Literal["join", "first"] = plain(*LISTS, "join")
    labels: list[str] | None = plain(*LABEL)


@grouped
def compare(
    options: CompareOptions,
    run: ScoredRun = None,
    run2: Annotated[
        str | None, typer.Argument(help="Second run, with which the first is compared.", autocompletion=complete_run)
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Compare systems of runs, or of files of texts.

    With --dataset, compares the texts of one or two files as they are: `nws compare mine.jsonl theirs.jsonl --dataset
    news.jsonl`. A file may have a field `system` with several values.

    Prints the mean difference with its 95 % confidence interval, the p of a sign-flip test, and wins, ties and losses.
    Each p of two systems on one dataset is Holm-corrected over all n.
    """
    if options.dataset is not None:
        _compare_files(options, [name for name in (run, run2) if name is not None], as_json)
        return
    if options.equal_length:
        raise RecipeError("--equal-length compares files of predictions. Name their dataset with --dataset.")
    from nws.core.text.length import parse_lengths

    lengths, labels = None if options.n is None else parse_lengths(options.n), parse_labels(options.labels)

    from nws.jobs.tools.comparison import compare_runs, print_comparison

    with reading(store) as opened, busy("Comparing"):
        first = chosen_run(opened, run, with_summaries=True)
        second = None if run2 is None else opened.full_id(run2)
        result = compare_runs(opened, first, second, options.systems or [], lengths, options.metric, labels)
    print_result(as_json, result.as_dict(), lambda: print_comparison(result, PrintableConsole(), store_flag(store)))


def _compare_files(options: CompareOptions, files: list[str], as_json: bool) -> None:
    with busy("Loading libraries"):
        from nws.core.text.dataset import Dataset
        from nws.jobs.tools.compare_texts import compare_files, print_texts_comparison

    if not files:
        raise RecipeError("--dataset compares files of predictions. Name one or two files.")
    if options.n or options.metric or options.labels:
        raise RecipeError("--n, --metric and --label are for runs. Leave them out when --dataset compares files.")
    with busy("Scoring the texts"):
        dataset = Dataset(str(options.dataset), "test")
        best_first = not (as_json or options.systems or len(files) > 1)
        chosen, lists, equal = options.systems or [], options.list_predictions, options.equal_length
        result = compare_files(files, dataset, chosen, lists, equal_length=equal, best_first=best_first)
    for line in result.notes:
        err.print(line, markup=False)
    print_result(as_json, result.as_dict(), lambda: print_texts_comparison(result, PrintableConsole()))
