"""The scores of a run's summaries, as the analysis reads them.

Rows are read in pieces that become arrays at once: as Python objects, two million of them would take gigabytes.
"""

import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from statistics import median
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, func, null, select

from core.analysis import METRICS, Metric, Points
from core.analysis.points import text_keys
from core.metrics.specs import BY_COLUMN
from core.text.length import length_of
from core.text.words import repeated_word_share
from core.types import CHOSEN_SCORES
from jobs.store.runs import length_unit_of, runs_with_rows
from jobs.store.score_columns import ABOUT, ROWS_OF_PART, TYPES, read_columns
from jobs.store.score_columns import METRICS as STORED
from jobs.store.tables import ArticleRow, RunRow, SummaryRow, SystemRow

ROWS_AT_ONCE = 2_000
REFERENCES = 1_000
"""Of so many articles of a dataset the references' length is read."""

Columns: TypeAlias = tuple[Sequence[Any], ...]


def read_points(
    connection: Connection,
    run_id: str,
    metrics: Sequence[Metric] | None,
    repeated_words: bool,
    only_systems: Sequence[str] | None = None,
    texts: bool = True,
    whole: str | None = None,
) -> Points:
    """The points of a run; without `texts`, which take most of the time, all are `NO_TEXT`.

    `whole` is a run whose columns are known to be whole, although `RunRow.means_kept` does not say so yet.
    """
    metrics = METRICS if metrics is None else metrics
    runs = runs_with_rows(connection, run_id)
    points = None if repeated_words else read_columns(connection, runs, metrics, texts, whole)
    if points is None:
        read = [_read_rows(connection, part, metrics, repeated_words, only_systems, texts) for part in runs]
        points = Points.together([part for part in read if len(part)]) if len(read) > 1 else read[0]
    elif only_systems is not None:
        wanted = np.array([system in only_systems for system in points.systems], dtype=np.bool_)
        points = points.take(wanted[points.system])
    kinds = _kinds(connection, run_id)
    return replace(
        points,
        kinds=tuple(kinds.get(name, "system") for name in points.systems),
        reference_lengths=_reference_lengths(connection, points),
    )


def _read_rows(
    connection: Connection,
    run_id: str,
    metrics: Sequence[Metric],
    repeated_words: bool,
    only_systems: Sequence[str] | None,
    texts: bool,
) -> Points:
    """The points of one run without shards, from its summaries."""
    systems: dict[str, int] = {}
    articles: dict[str, int] = {}
    pieces = [
        piece_columns(piece, systems, articles, repeated_words)
        for piece in read_pieces(connection, run_id, metrics, only_systems, texts)
    ]
    if not pieces:
        return Points.of(())
    system, article, n, words, text, *others = (np.concatenate(column) for column in zip(*pieces, strict=True))
    shares, scores = (others[0], others[1:]) if repeated_words else (None, others)
    datasets = read_datasets(connection, run_id)
    return Points(
        systems=tuple(systems),
        kinds=tuple(_kinds(connection, run_id).get(name, "system") for name in systems),
        articles=tuple((datasets[article_id], article_id) for article_id in articles),
        system=system,
        article=article,
        n=n,
        words=words,
        text=text,
        scores=dict(zip(metrics, scores, strict=True)),
        repeated_words=shares,
        article_characters=_characters(connection, run_id, articles),
    )


def read_pieces(
    connection: Connection,
    run_id: str,
    metrics: Sequence[Metric],
    only_systems: Sequence[str] | None = None,
    texts: bool = True,
) -> Iterator[Columns]:
    """The summaries of a run without shards, some at a time: system, article, n, words, text, and the scores."""
    place = (SummaryRow.system, SummaryRow.article_id, SummaryRow.n, SummaryRow.words)
    columns: list[Any] = [*place, SummaryRow.text if texts else null(), *map(_score, metrics)]
    query = select(*columns).where(SummaryRow.run_id == run_id)
    if only_systems is not None:
        query = query.where(SummaryRow.system.in_(only_systems))
    # In the order of the key, which is nearly that in which they lie: else SQLite goes by system and n, in leaps.
    query = query.order_by(SummaryRow.run_id, SummaryRow.article_id, SummaryRow.system, SummaryRow.n)
    with closing(connection.execute(query, execution_options={"yield_per": ROWS_AT_ONCE})) as found:
        for rows in found.partitions():
            yield tuple(zip(*rows, strict=True))


def _score(metric: Metric) -> ColumnElement[float]:
    """The column of a metric, or its place in `extra` for one of a plugin; null if a summary has no such score."""
    if metric in BY_COLUMN:
        return SummaryRow.__table__.columns[metric]
    value: ColumnElement[float] = SummaryRow.extra[CHOSEN_SCORES][metric].as_float()
    return value


