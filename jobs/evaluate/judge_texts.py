"""The summaries that a judge reads: those of a run at one n, or those of a file, each with its other scores."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from core.errors import CorpusError, RecipeError, StoreError
from core.metrics.specs import BY_COLUMN
from core.summarizers.systems import UNCUT
from core.text.files import read_rows
from core.text.rows import cleaned
from jobs.store import ArticleTexts, RunInfo, Store
from jobs.terminal.metrics import chosen_metrics_of
from jobs.terminal.system_names import names_of

SYSTEM, DOCUMENT, SOURCE, PREDICTION = "system", "document", "source", "prediction"
"""The fields of a file: those of `nws correlate`, and those of `nws score`."""
OF_JUDGE = "judge"
"""What the names of the fields that a judge adds begin with."""
_ARTICLES_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class JudgedText:
    """A summary, its article, and the fields that stand beside the judge's, among them all scores that it has."""

    system: str
    document: str
    article: str
    summary: str
    fields: Mapping[str, Any]


def texts_of_run(
    store: Store, run: RunInfo, n: int | None, systems: Sequence[str], limit: int | None
) -> list[JudgedText]:
    """The summaries of a run at one n, by article and system.

    Args:
        store: where the run is.
        run: which has summaries.
        n: of words, 0 for uncut; None if the run has summaries at one n only.
        systems: names, or parts of one; all if there is none.
        limit: how many articles at most: those with the smallest ids, which are hashes.

    Raises:
        RecipeError: no such system, or no n where there are several.
        StoreError: there is no summary of them.
    """
    kinds = store.systems(run.id)
    names, where = names_of([run], kinds, None), f"run {run.id}"
    chosen = list(dict.fromkeys(names.find(name, sorted(kinds), where) for name in systems)) or sorted(kinds)
    n = _only_length(store, run, chosen) if n is None else n
    columns = (*BY_COLUMN, *chosen_metrics_of(run))
    found = _of_articles(store, run, n, chosen)
    texts = [
        _of_run(run, article, summary, columns)
        for article, of_article in islice(found, limit)
        for summary in of_article
    ]
    if not texts:
        lengths = sorted({length for system in chosen for length in store.lengths(run.id, system)})
        raise StoreError(
            f"Run {run.id} has no summaries by {', '.join(chosen)} at n = {n}. There are some at n = "
            f"{', '.join(map(str, lengths)) or 'none'}. (0: uncut)"
        )
    return texts


def _only_length(store: Store, run: RunInfo, systems: Sequence[str]) -> int:
    lengths = sorted({n for system in systems for n in store.lengths(run.id, system) if n != UNCUT})
    if len(lengths) != 1:
        told = ", ".join(map(str, lengths)) or "0 (uncut)"
        raise RecipeError(f"Which summaries of run {run.id}? It has some of n = {told}: name one.", settings=("n",))
    return lengths[0]


def _of_articles(
    store: Store, run: RunInfo, n: int, systems: Sequence[str]
) -> Iterator[tuple[ArticleTexts, list[Mapping[str, Any]]]]:
    """Each article with its summaries by these systems, in their order; only those that have one."""
    ids = list(store.finished_article_ids(run.id))
    for start in range(0, len(ids), _ARTICLES_AT_ONCE):
        for article in store.article_texts(run.id, ids[start : start + _ARTICLES_AT_ONCE]):
            at_n = {summary["system"]: summary for summary in article.summaries if summary["n"] == n}
            if wanted := [at_n[system] for system in systems if system in at_n]:
                yield article, wanted


def _of_run(run: RunInfo, article: ArticleTexts, summary: Mapping[str, Any], columns: Sequence[str]) -> JudgedText:
    fields = {
        **{SYSTEM: summary["system"], DOCUMENT: article.id, "run": run.id, "dataset": article.dataset},
        **{"key": article.key, "n": summary["n"], SOURCE: article.text, PREDICTION: summary["text"]},
        **{name: value for name in columns if (value := summary.get(name)) is not None},
    }
    return JudgedText(summary["system"], article.id, article.text, summary["text"], fields)


def texts_of_file(path: Path, systems: Sequence[str], limit: int | None) -> list[JudgedText]:
    """The rows of a JSONL, CSV or Parquet file with the fields `system`, `document`, `source` and `prediction`.

    They come by document and system, in the order of the file, or of the systems that are named.

    Args:
        path: the file.
        systems: whose rows; all if there is none.
        limit: how many documents at most, the first of the file.

    Raises:
        CorpusError: a row is malformed or there twice (named by its line), or there is none.
        RecipeError: no such system, or a field has a name that is the judge's.
    """
    texts: dict[tuple[str, str], JudgedText] = {}
    documents: dict[str, None] = {}
    every: dict[str, None] = {}
    for where, row in read_rows(path, lambda names: names):
        try:
            text = _of_row(row)
        except CorpusError as error:
            raise CorpusError(f"{path}, {where}: {error}") from error
        if (text.system, text.document) in texts:
            raise CorpusError(f"{path}, {where}: system {text.system!r} has document {text.document!r} already.")
        every[text.system] = None
        if systems and text.system not in systems:
            continue
        documents[text.document] = None
        if limit is None or len(documents) <= limit:
            texts[text.system, text.document] = text
    if missing := [name for name in systems if name not in every]:
        raise RecipeError(f"{path} has no system {missing[0]!r}; it has {', '.join(every)}.", settings=("systems",))
    if not texts:
        raise CorpusError(f"{path} holds no row.")
    places = list(systems or every)
    order = dict(zip(documents, range(len(documents)), strict=True))
    return sorted(texts.values(), key=lambda text: (order[text.document], places.index(text.system)))


def _of_row(row: Mapping[str, object]) -> JudgedText:
    if taken := [name for name in row if name == OF_JUDGE or name.startswith(f"{OF_JUDGE}_")]:
        raise RecipeError(f"The field {taken[0]!r} is the judge's own, and there already: rename it in the file.")
    texts = {name: _text(row, name) for name in (SYSTEM, DOCUMENT, SOURCE, PREDICTION)}
    fields = {name: _value(value) for name, value in row.items()}
    return JudgedText(texts[SYSTEM], texts[DOCUMENT], texts[SOURCE], texts[PREDICTION], {**fields, **texts})


def _text(row: Mapping[str, object], field: str) -> str:
    if field not in row:
        raise CorpusError(f"Field {field!r} is missing; the fields are: {', '.join(map(str, row)) or '(none)'}.")
    value = row[field]
    is_name = field in (SYSTEM, DOCUMENT)
    if isinstance(value, bool) or not isinstance(value, str | int if is_name else str) or (is_name and value == ""):
        wanted = "text or a whole number" if is_name else "text"
        raise CorpusError(f"Field {field!r} holds {type(value).__name__}, not {wanted}.")
    return cleaned(str(value))


def _value(value: object) -> object:
    """As JSON has it: no number that is not finite, and text for what JSON does not know."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, bool | int | str | list | dict | None) else str(value)
