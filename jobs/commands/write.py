"""`nws summarize`: one text by trained policies; `nws write`: a file by any system."""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from core.errors import NwsError, RecipeError
from jobs.commands.options import DEFAULT_STORE, POLICY, Json, StoreUrl, grouped, plain
from jobs.commands.shared import choose_policies, err, out
from jobs.report.console import busy


@dataclass(frozen=True, slots=True)
class SummarizeOptions:
    """Options of `nws summarize`."""

    run: str | None = plain("--run RUN", "Run of `nws submit phase2`, as `nws ls` lists it; default: the newest.")
    n: str | None = plain("--n N,N", "Words, e.g. 9 or 7,9; default: those the policies were trained for.")
    max_chars: str | None = plain(
        "--max-chars N,N", "In place of --n: at most so many characters, and whole words, e.g. 50."
    )
    system: str | None = plain(*POLICY)


@grouped
def summarize(
    options: SummarizeOptions,
    text: Annotated[
        str | None, typer.Argument(help="A text, or a UTF-8 file that holds one; default, and `-`: stdin.")
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Summarize one text with trained policies.

    It needs neither Ray nor a reference.
    """
    if options.n is not None and options.max_chars is not None:
        raise RecipeError("Give --n (words) or --max-chars (characters), not both.")
    from core.text.length import LengthUnit, count_characters, parse_lengths

    typed, setting = (options.n, "n") if options.max_chars is None else (options.max_chars, "max_chars")
    lengths = None if typed is None else parse_lengths(typed, setting)
    if lengths is not None and min(lengths) < 1:
        raise RecipeError(f"Lengths must be 1 or more, not {min(lengths)}.", settings=(setting,))
    content = _read(text)

    from core.learning.writer import PolicyWriter
    from core.text.words import count_words
    from jobs.report.warnings import warn_of_texts

    chosen = choose_policies(store, options.run, options.system)
    unit: LengthUnit = "characters" if options.max_chars else "words" if options.n else chosen.length_unit
    lengths = lengths or sorted(chosen.checkpoints)
    if unit == chosen.length_unit and (
        untrained := [str(length) for length in lengths if length not in chosen.checkpoints]
    ):
        trained = ", ".join(map(str, sorted(chosen.checkpoints)))
        err.print(f"{chosen.signature} was trained for n = {trained}, not for {', '.join(untrained)}.")
    language = next(iter(chosen.checkpoints.values())).reading.language
    warn_of_texts("text", [content], language, err)
    with busy("Loading models, and writing"):
        texts = PolicyWriter(chosen).write(content, lengths, unit)
    summaries = [
        {"n": length, "words": count_words(summary), "characters": count_characters(summary), "text": summary}
        for length, summary in zip(lengths, texts, strict=True)
    ]
    if as_json:
        made_by = next(iter(chosen.checkpoints.values())).made_by
        print(json.dumps({"system": chosen.signature, "made_by": made_by, "unit": unit, "summaries": summaries}))
        return
    for summary in summaries:
        label = f"{summary['n']:>3}  " if len(summaries) > 1 else ""
        out.print(label + str(summary["text"]))


def _read(text: str | None) -> str:
    """The text to summarize: the argument, the content of a file, or stdin.

    Raises:
        RecipeError: there is none, it is not UTF-8, or it looks like the name of a file that does not exist.
    """
    try:
        if text is None or text == "-":
            if sys.stdin.isatty():
                err.print("Reading the text from the terminal, until Ctrl-D …")
            return sys.stdin.buffer.read().decode("utf-8")
        if os.path.isfile(text):
            return Path(text).read_text(encoding="utf-8")
        text.encode("utf-8")  # half a surrogate pair stands for a byte that was none
    except (OSError, UnicodeError) as error:
        raise RecipeError(f"What is to be summarized cannot be read as UTF-8 text: {error}.") from error
    if len(text.split()) == 1:
        raise RecipeError(f"There is no file {text!r}, and it is only one word.")
    return text


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Options of `nws write`."""

    system: str | None = plain(
        "--system NAME", "A baseline or a generator: lexrank, smollm2, a folder, a Hub id, openai:MODEL."
    )
    n: str | None = plain("--n N,N", "At most so many words, e.g. 9 or 7,9.")
    max_chars: str | None = plain("--max-chars N,N", "In place of --n: at most so many characters, and whole words.")
    prompt: str | None = plain("--prompt TEXT", "What a generator is asked for, with {article} and {n}.")
    output: Path | None = plain(
        "--out -o FILE", "File to which a line of JSON is added for each summary; default: stdout."
    )
    text_field: str | None = plain("--text-field NAME", "Field with the text, where the usual ones do not fit.")
    key_field: str | None = plain("--key-field NAME", "Field with the key; default: id, key, fname, or the row.")


@grouped
def write(
    file: Annotated[Path, typer.Argument(help="Articles: JSONL, JSON, CSV, TSV (also packed) or Parquet.")],
    options: WriteOptions,
    as_json: Json = False,
) -> None:
    """Write a summary of every article of a file.

    Articles need no reference, and nothing is scored. A command that was stopped may be repeated with the same -o: what
    is there already is not written again.
    """
    if (options.n is None) == (options.max_chars is None):
        raise RecipeError("Say how long summaries may be: --n (words) or --max-chars (characters), one of them.")
    if not options.system:
        raise RecipeError("Say what writes: --system lexrank, or smollm2, or another one (docs/baselines.md).")
    if as_json and options.output is None:
        raise RecipeError("Summaries go to stdout as JSON themselves: leave --json out, or give -o FILE.")

    from core.text.language import article_language
    from jobs.drive.progress import run_progress
    from jobs.drive.write_file import WrittenFile, added_to, read_articles, write_summaries
    from jobs.recipes.load import load_recipe
    from jobs.recipes.sweep_plan import stage_to_write
    from jobs.recipes.sweep_recipe import BaselinesRecipe
    from jobs.report.numerals import counted

    settings = {"systems": [options.system], "n": options.n, "max_chars": options.max_chars, "prompt": options.prompt}
    with busy("Reading articles, and looking up models"):
        articles = read_articles(file, options.text_field, options.key_field)
        recipe = load_recipe(BaselinesRecipe, "sample", {key: value for key, value in settings.items() if value})
        stage = stage_to_write(recipe, article_language(articles[0]))
    written = WrittenFile(0, 0, 0, 0, ())
    with added_to(options.output) as (out, there), run_progress(err, len(articles)) as advance:
        shown = 0
        for written in write_summaries(articles, stage, out, there):
            advance(written.articles - shown, 0)
            shown = written.articles
    if as_json:
        counts = {"summaries": written.summaries, "articles": written.now, "there": written.there}
        counts["others"] = written.others
        print(json.dumps({"file": str(options.output), **counts, "failures": dict(written.failures)}))
    elif options.output is not None:
        again = f" {counted(written.there, 'article')} had theirs already." if written.there else ""
        err.print(f"{counted(written.summaries, 'summary')} added to {options.output}.{again}")
    for article, why in written.failures[:3]:
        err.print(f"No summary of {article!r}: {why}")
    if written.failures:
        raise NwsError(f"{counted(len(written.failures), 'article')} of {len(articles)} could not be summarised.")
