"""The report of a run: tables in the terminal, and files beside each other in one folder."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from rich.console import Console

from nws.core.analysis import Points
from nws.core.analysis.answer import Answer
from nws.core.analysis.claimed_lengths import COMPARED
from nws.core.errors import NwsError, RecipeError
from nws.core.findings.content import KEPT
from nws.core.findings.scores import Metric
from nws.core.whole_files import replacing
from nws.jobs.report.charts import Sheet
from nws.jobs.report.claim_answer import claims_json, claims_of, print_claims
from nws.jobs.report.console import busy, printable
from nws.jobs.report.drawing import draw
from nws.jobs.report.figure_files import PAPER_WIDTHS, save
from nws.jobs.report.metric_names import metric_name, metric_signature, metrics_of, not_equal
from nws.jobs.report.policy_numbers import (
    PolicyResults,
    analyse_policies,
    policies_json,
    policy_results,
    score_rows,
)
from nws.jobs.report.policy_report import learning_sheet, policies_sheet
from nws.jobs.report.printed_report import Asked, asked_json, print_asked, print_policies, print_sweep, read_asked
from nws.jobs.report.result_tables import kept_table, means_table
from nws.jobs.report.run_numbers import RunNumbers, Score
from nws.jobs.report.sweep_charts import curves_sheet, kept_sheet
from nws.jobs.report.sweep_numbers import Numbers, analyse, curve_rows, kept_rows, metrics_read, report_json
from nws.jobs.report.system_names import names_of
from nws.jobs.report.table import Table, write_csv
from nws.jobs.store import RunInfo, Store

_SEEDS_NOTE = "A policy is the mean of its seeds. Intervals do not include the variation between seeds."


Style: TypeAlias = Literal["screen", "paper"]


@dataclass(frozen=True, slots=True)
class ReportStyle:
    """Options of a report.

    Attributes:
        labels: of systems, over those of the recipe.
        where: what commands that it names need to find the run, such as ` --store URL`.
        style: of figures: for `paper` they are written as PDF, too, as wide as a column and as a page.
        claim: about the right number of words, such as `7-13`, of which is told what the run says.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    where: str = ""
    style: Style = "screen"
    claim: str | None = None


PLAIN = ReportStyle()


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """The files that were written: all numbers as JSON, tables as CSV and LaTeX, plots as PNG and SVG."""

    json: Path
    tables: tuple[Path, ...] = ()
    plots: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class _Part:
    """A table and its figure, if it has one, in files called `name`; as LaTeX too where there is some."""

    name: str
    rows: Iterable[Mapping[str, Any]]
    sheet: Sheet | None = None
    latex: str | None = None


def write_sweep_report(
    run: RunInfo,
    points: Points,
    out_dir: Path,
    console: Console,
    metric: Metric = "bertscore_f1",
    how: ReportStyle = PLAIN,
    asked: Asked | None = None,
    answer: Answer | None = None,
) -> ReportFiles:
    """Print a run's tables to `console`, and write `report.json`, and `curves` as CSV, LaTeX, PNG and SVG.

    So is `kept` of a run that was scored by content kept. `out_dir` is made where it does not exist; files of an
    earlier report in it are replaced. `asked` is what its generators were asked for, `answer` the run's where it is
    stored.

    Raises:
        RecipeError: a label is of no system, or another system is called so, or the run does not have the claimed n.
        StoreError: the run has no summaries yet, or the points are not those of one run.
        NwsError: `out_dir` cannot be written.
    """
    with busy("Computing intervals"):
        numbers = analyse(run, points, metric, how.labels, answer=answer)
        claims = claims_of(numbers.kept, points, how.claim) if how.claim is not None else ()
    parts = []
    if numbers.kept.of_systems:
        parts.append(_Part("kept", kept_rows(numbers), kept_sheet(numbers), kept_latex(numbers)))
    if numbers.kept.own_length:
        parts.append(_Part("own_length", numbers.kept.own_length_rows()))
    if numbers.scores:
        parts.append(_Part("curves", curve_rows(numbers), curves_sheet(numbers), means_latex(numbers)))
    told = asked_json(asked or Asked()) | ({"claims": claims_json(claims, run.length_unit)} if claims else {})
    files = _write(report_json(numbers) | told, parts, out_dir, how.style)
    print_sweep(numbers, console, how.where)
    print_asked(asked or Asked(), console)
    print_claims(claims, console, numbers.names, run.length_unit)
    return files


def write_policy_report(
    run: RunInfo,
    results: PolicyResults,
    out_dir: Path,
    console: Console,
    metric: Metric = "bertscore_f1",
    how: ReportStyle = PLAIN,
) -> ReportFiles:
    """Print a run's tables to `console`; write `report.json`, and `policies` and `learning` as CSV, PNG and SVG.

    `policies` is written as LaTeX, too. `out_dir` is made where it does not exist; files of an earlier report in it are
    replaced.

    Raises:
        RecipeError: a label is of no system, or another system is called so.
        StoreError: the run has neither updates nor summaries yet, or the points are not those of one run.
        NwsError: `out_dir` cannot be written.
    """
    with busy("Computing intervals"):
        numbers = analyse_policies(run, results, metric, how.labels)
    parts = []
    if numbers.scores:
        latex = means_latex(numbers, " on test articles", _SEEDS_NOTE)
        parts.append(_Part("policies", score_rows(numbers), policies_sheet(numbers), latex))
    if results.curve:
        rows = ({"run": run.id} | asdict(row) for row in results.curve)
        parts.append(_Part("learning", rows, learning_sheet(numbers)))
    files = _write(policies_json(numbers), parts, out_dir, how.style)
    print_policies(numbers, console, how.where)
    return files


