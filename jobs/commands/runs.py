"""`nws ls`, `status`, `report` and `query`: look at runs and their results."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from jobs.commands.shared import DEFAULT_STORE, Json, Store, err, newest, out, reading, shown


def list_runs(store: Store = DEFAULT_STORE, as_json: Json = False) -> None:
    """List the runs in the store, the newest first."""
    from jobs import rows_view, runs_view

    with reading(store) as opened:
        runs = opened.list_runs()
    if as_json:
        print(json.dumps([runs_view.as_dict(run) for run in runs]))
    else:
        rows_view.print_rows(runs_view.COLUMNS, runs_view.rows(runs), out)


def status(
    run: Annotated[str | None, typer.Argument(help="Run id; default: the newest run.")] = None,
    store: Store = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Show how a run stands: its progress, what made its numbers, and the articles that failed."""
    from jobs import runs_view

    with reading(store) as opened:
        info = opened.run_info(run or newest(opened))
        failures = opened.failures(info.id)
    if as_json:
        print(json.dumps(runs_view.as_dict(info, failures)))
    else:
        runs_view.print_status(info, failures, out)


def report(
    run: Annotated[str | None, typer.Argument(help="Run id; default: the newest run with summaries.")] = None,
    out_dir: Annotated[
        Path | None, typer.Option("--out", help="Folder for plots and files; default: reports/RUN.")
    ] = None,
    store: Store = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Show a run's curves: BERTScore F1 by n with 95 % intervals, the best n, and plots as PNG and SVG."""
    from jobs.report import write_report
    from jobs.report.numbers import RunSummary

    with reading(store) as opened:
        info = opened.run_info(run or newest(opened, with_summaries=True))
        points = opened.points(info.id)
    summary = RunSummary(
        id=info.id,
        seed=info.seed,
        code_version=info.code_version,
        signatures=info.signatures,
        revisions=info.revisions,
        device=info.device,
        state=info.state,
        articles=info.articles_done,
        failures=info.failures,
    )
    folder = out_dir or Path("reports") / info.id
    files = write_report(summary, points, folder, err if as_json else Console(highlight=False))
    if as_json:
        print(json.dumps(json.loads(files.json.read_text(encoding="utf-8"))))
        return
    out.print(f"Database  {shown(store)}")
    for name, path in (("Plot", files.png), ("", files.svg), ("Numbers", files.csv), ("", files.json)):
        if path is not None:
            out.print(f"{name:<9} {path}")


def query(
    sql: Annotated[
        str,
        typer.Argument(
            help="One SELECT. Tables: runs, articles, summaries, failures; views: sweep_curve, best_n, leaderboard."
        ),
    ],
    store: Store = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Run SQL that reads the store, and print the rows (with --json, as one JSON list of objects)."""
    from jobs import rows_view

    with reading(store) as opened, opened.query(sql) as answer:
        if as_json:
            print(json.dumps(rows_view.as_objects(answer.columns, answer.rows), default=str, allow_nan=False))
        else:
            rows_view.print_rows(answer.columns, answer.rows, out)
