"""`nws ls`, `status`, `report` and `query`: look at runs and their results."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from jobs.commands.shared import DEFAULT_STORE, Json, Store, err, newest, out, reading, shown


def list_runs(store: Store = DEFAULT_STORE, as_json: Json = False) -> None:
    """List the runs in the store, the newest first."""
    from jobs.terminal import plain_table, run_status

    with reading(store) as opened:
        runs = opened.list_runs()
    if as_json:
        print(json.dumps([run_status.as_dict(run) for run in runs]))
    else:
        plain_table.print_rows(run_status.COLUMNS, run_status.rows(runs), out)


def status(
    run: Annotated[str | None, typer.Argument(help="Run id; default: the newest run.")] = None,
    store: Store = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Show how a run stands: its progress, what made its numbers, and the articles that failed."""
    from jobs.terminal import run_status

    with reading(store) as opened:
        info = opened.run_info(run or newest(opened))
        failures = opened.failures(info.id)
        policies = opened.policy_infos(info.id)
    if as_json:
        print(json.dumps(run_status.as_dict(info, failures, policies)))
    else:
        run_status.print_status(info, failures, policies, out)


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
    from jobs.report.policies.report import write_policy_report
    from jobs.report.sweep.numbers import RunSummary

    with reading(store) as opened:
        info = opened.run_info(run or newest(opened, with_summaries=True))
        points = opened.points(info.id)
        policies = _policy_results(opened, info, points) if info.job == "phase2" else None
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
    console = err if as_json else Console(highlight=False)
    if policies is None:
        of_sweep = write_report(summary, points, folder, console)
        report_json, plots, tables = of_sweep.json, (of_sweep.png, of_sweep.svg), [of_sweep.csv]
    else:
        of_policies = write_policy_report(summary, policies, folder, console)
        report_json, plots = of_policies.json, (of_policies.png, of_policies.svg)
        tables = [of_policies.csv, of_policies.learning]
    if as_json:
        print(json.dumps(json.loads(report_json.read_text(encoding="utf-8"))))
        return
    out.print(f"Database  {shown(store)}")
    for name, paths in (("Plot", plots), ("Numbers", (*tables, report_json))):
        written = [path for path in paths if path is not None]
        for i, path in enumerate(written):
            out.print(f"{name if i == 0 else '':<9} {path}")


def _policy_results(opened: Any, info: Any, points: Any) -> Any:
    """What the store has of a run's policies."""
    from jobs.report.policies.numbers import PolicyResults

    reward = info.signatures["reward"]
    return PolicyResults(
        points=points,
        texts=opened.texts(info.id),
        curve=opened.learning_curve(info.id),
        greedy=opened.greedy_rewards(info.id),
        reward=reward,
        reward_is_f1=reward == info.signatures["bertscore"],
    )


def query(
    sql: Annotated[
        str,
        typer.Argument(
            help="One SELECT. Tables: runs, articles, summaries, failures, policies, updates, episodes; "
            "views: sweep_curve, best_n, leaderboard, learning_curve."
        ),
    ],
    store: Store = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Run SQL that reads the store, and print the rows (with --json, as one JSON list of objects)."""
    from jobs.terminal import plain_table

    with reading(store) as opened, opened.query(sql) as answer:
        if as_json:
            print(json.dumps(plain_table.as_objects(answer.columns, answer.rows), default=str, allow_nan=False))
        else:
            plain_table.print_rows(answer.columns, answer.rows, out)
