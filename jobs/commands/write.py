"""`nws write`: write a summary of every article of a file, by any system."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from nws.core.errors import NwsError, RecipeError
from nws.core.whole_files import check_target, write_json_lines
from nws.jobs.commands.options import PARAMETERS, Json, grouped, plain
from nws.jobs.commands.shared import err
from nws.jobs.report.console import busy


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Options of `nws write`."""

    system: str | None = plain(
        "--system NAME", "A baseline or a generator: lexrank, smollm2, a folder, a Hub id, openai:MODEL."
    )
    n: str | None = plain("--n N,N", "Maximum number of words, such as 9 or 7,9.")
    length: Literal["at_most", "exactly", "free"] = plain(
        "--length RULE",
        "How a generator meets n: at_most (the model ends its text), exactly, or free (longer texts are cut).",
        "at_most",
    )
    max_chars: str | None = plain("--max-chars N,N", "In place of --n: maximum number of characters. No word is cut.")
    prompt: str | None = plain("--prompt TEXT", "Prompt for a generator, with {article} and {n}.")
    output: Path | None = plain(
        "--out -o FILE", "JSONL file to which a line is added for each summary; default: stdout."
    )
    parameters: list[str] | None = plain(*PARAMETERS)
    drafts: int | None = plain(
        "--drafts N", "Number of further answers to ask an endpoint for when the first has the wrong length."
    )
    concurrency: int | None = plain("--concurrency N", "Maximum number of requests to an endpoint under way.", min=1)
    batch_out: Path | None = plain(
        "--batch-out FILE", "Write the requests of a batch to this JSONL file, and send nothing."
    )
    batch_in: Path | None = plain(
        "--batch-in FILE", "Read the answers of a batch from this JSONL file, and send nothing."
    )
    text_field: str | None = plain("--text-field NAME", "Field with the text, if its name is unusual.")
    key_field: str | None = plain("--key-field NAME", "Field with the key; default: id, key, fname, or the row.")


@grouped
def write(
    file: Annotated[Path, typer.Argument(help="Articles: JSONL, JSON, CSV, TSV (also compressed) or Parquet.")],
    options: WriteOptions,
    as_json: Json = False,
) -> None:
    """Write a summary of every article of a file.

    Articles need no reference, and nothing is scored. To continue a command that was stopped, repeat it with the same
    -o: it skips the summaries that the file already has.
    """
    if (options.n is None) == (options.max_chars is None):
        raise RecipeError("Give the length of summaries: either --n (words) or --max-chars (characters).")
    if not options.system:
        raise RecipeError("Name the system that writes: --system lexrank, smollm2 or another one (docs/baselines.md).")
    if as_json and options.output is None and options.batch_out is None:
        raise RecipeError("Summaries already go to stdout as JSON. Leave --json out, or give -o FILE.")
    if options.batch_out is not None:
        if options.output is not None or options.batch_in is not None:
            raise RecipeError("--batch-out writes no summaries. Give -o and --batch-in once the answers are there.")
        check_target("--batch-out", options.batch_out, file)

    from nws.core.text.checks.all_checks import LOOKED_AT, check_rows
    from nws.core.text.checks.finding import CheckedRow, Context
    from nws.core.text.language import common_language
    from nws.jobs.drive.batch_file import BatchAnswers, batch_requests
    from nws.jobs.drive.progress import run_progress
    from nws.jobs.drive.write_file import open_for_adding, read_articles, write_summaries
    from nws.jobs.recipes.load import load_recipe, parse_settings
    from nws.jobs.recipes.sweep_plan import stage_to_write
    from nws.jobs.recipes.sweep_recipe import BaselinesRecipe
    from nws.jobs.report.numerals import counted
    from nws.jobs.report.warnings import print_findings

    settings = {name: getattr(options, name) for name in ("n", "max_chars", "prompt", "length")}
    settings |= {"systems": [options.system]}
    settings |= {"endpoint.parameters": parse_settings(options.parameters or (), "--parameters")}
    with busy("Reading articles, and looking up models"):
        articles = read_articles(file, options.text_field, options.key_field)
        given = {key: value for key, value in settings.items() if value}
        of_endpoint = {"endpoint.drafts": options.drafts, "endpoint.concurrency": options.concurrency}
        given |= {key: value for key, value in of_endpoint.items() if value is not None}
        recipe = load_recipe(BaselinesRecipe, "sample", given)
        language = common_language(articles)
        stage = stage_to_write(recipe, language)
    rows = (CheckedRow(article.key, article.text) for article in articles[:LOOKED_AT])
    print_findings(check_rows(rows, file.name, Context(language, every=40), part="articles"), err)
    if stage.generator is None and (options.prompt or options.length != "at_most"):
        raise RecipeError(f"--prompt and --length are for models that generate text. {options.system} selects words.")
    if options.batch_out is not None:
        count = write_json_lines("--batch-out", options.batch_out, batch_requests(articles, stage))
        asked = f"{counted(count, 'request')} for {counted(len(articles), 'article')} written to {options.batch_out}."
        print(json.dumps({"file": str(options.batch_out), "requests": count})) if as_json else err.print(asked)
        return
    answers = None if options.batch_in is None else BatchAnswers(options.batch_in, articles, stage)
    each = len(stage.lengths)
    with open_for_adding(options.output) as (out, there):
        states = write_summaries(articles, stage, out, options.output, there, answers, err.print)
        written = next(states)
        with run_progress(err, len(articles) * each, done=written.already_written * each, unit="texts") as advance:
            try:
                for state in states:
                    failed = len(state.failures) - len(written.failures)
                    advance((state.articles_now - written.articles_now) * each, failed * each)
                    written = state
            except KeyboardInterrupt:
                if options.output is not None:
                    err.print(f"Interrupted. {options.output} has the summaries so far. To go on, repeat the command.")
                raise
    done = written.already_written
    if as_json:
        counts = {"summaries": written.summaries, "articles": written.articles_now, "already_written": done}
        counts["other_lines"] = written.other_lines
        print(json.dumps({"file": str(options.output), **counts, "failures": dict(written.failures)}))
    elif options.output is not None:
        again = f" {counted(done, 'article')} had summaries already." if done else ""
        others = f" {counted(written.other_lines, 'line')} of other articles, systems, lengths or code were kept."
        others *= written.other_lines > 0
        err.print(f"{counted(written.summaries, 'summary')} added to {options.output}.{again}{others}")
    if written.cut:
        share = f"{len(written.cut)} of {counted(written.summaries, 'summary')}"
        why = "because no text of the system ended within n"
        err.print(f"Warning: {share} were cut, such as that of {written.cut[0]!r}, {why}.")
    for article, why in written.failures[:3]:
        err.print(f"No summary of {article!r}: {why}")
    if written.failures:
        raise NwsError(f"{counted(len(written.failures), 'article')} of {len(articles)} could not be summarised.")
