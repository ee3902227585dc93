"""`nws judge`: a language model behind an endpoint scores the summaries of a file."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.errors import NwsError, RecipeError
from core.whole_files import check_target, write_json_lines
from jobs.commands.options import Json, grouped, plain
from jobs.commands.shared import err
from jobs.report.console import PrintableConsole, busy
from jobs.report.numerals import counted

if TYPE_CHECKING:
    from jobs.tools.judge_replies import Judging


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Who judges what, and how."""

    model: str = plain("--model NAME", "The model that judges, as the endpoint names it.", ...)
    output: Path = plain(
        "--out -o FILE",
        "JSONL file for the summaries with their scores, replacing it. The replies are kept beside it, in "
        "NAME.replies.jsonl: the same command asks only for what is missing there.",
        ...,
    )
    scale: str = plain("--scale LOW,HIGH", "Whole numbers from the worst score to the best.", "1,5")
    prompt: str | None = plain(
        "--prompt FILE|TEXT",
        "What the judge is told: {summary}, and if wanted {article}, {low} and {high}. Default: see docs/judge.md.",
    )
    limit: int | None = plain("--limit N", "Judge at most this many articles.", min=1)
    concurrency: int = plain("--concurrency N", "How many requests are under way at most.", 8, min=1)
    seed: int = plain("--seed N", "Seed that is sent with each request.", 0, min=0)
    dry_run: bool = plain("--dry-run", "Print how many requests and tokens it would take, and send nothing.", False)


@grouped
def judge(
    how: JudgeOptions,
    file: Annotated[
        Path, typer.Argument(help="JSONL, CSV or Parquet with the fields system, document, source and prediction.")
    ],
    as_json: Json = False,
) -> None:
    """Ask a language model to score the summaries of a file.

    The endpoint is that of OPENAI_BASE_URL and OPENAI_API_KEY.
    """
    from core.models.endpoint import Endpoint, default_url
    from jobs.tools.judge_questions import Judge, parse_scale, read_prompt, read_texts
    from jobs.tools.judge_replies import Judging, open_replies
    from jobs.tools.judge_results import print_dry

    if how.output.suffix != ".jsonl" or how.output.name.endswith(".replies.jsonl"):
        raise RecipeError(f"-o {how.output}: name a file that ends in .jsonl, and not in .replies.jsonl.")
    check_target("-o", how.output, file)
    endpoint = Endpoint(how.model, default_url(), concurrency=how.concurrency)
    who = Judge(endpoint, read_prompt(how.prompt), parse_scale(how.scale), how.seed)
    with busy(f"Reading {file}"):
        texts = read_texts(file, who, how.limit)
    with open_replies(how.output.with_suffix(".replies.jsonl"), to_write=not how.dry_run) as replies:
        judging = Judging(who, texts, replies)
        if not how.dry_run:
            _ask(judging)
    if how.dry_run:
        print_dry(judging, as_json, PrintableConsole())
    else:
        _write_and_print(judging, how.output, as_json)


def _ask(judging: "Judging") -> None:
    replies = judging.replies
    try:
        with busy(f"Asking {judging.judge.endpoint.model}", so_far=lambda: f", {counted(replies.added, 'reply')}"):
            judging.ask()
    except KeyboardInterrupt:
        err.print(f"Interrupted. The replies that came are in {replies.path}: the same command goes on from there.")
        raise typer.Exit(130) from None


def _write_and_print(judging: "Judging", output: Path, as_json: bool) -> None:
    """Write the file of summaries, and print what was said of them; exits with 1 where requests have failed."""
    from jobs.tools.judge_results import judge_result, print_judged

    replies = judging.replies
    found = judge_result(judging)
    write_json_lines("-o", output, found.rows)
    if as_json:
        told = {**found.as_dict(), "sent": replies.added, "files": [str(output), str(replies.path)]}
        print(json.dumps(told, allow_nan=False))
    else:
        print_judged(found, output, PrintableConsole())
    if judging.errors:
        err.print(f"{counted(len(judging.errors), 'request')} got no reply. The first: {judging.errors[0]}")
        raise typer.Exit(1)
    if not found.rows:
        raise NwsError(f"No reply holds a score. See what {judging.judge.endpoint.model} has written: {replies.path}")
    came = f"{counted(replies.added, 'reply')} came now, and all are in {replies.path}."
    err.print(f"{came} The summaries are in {output}.")
