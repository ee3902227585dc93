"""`nws keysentences`: keywords and key sentences of a file of Korean texts."""

import json
from pathlib import Path
from typing import Annotated

import typer

from jobs.commands.options import Json
from jobs.commands.shared import err, out
from jobs.terminal.busy import busy


def keysentences(
    file: Annotated[
        Path, typer.Argument(help="UTF-8 text, one document (a sentence, a comment) a line; a tab ends the document.")
    ],
    top: Annotated[int, typer.Option(metavar="N", help="How many keywords and how many sentences to print.")] = 30,
    stopwords: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|WORDS",
            help="Words that are no keywords: a file with one word a line, or words with commas between them.",
        ),
    ] = None,
    diversity: Annotated[
        float,
        typer.Option(metavar="DISTANCE", help="The least cosine distance between two key sentences, from 0 to 1."),
    ] = 0.7,
    as_json: Json = False,
) -> None:
    """Find keywords and key sentences of Korean texts.

    Those of KR-WordRank beside those of TextRank, with their recall.
    """
    from core.summarizers.korean_key_sentences import check_selection
    from jobs.keysentences import compute
    from jobs.keysentences.show import print_key_sentences

    check_selection(top, diversity)
    without = compute.read_stopwords(stopwords) if stopwords is not None else frozenset()
    documents = compute.read_documents(file)
    err.print(f"{file}: {len(documents)} documents", markup=False)
    with busy("Finding keywords and sentences"):
        result = compute.find_key_sentences(documents, top, without, diversity)
    print(json.dumps(result.as_dict())) if as_json else print_key_sentences(result, out)
