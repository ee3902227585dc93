"""`nws export`: the rows of a run, or the policies that it has trained, as files."""

import json
from pathlib import Path
from typing import Annotated

import typer

from core.errors import NwsError, RecipeError
from jobs.commands import complete
from jobs.commands.options import DEFAULT_STORE, Json, PolicyName, StoreUrl
from jobs.commands.shared import choose_policies, chosen_run, chosen_training, err, out, reading
from jobs.terminal.console import busy


def export(
    run: Annotated[
        str | None,
        typer.Argument(
            help="Run id, as `nws ls` lists it; default: the newest run with summaries, or the newest training.",
            autocompletion=complete.runs,
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder to write the policies of a run of `nws submit phase2` to, with a model card. It must be new "
            "or empty.",
        ),
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File to write every summary with its scores to, replacing it: .parquet, .csv or .jsonl; - prints "
            "JSON lines.",
        ),
    ] = None,
    with_articles: Annotated[
        bool, typer.Option("--with-articles", help="Each row of --rows has its article's text and references, too.")
    ] = False,
    system: PolicyName = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Write the rows or policies of a run to files.

    They can be read from Python, without Ray or a database.
    """
    if (policy is None) == (rows is None):
        raise RecipeError("What is to be exported? Give --rows FILE or --policy FOLDER, one of them.")
    if rows is not None:
        if system is not None:
            raise RecipeError("--system chooses a policy. With --rows, every system is written.")
        _export_rows(run, rows, with_articles, store, as_json)
    elif policy is not None:
        if with_articles:
            raise RecipeError("--with-articles goes with --rows.")
        _export_policy(run, policy, system, store, as_json)


def _export_rows(run: str | None, target: Path, with_articles: bool, store: str, as_json: bool) -> None:
    from jobs.report.summary_rows import STDOUT, write_summary_rows
    from jobs.terminal.numerals import counted

    if target == STDOUT and as_json:
        raise RecipeError("--rows - prints JSON lines itself: leave --json out.")
    with reading(store) as opened, busy("Writing rows"):
        run = chosen_run(opened, run, with_summaries=True)
        count, files = write_summary_rows(opened, opened.run_info(run), target, with_articles)
    if as_json:
        print(json.dumps({"run": run, "rows": count, "files": [str(file) for file in files]}))
    elif target == STDOUT:
        err.print(f"{counted(count, 'summary')} of run {run}")
    else:
        out.print(f"{counted(count, 'summary')} of run {run}")
        for file in files:
            out.print(str(file))


def _export_policy(run: str | None, policy: Path, system: str | None, store: str, as_json: bool) -> None:
    from core.analysis import METRICS
    from core.learning.policy_system import save_policies
    from core.whole_files import replacing
    from jobs.report.policies.model_card import write_model_card
    from jobs.report.policies.policy_numbers import policy_results

    chosen = choose_policies(store, run, system)
    with reading(store) as opened:
        run = chosen_training(opened, run)
        info = opened.run_info(run)
        results = policy_results(opened, info, METRICS)
    try:
        if policy.is_dir() and any(policy.iterdir()):
            raise RecipeError(f"{policy} is not empty: name a new folder.")
        with replacing(policy) as unfinished:
            save_policies(chosen, unfinished)
            write_model_card(info, results, chosen, unfinished)
    except OSError as error:
        reason = error.strerror or error
        raise NwsError(f"The policies cannot be written to {policy}: {reason}. Choose another folder.") from error
    files = sorted(str(path) for path in policy.rglob("*") if path.is_file())
    if as_json:
        print(json.dumps({"run": run, "system": chosen.signature, "files": files}))
        return
    out.print(f"{chosen.signature} of run {run}", markup=False)
    for file in files:
        out.print(file, markup=False)
