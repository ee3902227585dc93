"""The `nws` command line. Data goes to stdout, progress and errors to stderr; exit 0 only when nothing failed."""

import importlib.metadata
import json
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer
from rich.console import Console

from core.errors import NwsError, RecipeError

# Heavy imports (torch, transformers, spacy, matplotlib) stay inside the commands that need them: `nws --help` and
# `nws ls` answer at once.

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="How few words can a news summary have and still keep the meaning? "
    "Submit runs, watch them, and read their results.",
)
submit_app = typer.Typer(no_args_is_help=True, help="Start a run.")
db_app = typer.Typer(no_args_is_help=True, help="The store's schema.")
app.add_typer(submit_app, name="submit")
app.add_typer(db_app, name="db")

Store = Annotated[
    str, typer.Option(envvar="NWS_STORE", help="Where results are: sqlite:///FILE or postgresql://USER@HOST/DATABASE.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line of stdout.")]
EngineOption = Annotated[
    str, typer.Option(envvar="NWS_ENGINE", help="ray: actors on a local Ray. inline: in this process, for debugging.")
]
Accelerator = Annotated[
    str | None,
    typer.Option(
        envvar="NWS_ACCELERATOR",
        help="What each actor pins: auto (a GPU where there is one, else a CPU), cpu, or a Ray accelerator type "
        "such as T4.",
    ),
]
Actors = Annotated[
    int | None, typer.Option(envvar="NWS_ACTORS", min=1, help="Number of actors; default: as many as fit.")
]
DEFAULT_STORE = "sqlite:///nws.db"

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


@app.callback()
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    if version:
        out.print(f"nws {importlib.metadata.version('nws')}")
        raise typer.Exit


def main() -> None:
    """Run the command line; errors a person can act on are printed without a traceback, with exit code 1."""
    signal.signal(signal.SIGTERM, _terminated)
    try:
        app()
    except NwsError as error:
        err.print(f"Error: {error}", markup=False)
        sys.exit(2 if isinstance(error, RecipeError) else 1)
    except BrokenPipeError:  # e.g. `nws query … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _terminated(signum: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


