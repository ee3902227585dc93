"""`nws query`: SQL that reads the store; `nws export`: its rows and policies as files; and `nws db`: its schema."""

import io
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from nws.core.errors import NwsError, RecipeError
from nws.jobs.commands.options import DEFAULT_STORE, POLICY, Json, StoreUrl, grouped, plain
from nws.jobs.commands.shared import ScoredRun, chosen_run, err, out, reading, shown, store_flag
from nws.jobs.report.console import PrintableConsole, busy, escape_controls

if TYPE_CHECKING:
    from nws.core.learning.policy_system import PolicySystem
    from nws.jobs.report.table import Table
    from nws.jobs.store import RunInfo

Format: TypeAlias = Literal["csv", "latex"]


def query(
    sql: Annotated[
        str,
        typer.Argument(
            help="One SELECT. Tables: runs, systems, articles, summaries, failures, policies, updates, episodes; "
            "views: sweep_curve, best_n, leaderboard, learning_curve."
        ),
    ],
    kind: Annotated[
        Format | None,
        typer.Option("--format", help="Format of the rows, for a file or a paper. Default: a plain table."),
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Run SQL on the store, and print the rows.

    Never writes to the store. With --json, prints a list with one object per row.
    """
    from nws.jobs.report.table import Table

    if as_json and kind is not None:
        raise RecipeError(f"--json and --format {kind} cannot be combined. Give one of them.")
    with reading(store) as opened, opened.query(sql) as answer:
        table = Table(answer.columns, list(answer.rows))
    if as_json:
        print(json.dumps(table.objects(), default=str, allow_nan=False))
    elif kind is not None:
        _write(kind, table)
    else:
        table.print_query(PrintableConsole())


def _write(kind: Format, table: "Table") -> None:
    if kind == "csv":
        file = io.StringIO(newline="")
        table.csv(file)
        text = file.getvalue()
    else:
        text = table.latex()
    # In UTF-8, like all files of NWS. For a terminal, control characters are written out.
    sys.stdout.buffer.write((escape_controls(text) if out.is_terminal else text).encode())
    sys.stdout.buffer.flush()


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Options of `nws export`."""

    policy: Path | None = plain(
        "--policy FOLDER",
        "New or empty folder for the policies of a run of `nws submit phase2` (default: the newest) and its recipe.",
    )
    rows: Path | None = plain(
        "--rows --out -o FILE",
        "File for every summary with its scores: .parquet, .csv or .jsonl; it is replaced. - prints JSON lines.",
    )
    with_articles: bool = plain(
        "--with-articles", "Add the article's text and references to each row of --rows.", False
    )
    system: str | None = plain(*POLICY)


@grouped
def export(
    options: ExportOptions, run: ScoredRun = None, store: StoreUrl = DEFAULT_STORE, as_json: Json = False
) -> None:
    """Write the rows or policies of a run to files.

    Python can read them without Ray or a database.
    """
    if options.rows is not None and options.policy is None and options.system is None:
        _export_rows(run, options.rows, options.with_articles, store, as_json)
    elif options.policy is not None and options.rows is None and not options.with_articles:
        _export_policy(run, options.policy, options.system, store, as_json)
    else:
        raise RecipeError("Give --rows FILE (perhaps with --with-articles) or --policy FOLDER (perhaps with --system).")


def _export_rows(run: str | None, target: Path, with_articles: bool, store: str, as_json: bool) -> None:
    from nws.jobs.report.numerals import counted
    from nws.jobs.report.summary_rows import STDOUT, write_summary_rows

    if target == STDOUT and as_json:
        raise RecipeError("--rows - already prints JSON lines. Leave --json out.")
    with reading(store) as opened, busy("Writing rows"):
        run = chosen_run(opened, run, with_summaries=True)
        count, files = write_summary_rows(opened, opened.run_info(run), target, with_articles)
    if as_json:
        print(json.dumps({"run": run, "rows": count, "files": [str(file) for file in files]}))
    else:
        (err if target == STDOUT else out).print(f"{counted(count, 'summary')} of run {run}")
        for file in files:
            out.print(str(file))


def _export_policy(run: str | None, policy: Path, system: str | None, store: str, as_json: bool) -> None:
    from nws.core.learning.writer import save_policies
    from nws.core.whole_files import replacing
    from nws.jobs.drive.training import choose_system

    with reading(store) as opened:
        info = opened.run_info(chosen_run(opened, run, is_training=True))
        chosen = choose_system(opened, info.id, system)
    made_by = next(iter(chosen.checkpoints.values())).made_by
    if made_by["updates"] < made_by["total_updates"]:
        err.print(
            f"Warning: the training of {chosen.signature} stopped after {made_by['updates']} of "
            f"{made_by['total_updates']} updates. Resume it with: nws resume {info.id}{store_flag(store)}"
        )
    try:
        if policy.is_dir() and any(policy.iterdir()):
            raise RecipeError(f"{policy} is not empty. Name a new folder.")
        with replacing(policy) as unfinished:
            save_policies(chosen, unfinished)
            write_origin(info, chosen, unfinished)
    except OSError as error:
        reason = error.strerror or error
        raise NwsError(f"The policies cannot be written to {policy}: {reason}. Choose another folder.") from error
    files = sorted(str(path) for path in policy.rglob("*") if path.is_file())
    if as_json:
        print(json.dumps({"run": info.id, "system": chosen.signature, "files": files}))
        return
    out.print(f"{chosen.signature} of run {info.id}")
    for file in files:
        out.print(file)


def write_origin(run: "RunInfo", policies: "PolicySystem", folder: Path) -> None:
    """Write what made the policies into their folder: `README.md`, and `recipe.yaml` without paths of this machine."""
    import yaml

    recipe = yaml.safe_dump(_without_folders(run.recipe), sort_keys=False, allow_unicode=True)
    (folder / "recipe.yaml").write_text(recipe, encoding="utf-8")
    readme = f"""# {policies.signature}

Policies of NWS for n = {", ".join(map(str, sorted(policies.checkpoints)))} {policies.length_unit}.

Run {run.id} trained them with code {run.code_version}, seed {run.seed}: `nws report {run.id}` shows its results.
`nws submit phase2 --recipe recipe.yaml` trains them again.
"""
    (folder / "README.md").write_text(readme, encoding="utf-8")


def _without_folders(value: Any) -> Any:
    """Reduce the paths in a recipe to their file names."""
    if isinstance(value, Mapping):
        return {key: _without_folders(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_folders(item) for item in value]
    return Path(value).name if isinstance(value, str) and Path(value).is_absolute() else value


def upgrade(store: StoreUrl = DEFAULT_STORE) -> None:
    """Make or upgrade the schema of a store.

    Stop its runs first. A SQLite file is copied before it is changed.
    """
    from nws.jobs.store.schema import HEAD_REVISION, upgrade_schema

    with busy("Upgrading the store"):
        done = upgrade_schema(store)
    if done.before == HEAD_REVISION:
        out.print(f"{shown(store)}: the schema is up to date")
    elif done.before is None:
        out.print(f"{shown(store)}: the schema was created")
    else:
        out.print(f"{shown(store)}: upgraded from the schema of NWS {done.before} to that of {HEAD_REVISION}")
    if done.copy is not None:
        out.print(f"A copy of the store as it was before: {done.copy}")
