"""Articles from Python objects, as a corpus: rows as dicts, a frame, a dataset, or the path of a file."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from core.errors import CorpusError
from core.text.corpus import Corpus, DatasetSpec, corpus_of_rows, open_corpus

NAME = "articles"
"""Of the dataset that such articles are in."""
_ACCEPTED = "a list of dicts, a frame (pandas, polars or Arrow), a datasets.Dataset, or the path of a file"


def corpus_of(articles: object, spec: DatasetSpec) -> Corpus:
    """The corpus in `articles`, which are read once, now; its revision is the SHA-256 of its rows.

    Args:
        articles: rows as dicts in any iterable, whatever hands out its columns through Arrow, or the name of a dataset
            as `--dataset` takes it, such as the path of a file.
        spec: which fields to read.

    Raises:
        CorpusError: `articles` is something else or empty, or a row holds no article (named by its number from 1).
    """
    if isinstance(articles, str | Path):
        return open_corpus(replace(spec, name=str(articles), split="test"))
    rows = _rows(articles)
    if not rows:
        raise CorpusError("There is no article: `articles` is empty.")
    content = json.dumps(rows, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
    return corpus_of_rows(rows, NAME, NAME, f"sha256:{hashlib.sha256(content).hexdigest()}", spec)


def _rows(articles: object) -> Sequence[Mapping[str, Any]]:
    if hasattr(articles, "__arrow_c_stream__"):  # missing values become None, and arrays lists
        return _arrow_rows(articles)
    if isinstance(articles, Mapping):
        kind, keys = type(articles).__name__, ", ".join(map(repr, articles))
        raise CorpusError(f"Articles are {_ACCEPTED}, not a {kind} with {keys}. Of several splits, pass one.")
    if not isinstance(articles, Iterable):
        raise CorpusError(f"Articles are {_ACCEPTED}, not {type(articles).__name__}.")
    rows = list(articles)
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise CorpusError(f"{NAME}, row {number}: a row must be a dict, not {type(row).__name__}.")
    return rows


def _arrow_rows(frame: object) -> list[dict[str, Any]]:
    try:
        rows: list[dict[str, Any]] = pa.table(frame).to_pylist()
    except pa.ArrowException as error:
        raise CorpusError(f"The frame of articles cannot be read: {error}.") from error
    return rows
