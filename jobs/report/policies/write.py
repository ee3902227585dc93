"""The report of a run that trained policies: tables in the terminal, and files beside each other in one folder."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields
from pathlib import Path

from rich.console import Console

from core.analysis import COMPARED, METRICS, Metric, SystemScore
from core.errors import NwsError
from core.whole_files import replacing
from jobs.report.csv_file import Value, write_csv
from jobs.report.policies.latex_scores import write_latex
from jobs.report.policies.learning_figure import plot_learning
from jobs.report.policies.numbers import PolicyNumbers, PolicyResults, analyse_policies, policies_json
from jobs.report.policies.printed_tables import print_policies
from jobs.report.policies.scores_figure import plot_scores
from jobs.report.run_facts import ReportFiles, kind_flags
from jobs.store import CurveRow, RunInfo
from jobs.terminal.busy import busy
from jobs.terminal.metrics import metric_signature
from jobs.terminal.table_style import print_line

_COLUMNS = (
    *("run", "metric", "signature", "dataset", "system", "is_control", "is_upper_bound", "n", "articles", "comparable"),
    *("mean", "low", "high", "seeds", "seed_low", "seed_high", "seed_sd"),
    *METRICS,
    "repeated_words",
    *(f"vs_{rival}_{part}" for rival in COMPARED for part in ("articles", "mean", "low", "high")),
    *("gap_closed", "training_f1", "test_vs_training"),
)


def write_policy_report(
    run: RunInfo,
    results: PolicyResults,
    out_dir: Path,
    console: Console,
    metric: Metric = "bertscore_f1",
    where: str = "",
) -> ReportFiles:
    """Print a run's tables to `console`; write `report.json`, and `policies` and `learning` as CSV, PNG and SVG.

    `policies` is written as LaTeX, too. `out_dir` is made where it does not exist; files of an earlier report in it are
    replaced. `where` is what the commands that are named need to find the run, such as ` --store URL`.

    Raises:
        StoreError: the run has neither updates nor summaries yet, or the points are not those of one run.
        NwsError: `out_dir` cannot be written.
    """
    with busy("Computing intervals"):
        numbers = analyse_policies(run, results, metric)
    try:
        with busy("Drawing, and writing files"):
            files = _write_files(numbers, results.curve, out_dir)
    except OSError as error:
        reason = error.strerror or error
        raise NwsError(f"The report cannot be written to {out_dir}: {reason}. Choose another folder.") from error
    print_policies(numbers, console, where)
    for warning in files.warnings:
        print_line(console, warning, style="yellow")
    return files


def _write_files(numbers: PolicyNumbers, curve: Sequence[CurveRow], out_dir: Path) -> ReportFiles:
    out_dir.mkdir(parents=True, exist_ok=True)
    report = out_dir / "report.json"
    text = json.dumps(policies_json(numbers), indent=2, ensure_ascii=False, allow_nan=False)
    with replacing(report) as unfinished:
        unfinished.write_text(text + "\n", encoding="utf-8")
    tables: list[Path] = []
    plots: list[Path] = []
    warnings: list[str | None] = []
    if numbers.scores:
        table, latex, png, svg = (out_dir / f"policies.{kind}" for kind in ("csv", "tex", "png", "svg"))
        signature = metric_signature(numbers.run, numbers.metric)
        made_by = (numbers.run.id, numbers.metric, signature)
        write_csv(table, _COLUMNS, ([*made_by, *_row(score)] for score in numbers.scores))
        write_latex(latex, numbers)
        warnings.append(plot_scores(numbers, png, svg))
        tables, plots = [table, latex], [png, svg]
    if curve:
        table, png, svg = (out_dir / f"learning.{kind}" for kind in ("csv", "png", "svg"))
        columns = ("run", *(field.name for field in fields(CurveRow)))
        write_csv(table, columns, ((numbers.run.id, *astuple(row)) for row in curve))
        warnings.append(plot_learning(numbers, png, svg))
        tables, plots = [*tables, table], [*plots, png, svg]
    return ReportFiles(report, tuple(tables), tuple(plots), tuple(dict.fromkeys(filter(None, warnings))))


def _row(score: SystemScore) -> list[Value]:
    """Under `_COLUMNS`, but for the first three."""
    seeds, mean = score.seeds.values(), score.score
    return [
        *(score.dataset, score.system),
        *map(int, kind_flags(score.kind).values()),
        *(score.n, score.articles, int(score.comparable)),
        *(mean.mean, mean.low, mean.high, " ".join(map(str, score.seeds))),
        *(min(seeds, default=None), max(seeds, default=None), score.seed_sd),
        *(score.means[metric] for metric in METRICS),
        score.repeated_words,
        *_differences(score),
        *(score.gap_closed, score.training_f1, score.test_vs_training),
    ]


def _differences(score: SystemScore) -> Iterator[Value]:
    for rival in COMPARED:
        versus = score.versus.get(rival)
        if versus is None:
            yield from [None] * 4
        else:
            yield from (versus.articles, versus.difference.mean, versus.difference.low, versus.difference.high)
