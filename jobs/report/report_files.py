"""The files of a report, beside each other in one folder: everything as JSON, tables as CSV and LaTeX, and plots."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from nws.core.errors import NwsError
from nws.core.findings.comparisons import TWO_SIDED_LEVEL
from nws.core.findings.content import CONTENT_KEPT, ContentKept
from nws.core.findings.policy_findings import COMPARISON_SYSTEMS, SystemScore
from nws.core.findings.scores import CONFIDENCE, Curve
from nws.core.metrics.specs import METRICS, Metric
from nws.core.whole_files import replacing
from nws.jobs.report import claim_answer
from nws.jobs.report.charts import Sheet
from nws.jobs.report.console import busy, printable
from nws.jobs.report.drawing import draw
from nws.jobs.report.figure_files import PAPER_WIDTHS, save
from nws.jobs.report.metric_names import metric_name
from nws.jobs.report.policy_report import learning_sheet, policies_sheet
from nws.jobs.report.printed_report import EndpointCosts
from nws.jobs.report.result_tables import kept_table, kinds_table, means_table
from nws.jobs.report.run_report import RunReport, run_json
from nws.jobs.report.sweep_charts import best_by_kind, curves_sheet, kept_sheet, kinds_sheet
from nws.jobs.report.table import Table, write_csv
from nws.jobs.report.wording import unequal_lengths_caution, worded
from nws.jobs.store import CurveRow
from nws.jobs.store.runs import metric_signature

_NEEDS = r"Needs \usepackage{booktabs}. In brackets: the 95 % CI."
_SEEDS_NOTE = "A policy is the mean of its seeds. Intervals do not include the variation between seeds."


Style: TypeAlias = Literal["screen", "paper"]


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


def write_report(
    report: RunReport,
    out_dir: Path,
    style: Style = "screen",
    costs: EndpointCosts | None = None,
    curve: Sequence[CurveRow] = (),
) -> ReportFiles:
    """Write a report: all of it as `report.json`, and its parts as CSV, LaTeX, PNG and SVG.

    `out_dir` is made where it does not exist; files of an earlier report in it are replaced. `costs` are those of the
    run's endpoints, `curve` how its policies learned.

    Raises:
        NwsError: `out_dir` cannot be written.
    """
    path = out_dir / "report.json"
    values = report_json(report) | (costs.as_dict() if costs is not None else {})
    tables: list[Path] = []
    plots: list[Path] = []
    try:
        with busy("Drawing, and writing files"):
            out_dir.mkdir(parents=True, exist_ok=True)
            _write_text(path, json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
            for part in _parts(report, curve):
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


def report_json(report: RunReport) -> dict[str, Any]:
    """Return the document as plain JSON values, with what made it, and with its statements in words."""
    document = report.document.model_dump(mode="json")
    for name in ("statements", "warnings"):
        for dataset, statements in getattr(report.document, name).items():
            for values, statement in zip(document[name][dataset], statements, strict=True):
                values["text"] = worded(statement, report.names, report.document.unit)
    for values, claim in zip(document["claims"], report.document.claims, strict=True):
        values["answer"] = claim_answer.headline(claim, report.document.unit)
    return {
        "run": run_json(report.run),
        "signature": report.signature,
        "confidence": CONFIDENCE,
        "alpha": TWO_SIDED_LEVEL,
        "labels": dict(report.names.shown),
        **document,
    }


def _parts(report: RunReport, curve: Sequence[CurveRow]) -> Iterator[_Part]:
    document, trained = report.document, report.document.policies
    if trained is None:
        if document.kept:
            yield _Part("kept", _kept_rows(report), kept_sheet(report), kept_latex(report))
        if best := best_by_kind(document):
            made = f"content kept by kind of word: {document.word_kinds}"
            by_kind = [{"run": report.run.id, "signature": document.word_kinds} | row for row in document.kind_rows()]
            tables = [kinds_table(document, *place, report.names) for place in best]
            yield _Part("kept_by_kind", by_kind, kinds_sheet(report), _latex(report, tables, made, _NEEDS))
        if document.length_matched:
            yield _Part("length_matched", [row for pair in document.length_matched for row in pair.rows()])
        if document.of_metric().curves:
            yield _Part("curves", curve_rows(report), curves_sheet(report), means_latex(report))
        return
    if trained.scores:
        latex = means_latex(report, " on test articles", _SEEDS_NOTE)
        yield _Part("policies", [_score_row(report, score) for score in trained.scores], policies_sheet(report), latex)
    if trained.learning:
        rows = ({"run": report.run.id} | asdict(row) for row in curve)
        yield _Part("learning", rows, learning_sheet(report))


def curve_rows(report: RunReport) -> list[dict[str, Any]]:
    """List a sweep's scores, a row each: the same in `curves.csv` and in frames."""
    document, found = report.document, report.document.of_metric()
    gains = {(number.dataset, number.system, at.n): at.gain for number in found.magic_numbers for at in number.gains}
    of_reference = [kept for kept in document.kept if kept.ceiling == "reference"]
    shares = {(kept.dataset, kept.system, at.n): at.share for kept in of_reference for at in kept.lengths}
    rows = []
    for curve in found.curves:
        for at in curve.lengths:
            place = (curve.dataset, curve.system, at.n)
            row = _head(report, report.metric, curve)
            row |= _columns(at, "n articles of_articles comparable words mean low high")
            row |= _columns(gains.get(place), "mean low high", "gain_")
            if shares:
                row |= {"kept": shares[place].mean if place in shares else None}
                row |= _columns(shares.get(place), "low high", "kept_")
            rows.append(row)
    return rows


