"""`nws judge`: a language model behind an endpoint scores the summaries of a file."""

import json
import re
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
    from jobs.tools.judged_file import Judging


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
    from core.metrics.judge import DEFAULT_PROMPT, make_judge
    from jobs.tools.judged_file import Judging, open_replies, print_dry, read_prompt, read_replies, read_texts

    if how.output.suffix != ".jsonl" or how.output.name.endswith(".replies.jsonl"):
        raise RecipeError(f"-o {how.output}: name a file that ends in .jsonl, and not in .replies.jsonl.")
    check_target("-o", how.output, file)
    prompt = DEFAULT_PROMPT if how.prompt is None else read_prompt(how.prompt)
    judge = make_judge(how.model, None, prompt, _scale(how.scale), how.seed, how.concurrency)
    with busy(f"Reading {file}"):
        texts = read_texts(file, judge, how.limit)
    path = how.output.with_suffix(".replies.jsonl")
    if how.dry_run:
        replies = read_replies(path.read_bytes()) if path.is_file() else {}
        print_dry(Judging(judge, texts, replies), path, as_json, PrintableConsole())
        return
    with open_replies(path) as (replies, to_add):
        judging = Judging(judge, texts, replies)
        try:
            with busy(f"Asking {how.model}"):
                judging.ask(to_add)
        except KeyboardInterrupt:
            err.print(f"Interrupted. The replies that came are in {path}: the same command goes on from there.")
            raise typer.Exit(130) from None
    _write_and_print(judging, how.output, path, as_json)


def _scale(text: str) -> tuple[int, int]:
    match = re.fullmatch(r" *([0-9]{1,4}) *, *([0-9]{1,4}) *", text)
    if match is None:
        raise RecipeError(f"a scale is two whole numbers such as 1,5, not {text!r}.", settings=("scale",))
    return int(match[1]), int(match[2])


def _write_and_print(judging: "Judging", output: Path, replies: Path, as_json: bool) -> None:
    """Write the file of summaries, and print what was said of them; exits with 1 where requests have failed."""
    from jobs.tools.judged_file import print_judged

    rows = judging.rows()
    write_json_lines("-o", output, rows)
    if as_json:
        numbers = {**judging.summary(), "sent": judging.added, "files": [str(output), str(replies)]}
        print(json.dumps(numbers, allow_nan=False))
    else:
        print_judged(judging, output, PrintableConsole())
    if judging.errors:
        err.print(f"{counted(len(judging.errors), 'request')} got no reply. The first: {judging.errors[0]}")
        raise typer.Exit(1)
    if not rows:
        raise NwsError(f"No reply holds a score. See what {judging.judge.endpoint.model} has written: {replies}")
    err.print(f"{counted(judging.added, 'reply')} came now, and all are in {replies}. The summaries are in {output}.")