def _write(report: Mapping[str, Any], parts: Sequence[_Part], out_dir: Path, style: Style) -> ReportFiles:
    """Write what was found as JSON, and each part in its files.

    Raises:
        NwsError: `out_dir` cannot be written.
    """
    path = out_dir / "report.json"
    tables: list[Path] = []
    plots: list[Path] = []
    try:
        with busy("Drawing, and writing files"):
            out_dir.mkdir(parents=True, exist_ok=True)
            _write_text(path, json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
            for part in parts:
                table, latex, png, svg = (out_dir / f"{part.name}.{kind}" for kind in ("csv", "tex", "png", "svg"))
                write_csv(table, Table.of(part.rows))
                tables.append(table)
                if part.latex is not None:
                    _write_text(latex, part.latex)
                    tables.append(latex)
                if part.sheet is None:
                    continue
                save(draw(part.sheet), png, svg)
                plots += [png, svg]
                for name, width in PAPER_WIDTHS.items() if style == "paper" else ():
                    if width == min(PAPER_WIDTHS.values()) and len(part.sheet.rows[0]) > 1:
                        continue  # side by side in one column they could not be read
                    plots.append(out_dir / f"{part.name}-{name}.pdf")
                    save(draw(part.sheet, width), plots[-1])
    except OSError as error:
        reason = error.strerror or error
        raise NwsError(f"The report cannot be written to {out_dir}: {reason}. Choose another folder.") from error
    return ReportFiles(path, tuple(tables), tuple(plots))


def means_latex(numbers: RunNumbers[Score], articles: str = "", *notes: str) -> str:
    """Mean scores by n for papers; comments say what made the numbers, and whether all systems wrote n words."""
    name = metric_name(numbers.metric)
    tables = [
        means_table(numbers.scores_of(dataset), numbers.metric, numbers.names, f"{dataset}: mean {name} by n{articles}")
        for dataset in numbers.scored
    ]
    is_uneven = any(numbers.other_lengths_of(dataset) for dataset in numbers.scored)
    cautions = [not_equal(numbers.run.length_unit)] * is_uneven
    return _latex(numbers, tables, f"{name}: {numbers.signature}", *notes, *cautions)


def kept_latex(numbers: Numbers) -> str:
    """Content kept by n for papers, and from which n on half is kept."""
    tables = [kept_table(numbers.kept, dataset, numbers.names) for dataset in numbers.kept.datasets]
    return _latex(numbers, tables, f"content kept: {metric_signature(numbers.run, KEPT)}")


def _latex(numbers: RunNumbers[Score], tables: Sequence[Table], *notes: str) -> str:
    """Tables that need the package booktabs, and above them comments on what made the numbers."""
    run = numbers.run
    comments = [
        f"Run {run.id}, {run.state}, seed {run.seed}, code {run.code_version}.",
        *notes,
        r"Needs \usepackage{booktabs}. A subscript is half of the 95 % interval, bold is a *.",
        *dict.fromkeys(note for table in tables for note in table.notes),
        *(f"Systems: {shared}." for shared in numbers.names.shared),
    ]
    head = "".join(f"% {printable(comment)}\n" for comment in comments)
    return head + "".join(f"\n% {printable(table.title)}\n{table.latex()}" for table in tables)


def _write_text(path: Path, text: str) -> None:
    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def _report_sweep(
    store: Store, run: RunInfo, metric: Metric, out_dir: Path, console: Console, how: ReportStyle
) -> ReportFiles:
    with busy("Reading summaries"):
        answer = store.stored_answer(run.id)
        of_claim = [name for name in metrics_of([run]) if how.claim is not None and name in COMPARED]
        points = store.points(run.id, list(dict.fromkeys((*metrics_read(run, metric, answer), *of_claim))))
        asked = read_asked(store, run, names_of([run], points.systems, how.labels))
    return write_sweep_report(run, points, out_dir, console, metric, how, asked, answer)


def _report_policies(
    store: Store, run: RunInfo, metric: Metric, out_dir: Path, console: Console, how: ReportStyle
) -> ReportFiles:
    if how.claim is not None:
        raise RecipeError("--claim is about runs of phase1 and baselines: name one of these.")
    with busy("Reading summaries"):
        results = policy_results(store, run, [*dict.fromkeys((*metrics_of([run]), metric))])
    return write_policy_report(run, results, out_dir, console, metric, how)


# Reads a run from a store, prints its tables in a metric to a console, and writes its files into a folder.
Report = Callable[[Store, RunInfo, Metric, Path, Console, ReportStyle], ReportFiles]

REPORTS: dict[str, Report] = {"phase1": _report_sweep, "baselines": _report_sweep, "phase2": _report_policies}
"""By job."""