def _kept_rows(report: RunReport) -> list[dict[str, Any]]:
    """List the rows of `kept.csv`: content kept for each dataset, system, ceiling and n."""
    return [
        _head(report, CONTENT_KEPT, kept)
        | _columns(kept, "ceiling")
        | _columns(at, "n articles words")
        | _columns(at.share, "mean low high")
        for kept in report.document.kept
        for at in kept.lengths
    ]


def _score_row(report: RunReport, score: SystemScore) -> dict[str, Any]:
    seeds = score.seeds.values()
    row = _head(report, report.metric, score) | _columns(score, "n articles comparable")
    row |= _columns(score.score, "mean low high") | {"seeds": " ".join(map(str, score.seeds))}
    row |= {"seed_low": min(seeds, default=None), "seed_high": max(seeds, default=None), "seed_sd": score.seed_sd}
    row |= {metric: score.means[metric] for metric in METRICS} | {"repeated_words": score.repeated_words}
    for rival in COMPARISON_SYSTEMS:
        versus = score.versus.get(rival)
        row |= _columns(versus, "articles", f"vs_{rival}_")
        row |= _columns(versus and versus.difference, "mean low high", f"vs_{rival}_")
    return row | _columns(score, "gap_closed training_f1 test_vs_training")


def _head(report: RunReport, metric: Metric, of: Curve | ContentKept | SystemScore) -> dict[str, Any]:
    """Return the first columns of a row: what made its numbers, and whose they are."""
    made_by = {"run": report.run.id, "metric": metric, "signature": metric_signature(report.run, metric)}
    flags = {"is_control": int(of.kind == "control"), "is_oracle": int(of.kind == "oracle")}
    return made_by | _columns(of, "dataset system") | flags


def _columns(record: object, names: str, prefix: str = "") -> dict[str, Any]:
    """Return numbers of a record by the names of their columns; None where there is no record, and 1 for true."""
    values = {name: getattr(record, name, None) for name in names.split()}
    return {prefix + name: int(value) if isinstance(value, bool) else value for name, value in values.items()}


def means_latex(report: RunReport, articles: str = "", *notes: str) -> str:
    """Write mean scores by n for papers. Comments say what made the numbers, and whether all systems wrote n words."""
    document, name = report.document, metric_name(report.metric)
    curves = {dataset: document.of_metric().curves_of(dataset) for dataset in document.scored}
    if trained := document.policies:
        curves = {dataset: trained.curves(dataset) for dataset in trained.scored}
    tables = [
        means_table(of_dataset, report.metric, report.names, f"{dataset}: mean {name} by n{articles}")
        for dataset, of_dataset in curves.items()
    ]
    is_uneven = any(document.other_lengths(of_dataset) for of_dataset in curves.values())
    cautions = [unequal_lengths_caution(document.unit)] * is_uneven
    sizes = [r"Needs \usepackage{booktabs}. A subscript is half the width of the 95 % CI. Bold stands for *."]
    return _latex(report, tables, f"{name}: {report.signature}", *notes, *cautions, *sizes)


def kept_latex(report: RunReport) -> str:
    """Write content kept by n for papers, and from which n on half is kept."""
    tables = [kept_table(report.document, dataset, report.names) for dataset in sorted(report.document.ranking)]
    return _latex(report, tables, f"content kept: {metric_signature(report.run, CONTENT_KEPT)}", _NEEDS)


def _latex(report: RunReport, tables: Sequence[Table], *notes: str) -> str:
    """Write tables that need the package booktabs, and above them comments on what made the numbers."""
    run = report.run
    comments = [
        f"Run {run.id}, {run.state}, seed {run.seed}, code {run.code_version}.",
        *notes,
        *dict.fromkeys(note for table in tables for note in table.notes),
        *(f"{note}." for note in report.names.shortened),
    ]
    head = "".join(f"% {printable(comment)}\n" for comment in comments)
    return head + "".join(f"\n% {printable(table.title)}\n{table.latex()}" for table in tables)


def _write_text(path: Path, text: str) -> None:
    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