@submit_app.command("phase1")
def submit_phase1(
    recipe: Annotated[
        str, typer.Option("--recipe", "-r", envvar="NWS_RECIPE", help="sample, paper, or a YAML file.")
    ] = "sample",
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            envvar="NWS_DATASET",
            help="sample, cnn_dailymail, xsum, a JSONL, CSV or Parquet file, or a Hub id "
            "(organisation/name[:configuration][@revision]). Repeatable; replaces the recipe's datasets.",
        ),
    ] = None,
    split: Annotated[str | None, typer.Option(envvar="NWS_SPLIT", help="Split of Hub datasets.")] = None,
    streaming: Annotated[
        bool | None, typer.Option("--streaming", envvar="NWS_STREAMING", help="Stream Hub datasets row by row.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(envvar="NWS_LIMIT", min=1, help="Read at most this many articles of each dataset.")
    ] = None,
    text_field: Annotated[str | None, typer.Option(envvar="NWS_TEXT_FIELD", help="Field with the article.")] = None,
    reference_field: Annotated[
        str | None,
        typer.Option(
            envvar="NWS_REFERENCE_FIELD", help="Field with the reference or references; default: a usual name."
        ),
    ] = None,
    key_field: Annotated[
        str | None,
        typer.Option(envvar="NWS_KEY_FIELD", help="Field that names the article; default: id, key, fname, or the row."),
    ] = None,
    pipeline: Annotated[
        str | None,
        typer.Option(
            envvar="NWS_PIPELINE",
            help="spaCy pipeline for sentences and chunks: an installed one such as en_core_web_sm, blank (none "
            "needed), or auto.",
        ),
    ] = None,
    encoder: Annotated[
        list[str] | None,
        typer.Option(
            envvar="NWS_ENCODER",
            help="bert-base-uncased, xlnet-base-cased, electra-base-discriminator, all-MiniLM-L6-v2, a folder, or a "
            "Hub id (organisation/name[@revision]). Repeatable; replaces the recipe's encoders.",
        ),
    ] = None,
    n: Annotated[str | None, typer.Option("--n", envvar="NWS_N", help="Summary lengths in words: 7,9,11,13.")] = None,
    seed: Annotated[
        int | None, typer.Option(envvar="NWS_SEED", min=0, help="Seed of the random control and of intervals.")
    ] = None,
    accelerator: Accelerator = None,
    actors: Actors = None,
    engine: EngineOption = "ray",
    store: Store = DEFAULT_STORE,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the newest run of exactly this recipe, if there is one.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would run, and run nothing; loads datasets but no model.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Sweep the summary length n: every system summarises every article at every n, and each summary is scored."""
    lengths = _lengths(n)
    _engine(engine)
    _shown(store)  # refuses a store URL that cannot be used, before the heavy imports

    from jobs import dry_run as dry_runs
    from jobs import phase1
    from jobs.provenance import pin
    from jobs.recipe import load_recipe
    from jobs.store import open_store

    given = {
        "datasets": [{"name": name} for name in dataset] if dataset else None,
        "encoders": encoder or None,
        "n": lengths,
        **{"split": split, "streaming": streaming, "limit": limit},
        **{"text_field": text_field, "reference_field": reference_field, "key_field": key_field},
        **{"pipeline": pipeline, "seed": seed, "accelerator": accelerator, "actors": actors},
    }
    pinned = pin(load_recipe(recipe, {key: value for key, value in given.items() if value is not None}))
    if dry_run:
        plan = dry_runs.describe(pinned)
        print(json.dumps(plan)) if as_json else dry_runs.print_description(plan, out)
        return
    with open_store(store) as opened:
        known = opened.find_run(pinned.recipe.hash) if resume else None
        if known is not None:
            outcome = phase1.resume(opened, known, _engine(engine), accelerator, actors, err)
        else:
            outcome = phase1.submit(opened, pinned, _engine(engine), err)
    _finish(outcome, store, as_json)


def _lengths(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise RecipeError(
            f"--n takes whole numbers with commas between them, such as 7,9,11,13, not {text!r}."
        ) from error


def _engine(name: str) -> Any:
    if name not in ("ray", "inline"):
        raise RecipeError(f"There is no engine {name!r}: use ray or inline.")
    return name


def _finish(outcome: Any, store: str, as_json: bool) -> None:
    where = _store_flag(store)
    if as_json:
        print(json.dumps(outcome.as_dict()))
    else:
        out.print(
            f"Run {outcome.run_id} is {outcome.state}: {outcome.articles} articles, {outcome.summaries} summaries, "
            f"{outcome.failures} failures."
        )
    if outcome.state == "interrupted":
        err.print(f"Interrupted; what was finished is stored. Go on with: nws resume {outcome.run_id}{where}")
        raise typer.Exit(130)
    if outcome.failures:
        err.print(f"{outcome.failures} articles failed. See why: nws status {outcome.run_id}{where}")
        raise typer.Exit(1)
    err.print(f"Tables and plot: nws report {outcome.run_id}{where}")


def _shown(store: str) -> str:
    from jobs.store.address import parse_address

    return parse_address(store).shown


def _store_flag(store: str) -> str:
    """What to add to a command so that it finds this store, ready to be pasted into a shell, without a password."""
    if store == DEFAULT_STORE or os.environ.get("NWS_STORE") == store:
        return ""
    return f" --store {shlex.quote(_shown(store))}"


@app.command()
def resume(
    run: Annotated[str, typer.Argument(help="Run id, as `nws ls` lists it.")],
    engine: EngineOption = "ray",
    accelerator: Accelerator = None,
    actors: Actors = None,
    store: Store = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Go on with a run: only what is missing is computed, and articles that failed are tried again.

    A driver that still works on the run is replaced: it stops at its next bundle.
    """
    from jobs import phase1
    from jobs.store import open_store

    with open_store(store) as opened:
        outcome = phase1.resume(opened, run, _engine(engine), accelerator, actors, err)
    _finish(outcome, store, as_json)


@app.command("ls")
def list_runs(store: Store = DEFAULT_STORE, as_json: Json = False) -> None:
    """List the runs in the store, the newest first."""
    from jobs import rows_view, runs_view

    with _reading(store) as opened:
        runs = opened.list_runs()
    if as_json:
        print(json.dumps([runs_view.as_dict(run) for run in runs]))
    else:
        rows_view.print_rows(runs_view.COLUMNS, runs_view.rows(runs), out)


@app.command()
def status(
    run: Annotated[str | None, typer.Argument(help="Run id; default: the newest run.")] = None,
    store: Store = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Show how a run stands: its progress, what made its numbers, and the articles that failed."""
    from jobs import runs_view

    with _reading(store) as opened:
        info = opened.run_info(run or _newest(opened))
        failures = opened.failures(info.id)
    if as_json:
        print(json.dumps(runs_view.as_dict(info, failures)))
    else:
        runs_view.print_status(info, failures, out)


@app.command()
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

    with _reading(store) as opened:
        info = opened.run_info(run or _newest(opened, with_summaries=True))
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
    out.print(f"Database  {_shown(store)}")
    for name, path in (("Plot", files.png), ("", files.svg), ("Numbers", files.csv), ("", files.json)):
        if path is not None:
            out.print(f"{name:<9} {path}")


@app.command()
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

    with _reading(store) as opened, opened.query(sql) as answer:
        if as_json:
            print(json.dumps(rows_view.as_objects(answer.columns, answer.rows), default=str, allow_nan=False))
        else:
            rows_view.print_rows(answer.columns, answer.rows, out)


@app.command()
def score(
    file: Annotated[
        Path,
        typer.Argument(
            help="JSONL, CSV or Parquet with the fields prediction, reference (or references, a list), and if wanted "
            "source and id."
        ),
    ],
    metrics: Annotated[
        str, typer.Option("--metrics", "-m", help="Names with commas between them; docs/metrics.md explains them.")
    ] = "rouge1,rouge2,rougeL",
    stemmer: Annotated[bool, typer.Option("--stemmer", help="ROUGE compares Porter stems (English only).")] = False,
    references: Annotated[
        Literal["best", "mean"], typer.Option(help="Of several references the best one counts, or their mean.")
    ] = "best",
    lang: Annotated[str, typer.Option(help="Language of the texts: en or ko.")] = "en",
    tokenizer: Annotated[
        str | None, typer.Option(help="rouge_score (default for en), kiwi (default for ko), mecab, okt, or char.")
    ] = None,
    bertscore_model: Annotated[
        str, typer.Option(help="Backbone of BERTScore: a known name, a folder, or a Hub id.")
    ] = "all-MiniLM-L6-v2",
    bertscore_layer: Annotated[
        int | None, typer.Option(min=1, help="Its layer; default: the one tuned for that backbone.")
    ] = None,
    per_row: Annotated[
        Path | None, typer.Option("--per-row", help="Write the scores of each row to this JSONL file.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap intervals.")] = 0,
    as_json: Json = False,
) -> None:
    """Score predictions against their references: ROUGE, BLEU, METEOR, BERTScore and more, with 95 % intervals."""
    from core.metrics.registry import Options
    from core.text.wordnet import HOW_TO_INSTALL, find_wordnet
    from jobs import score as scores
    from jobs.score_view import print_score

    options = Options(stemmer, references, lang, tokenizer, bertscore_model, bertscore_layer)
    if per_row is not None:
        scores.check_output(per_row, file)
    names = [name.strip() for name in metrics.split(",") if name.strip()]
    found = scores.score_file(file, names, options, seed)
    if "meteor" in names and lang == "en" and find_wordnet() is None:
        err.print(f"METEOR matched no synonyms, for want of WordNet: {HOW_TO_INSTALL}.")
    if per_row is not None:
        scores.write_rows(per_row, found)
    print(json.dumps(found.as_dict())) if as_json else print_score(found, out)


@app.command()
def doctor(store: Store = DEFAULT_STORE, as_json: Json = False) -> None:
    """Check this machine: libraries, models, spaCy pipelines, Ray, accelerators, store. Exit 1 if one is broken."""
    from jobs import doctor as checks

    found = checks.check_all(store)
    if as_json:
        print(json.dumps([check.as_dict() for check in found]))
    else:
        checks.print_checks(found, out)
    if any(check.state == "broken" for check in found):
        raise typer.Exit(1)


@db_app.command("upgrade")
def db_upgrade(store: Store = DEFAULT_STORE) -> None:
    """Bring the store's schema up to date; creates it where there is none."""
    from jobs.store import upgrade_schema

    before, now = upgrade_schema(store)
    out.print(f"{_shown(store)}: schema {before or 'none'} -> {now}" if before != now else f"{_shown(store)}: {now}")


@db_app.command("current")
def db_current(store: Store = DEFAULT_STORE) -> None:
    """Print the store's schema revision, and whether this code needs another. Exit 1 if it does."""
    from jobs.store import current_revision, head_revision

    current, head = current_revision(store), head_revision()
    verdict = "up to date" if current == head else f"this code needs {head}: nws db upgrade{_store_flag(store)}"
    out.print(f"{_shown(store)}: {current or 'no schema'} ({verdict})")
    if current != head:
        raise typer.Exit(1)


@contextmanager
def _reading(url: str) -> Iterator[Any]:
    from jobs.store import open_store

    with open_store(url, read_only=True) as opened:
        yield opened


def _newest(opened: Any, with_summaries: bool = False) -> str:
    from core.errors import StoreError

    runs = [run for run in opened.list_runs() if run.summaries or not with_summaries]
    if not runs:
        what = "run with summaries" if with_summaries else "run"
        raise StoreError(f"the store {opened.shown_url} holds no {what} yet. Start one with: nws submit phase1")
    return str(runs[0].id)


if __name__ == "__main__":
    main()