def piece_columns(
    piece: Columns, systems: dict[str, int], articles: dict[str, int], repeated_words: bool = False
) -> list[NDArray[Any]]:
    """What `read_pieces` gives as arrays, systems and articles by their numbers, new ones added to those known.

    With `repeated_words`, the share of them in each text comes before the scores.
    """
    system, article, n, words, texts, *scores = piece
    return [
        _codes(system, systems),
        _codes(article, articles),
        np.array(n, dtype=np.int32),
        np.array(words, dtype=np.int32),
        text_keys(texts),
        *([np.array([repeated_word_share(text) for text in texts], dtype=np.float64)] if repeated_words else []),
        *(np.array(values, dtype=np.float64) for values in scores),
    ]


def _codes(names: Sequence[str], known: dict[str, int]) -> NDArray[np.int32]:
    """A number for each name, the same each time; new names are added to those that are known."""
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int32)


def read_datasets(connection: Connection, run_id: str) -> dict[str, str]:
    """The dataset of each article of a run without shards, by its id."""
    article_ids = select(SummaryRow.article_id).where(SummaryRow.run_id == run_id)
    query = select(ArticleRow.id, ArticleRow.dataset).where(ArticleRow.id.in_(article_ids))
    return {row.id: row.dataset for row in connection.execute(query)}


def _characters(connection: Connection, run_id: str, articles: Iterable[str]) -> NDArray[np.int32] | None:
    """The length of each article, where the n of the run count characters."""
    recipe = connection.execute(select(RunRow.recipe).where(RunRow.id == run_id)).scalar_one()
    if length_unit_of(recipe) == "words":
        return None
    article_ids = select(SummaryRow.article_id).where(SummaryRow.run_id == run_id)
    query = select(ArticleRow.id, func.length(ArticleRow.text)).where(ArticleRow.id.in_(article_ids))
    lengths = {article_id: length for article_id, length in connection.execute(query)}
    return np.array([lengths[article_id] for article_id in articles], dtype=np.int32)


def _reference_lengths(connection: Connection, points: Points) -> dict[str, float]:
    """The median length of the first references by dataset, of the first `REFERENCES` articles of each."""
    first: dict[str, list[str]] = {}
    for dataset, article_id in points.articles:
        ids = first.setdefault(dataset, [])
        if len(ids) < REFERENCES:
            ids.append(article_id)
    medians = {}
    for dataset, ids in first.items():
        references = connection.scalars(select(ArticleRow.reference_summaries).where(ArticleRow.id.in_(ids)))
        lengths = [length_of(of_article[0], points.length_unit) for of_article in references if of_article]
        if lengths:
            medians[dataset] = float(median(lengths))
    return medians


def _kinds(connection: Connection, run_id: str) -> dict[str, Any]:
    query = select(SystemRow.system, SystemRow.kind).where(SystemRow.run_id == run_id)
    return {row.system: row.kind for row in connection.execute(query)}


def column_rows(connection: Connection, run_id: str) -> Generator[list[dict[str, Any]], None, None]:
    """The scores of a run with summaries of its own as columns to store, in pieces; none where n is of characters."""
    recipe = connection.execute(select(RunRow.recipe).where(RunRow.id == run_id)).scalar_one()
    if length_unit_of(recipe) == "characters":
        return
    systems: dict[str, int] = {}
    articles: dict[str, int] = {}
    part, held, pieces = 0, 0, []
    for piece in read_pieces(connection, run_id, STORED):
        pieces.append(piece_columns(piece, systems, articles))
        held += len(piece[0])
        if held >= ROWS_OF_PART:
            yield _column_rows(run_id, part, pieces)
            part, held, pieces = part + 1, 0, []
    if pieces:
        yield _column_rows(run_id, part, pieces)
    if articles:
        datasets = read_datasets(connection, run_id)
        names = sorted(set(datasets.values()))
        code = {name: number for number, name in enumerate(names)}
        about: dict[str, Any] = {"systems": list(systems), "datasets": names, "articles": list(articles)}
        about["of_dataset"] = [code[datasets[article]] for article in articles]
        yield [{"run_id": run_id, "name": ABOUT, "part": 0, "column_values": json.dumps(about).encode()}]


def _column_rows(run_id: str, part: int, pieces: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    names = [*TYPES, *STORED]
    columns = (np.concatenate(column) for column in zip(*pieces, strict=True))
    return [
        {"run_id": run_id, "name": name, "part": part, "column_values": column.astype(TYPES.get(name, "<f8")).tobytes()}
        for name, column in zip(names, columns, strict=True)
    ]
