"""`nws write`: a summary of every article of a file, by any system."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from core.errors import NwsError, RecipeError
from jobs.commands.groups import grouped, plain
from jobs.commands.options import Json
from jobs.commands.shared import err
from jobs.terminal.console import busy


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """What writes, how long, and where to."""

    system: str | None = plain(
        "--system NAME", "A baseline or a generator: lexrank, smollm2, a folder, a Hub id, openai:MODEL."
    )
    n: str | None = plain("--n N,N", "At most so many words, e.g. 9 or 7,9.")
    max_chars: str | None = plain("--max-chars N,N", "In place of --n: at most so many characters, and whole words.")
    prompt: str | None = plain("--prompt TEXT", "What a generator is asked for, with {article} and {n}.")
    output: Path | None = plain(
        "--output -o FILE", "File to which a line of JSON is added for each summary; default: stdout."
    )
    text_field: str | None = plain("--text-field NAME", "Field with the text, where the usual ones do not fit.")
    key_field: str | None = plain("--key-field NAME", "Field with the key; default: id, key, fname, or the row.")


@grouped
def write(
    file: Annotated[Path, typer.Argument(help="Articles: JSONL, JSON, CSV, TSV (also packed) or Parquet.")],
    asked: WriteOptions,
    as_json: Json = False,
) -> None:
    """Write a summary of every article of a file.

    Articles need no reference, and nothing is scored. A command that was stopped may be repeated with the same -o: what
    is there already is not written again.
    """
    if (asked.n is None) == (asked.max_chars is None):
        raise RecipeError("Say how long summaries may be: --n (words) or --max-chars (characters), one of them.")
    if not asked.system:
        raise RecipeError("Say what writes: --system lexrank, or smollm2, or another one (docs/baselines.md).")
    if as_json and asked.output is None:
        raise RecipeError("Summaries go to stdout as JSON themselves: leave --json out, or give -o FILE.")

    from jobs.drive.progress import run_progress
    from jobs.drive.write_file import FieldNames, WrittenFile, added_to, language_of, read_articles, write_summaries
    from jobs.recipes.load import load_recipe
    from jobs.recipes.sweep_plan import stage_to_write
    from jobs.recipes.sweep_recipe import BaselinesRecipe
    from jobs.terminal.numerals import counted

    given = {"systems": [asked.system], "n": asked.n, "max_chars": asked.max_chars, "prompt": asked.prompt}
    with busy("Reading articles, and looking up models"):
        articles = read_articles(file, FieldNames(asked.text_field, asked.key_field))
        recipe = load_recipe(BaselinesRecipe, "sample", {key: value for key, value in given.items() if value})
        stage = stage_to_write(recipe, language_of(articles))
    written = WrittenFile(0, 0, 0, 0, ())
    with added_to(asked.output) as (out, there), run_progress(err, len(articles)) as advance:
        shown = 0
        for written in write_summaries(articles, stage, out, there):
            advance(written.articles - shown, 0)
            shown = written.articles
    if as_json:
        counts = {"summaries": written.summaries, "articles": written.now, "there": written.there}
        counts["others"] = written.others
        print(json.dumps({"file": str(asked.output), **counts, "failures": dict(written.failures)}))
    elif asked.output is not None:
        again = f" {counted(written.there, 'article')} had theirs already." if written.there else ""
        has = f" It has {counted(written.others, 'line')} of other articles, systems, lengths or code, too."
        others = has if written.others else ""
        err.print(f"{counted(written.summaries, 'summary')} added to {asked.output}.{again}{others}", markup=False)
    for article, why in written.failures[:3]:
        err.print(f"No summary of {article!r}: {why}", markup=False)
    if written.failures:
        raise NwsError(f"{counted(len(written.failures), 'article')} of {len(articles)} could not be summarised.")
