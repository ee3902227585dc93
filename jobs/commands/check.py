"""`nws check`: describe a file of articles before a run."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from nws.jobs.commands.options import Json, grouped, plain
from nws.jobs.commands.shared import err
from nws.jobs.report.console import PrintableConsole, busy


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Options of `nws check`."""

    predictions: Path | None = plain("--predictions FILE", "File with what systems wrote for these articles, by id.")
    train: str | None = plain(
        "--train FILE", "Articles that a model was trained on, to find those that are in both files."
    )
    split: str = plain("--split NAME", "Split of a dataset with several splits.", "test")
    text_field: str | None = plain("--text-field NAME", "Field with the text, if its name is unusual.")
    reference_field: str | None = plain("--reference-field NAME", "Field with the references, if its name is unusual.")
    key_field: str | None = plain("--key-field NAME", "Field with the ids, if its name is unusual.")
    clean_texts: str = plain(
        "--clean-texts KINDS", "What to remove from texts first: html, marks, ptb, separated by commas.", ""
    )


@grouped
def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Articles: a file of rows, or a folder.")],
    options: CheckOptions,
    as_json: Json = False,
) -> None:
    """Show what is in a file of articles.

    Prints lengths, extractiveness, languages and copies, and what the checks of the texts find. Loads no model.
    """
    from nws.core.text.dataset import Dataset
    from nws.jobs.drive.progress import run_progress
    from nws.jobs.tools.check_file import check_corpus, open_files, print_card

    fields = options.text_field, options.reference_field, options.key_field
    with busy(f"Reading {file}"):
        dataset = Dataset(file, options.split, False, 0, None, *fields, clean_texts=options.clean_texts)
        corpus, train = open_files(dataset, options.train)
    with run_progress(err, sum(opened.size or 0 for opened in (corpus, train) if opened is not None)) as advance:
        card = check_corpus(corpus, options.predictions, train, advance)
    print(json.dumps(card.as_dict())) if as_json else print_card(card, PrintableConsole())
