"""`nws judge`: a language model behind an endpoint scores summaries, or says which of two is better."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.errors import NwsError, RecipeError
from jobs.commands import complete
from jobs.commands.groups import grouped, plain
from jobs.commands.options import DEFAULT_STORE, Json, StoreUrl
from jobs.commands.shared import chosen_run, err, reading
from jobs.terminal.console import PrintableConsole, busy

if TYPE_CHECKING:
    from jobs.evaluate.judge import Plan
    from jobs.evaluate.judge_questions import Judge
    from jobs.evaluate.judge_texts import JudgedText
    from jobs.terminal.system_names import SystemNames


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Who judges what, and how."""

    model: str = plain("--model NAME", "The model that judges, as the endpoint names it.", ...)
    output: Path = plain(
        "--output -o FILE",
        "JSONL file for the summaries with their verdicts, replacing it. The replies are kept beside it, in "
        "NAME.replies.jsonl: the same command asks only for what is missing there.",
        ...,
    )
    n: int | None = plain("--n N", "Length of a run's summaries in words, 0: uncut. Default: its only one.", min=0)
    systems: list[str] | None = plain(
        "--system NAME", "Whose summaries. Repeatable. Default: all.", autocompletion=complete.systems
    )
    pairwise: bool = plain("--pairwise", "Ask which summary of two systems is better, in both orders.", False)
    repeats: int = plain(
        "--repeats K", "Ask each question so often, at temperature 1, and say how far the judge agrees.", 1, min=1
    )
    scale: str = plain("--scale LOW,HIGH", "Whole numbers from the worst score to the best.", "1,5")
    prompt: str | None = plain(
        "--prompt FILE|TEXT",
        "What the judge is told, with {article} and {summary}, and if wanted {low} and {high}; with --pairwise {a} and "
        "{b} in place of {summary}. Default: see docs/judge.md.",
    )
    limit: int | None = plain("--limit N", "Judge at most this many articles.", min=1)
    concurrency: int = plain("--concurrency N", "How many requests are under way at most.", 8, min=1)
    seed: int = plain("--seed N", "Seed that is sent with each request.", 0, min=0)
    dry_run: bool = plain("--dry-run", "Print how many requests and tokens it would take, and send nothing.", False)


@grouped
def judge(
    how: JudgeOptions,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN|FILE]",
            help="Run id; or JSONL, CSV or Parquet, one summary a row, with the fields system, document, source (the "
            "article) and prediction. Default: the newest run with summaries.",
            autocompletion=complete.runs,
        ),
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Ask a language model to judge summaries.

    It scores each, or says which of two is better, and is asked in both orders. The endpoint is that of OPENAI_BASE_URL
    and OPENAI_API_KEY.
    """
    from jobs.evaluate.judge import make_plan

    replies_path = _replies_beside(how.output)
    who = _judge(how)
    texts, names = _texts(how, source, store)
    plan = make_plan(who, texts)
    if how.dry_run:
        _print_dry(plan, replies_path, as_json)
        return
    _ask_and_print(how, plan, names, replies_path, as_json)


def _replies_beside(output: Path) -> Path:
    """Where the replies are kept.

    Raises:
        RecipeError: no such folder, or no such kind of file.
    """
    if output.suffix != ".jsonl" or output.name.endswith(".replies.jsonl"):
        raise RecipeError(f"-o {output}: name a file that ends in .jsonl, and not in .replies.jsonl.")
    if not output.resolve().parent.is_dir():
        raise RecipeError(f"-o {output}: there is no folder {output.parent}.")
    if output.is_dir():
        raise RecipeError(f"-o {output}: this is a folder; name a file in it.")
    return output.with_suffix(".replies.jsonl")


def _judge(how: JudgeOptions) -> "Judge":
    from core.summarizers.endpoint import Endpoint, default_url
    from jobs.evaluate.judge_questions import Judge, parse_scale, read_prompt

    endpoint = Endpoint(how.model, default_url(), concurrency=how.concurrency)
    return Judge(endpoint, read_prompt(how.prompt, how.pairwise), parse_scale(how.scale), how.seed, how.repeats)


def _texts(how: JudgeOptions, source: str | None, store: str) -> "tuple[list[JudgedText], SystemNames]":
    from core.text.files import is_data_file
    from jobs.evaluate.judge_texts import texts_of_file, texts_of_run
    from jobs.terminal.system_names import SystemNames, names_of

    systems = how.systems or []
    if source is not None and is_data_file(source):
        if how.n is not None:
            raise RecipeError("--n chooses summaries of a run; of a file, all rows are judged. Leave it out.")
        if how.output.exists() and Path(source).exists() and how.output.samefile(source):
            raise RecipeError(f"-o {how.output} is the file that is read: give it another name.")
        with busy(f"Reading {source}"):
            return texts_of_file(Path(source), systems, how.limit), SystemNames()
    with reading(store) as opened, busy("Reading summaries"):
        run = opened.run_info(chosen_run(opened, source, with_summaries=True))
        texts = texts_of_run(opened, run, how.n, systems, how.limit)
        return texts, names_of([run], opened.systems(run.id), None)


def _print_dry(plan: "Plan", path: Path, as_json: bool) -> None:
    from jobs.evaluate.judge_replies import open_replies
    from jobs.evaluate.printed_judge import print_dry, to_ask

    with open_replies(path, to_write=False) as replies:
        print(json.dumps(to_ask(plan, replies))) if as_json else print_dry(plan, replies, PrintableConsole())


def _ask_and_print(how: JudgeOptions, plan: "Plan", names: "SystemNames", path: Path, as_json: bool) -> None:
    """Ask what is missing, write the file, and print what was said; exits with 1 where requests have failed."""
    from jobs.evaluate.judge import ask
    from jobs.evaluate.judge_replies import open_replies
    from jobs.evaluate.judge_results import result, write_rows
    from jobs.evaluate.printed_judge import print_judged
    from jobs.terminal.numerals import counted

    with open_replies(path, to_write=True) as replies:
        try:
            with busy(f"Asking {how.model}", so_far=lambda: f", {counted(replies.added, 'reply')}"):
                errors = ask(plan, replies)
        except KeyboardInterrupt:
            err.print(f"Interrupted. The replies that came are in {path}: the same command goes on from there.")
            raise typer.Exit(130) from None
        found = result(plan, replies)
    write_rows(how.output, found.rows)
    if as_json:
        print(
            json.dumps(
                {**found.as_dict(), "sent": replies.added, "files": [str(how.output), str(path)]}, allow_nan=False
            )
        )
    else:
        print_judged(found, names, how.output, PrintableConsole())
    if errors:
        err.print(f"{counted(len(errors), 'request')} got no reply. The first: {errors[0]}")
        raise typer.Exit(1)
    if not found.rows:
        raise NwsError(f"No reply holds a verdict. See what {how.model} has written: {path}")
    err.print(f"{counted(replies.added, 'reply')} came now, and all are in {path}. The summaries are in {how.output}.")
