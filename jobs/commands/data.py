"""`nws data`: a dataset of the Hub as a file of articles."""

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from jobs.commands.options import Json
from jobs.commands.shared import out
from jobs.terminal.busy import busy
from jobs.terminal.numerals import counted


def data(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="cnn_dailymail, xsum, gigaword, or a Hub id: organisation/name[:configuration][@revision].",
        ),
    ],
    limit: Annotated[int | None, typer.Option(metavar="N", min=1, help="How many articles; default: all.")] = None,
    skip: Annotated[int, typer.Option(metavar="N", min=0, help="How many to leave out first.")] = 0,
    split: Annotated[str, typer.Option(metavar="NAME", help="Split of the dataset.")] = "test",
    target: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="JSONL file, which is replaced; default: NAME.jsonl."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write articles of a Hub dataset to a file.

    Each row has a key, the text, and its references. The dataset's licence is printed, as its card names it.
    """
    from core.hub_cache import read_card
    from core.text.corpus import DatasetSpec, open_corpus
    from core.text.corpus_file import write_articles

    file = target or Path(f"{name.partition('@')[0].partition(':')[0].rpartition('/')[2]}.jsonl")
    with busy("Reading articles"):
        corpus = open_corpus(DatasetSpec(name, split, streaming=True, skip=skip, limit=limit))
        count = write_articles(corpus, file)
        card = read_card(corpus.name, corpus.revision, "dataset") if corpus.is_of_hub else None
    license = None if card is None else card.license
    if as_json:
        made = {"dataset": corpus.pinned_name, "split": corpus.split, "revision": corpus.revision}
        print(json.dumps({"file": str(file), "articles": count, **made, "license": license}))
        return
    out.print(f"{counted(count, 'article')} of {corpus.pinned_name} ({corpus.split}) in {file}", markup=False)
    if corpus.is_of_hub:
        said = f"Licence, as its card says: {license}." if license else "Its card names no licence, or cannot be read."
        out.print(f"{said} See https://huggingface.co/datasets/{corpus.name}", markup=False)
    out.print(f"Next: nws submit phase1 --dataset {shlex.quote(str(file))}", markup=False)
