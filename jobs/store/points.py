"""The scores of a run's summaries for the analysis, read from rows, or from columns that are stored when a run ends.

Rows are read in pieces that become arrays at once, since two million rows would take gigabytes as Python objects. For
ten million rows even that takes minutes. So the scores of a run that has ended are stored a second time, as columns,
which are read a hundred times as fast. The columns are written, valid and removed together with the run's means
(`nws.jobs.store.means`). They have only the metrics in `COLUMN_METRICS`.
"""

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from statistics import fmean, median
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, func, or_, select

from nws.core.analysis import Points
from nws.core.analysis.abstractive import COVERAGE
from nws.core.analysis.build_document import MOST_FOR_ALL_METRICS
from nws.core.analysis.kept_by_kind import KindTerms
from nws.core.analysis.points import text_keys
from nws.core.findings.statements import CutTexts
from nws.core.metrics.specs import BY_COLUMN, F1S, KEPT_SPEC, METRICS, Metric
from nws.core.text.length import LengthUnit, length_of, repeated_word_share
from nws.core.types import CHOSEN_SCORES, REFERENCE_READ, TEXT_READ, SystemKind
from nws.jobs.store.runs import ENDED, RunInfo, length_unit_of, metric_signature, metrics_of, runs_with_rows
from nws.jobs.store.tables import ArticleRow, RunRow, ScoreColumnRow, SummaryRow, SystemRow

ROWS_AT_ONCE = 2_000
REFERENCES = 1_000
"""The most articles of a dataset whose references are measured."""

COLUMN_METRICS = (*F1S, KEPT_SPEC.column, COVERAGE)
"""The metrics of a default report."""
ROWS_OF_PART = 250_000
"""The rows that one value in the database holds: 2 MB of each score."""
ABOUT = "about"
"""The name of the column that says, as JSON in one part, which systems and articles the codes stand for."""
COLUMN_TYPES = {"system": "<i2", "article": "<i4", "n": "<i4", "words": "<i4", "text": "<i8"}
_SCORE_TYPE = "<f8"
_ANY_KIND: SystemKind = "system"  # a placeholder until the kinds are read

Columns: TypeAlias = tuple[Sequence[Any], ...]


def document_metrics(runs: Sequence[RunInfo], metric: Metric) -> list[Metric]:
    """Return the metrics of a report document: those that all runs have and have computed in the same way.

    If there are many summaries, only `metric` and the metrics that are stored as columns.
    """
    shared = [name for name in metrics_of(runs) if len({metric_signature(run, name) for run in runs}) == 1]
    if sum(run.summaries for run in runs) > MOST_FOR_ALL_METRICS:
        shared = [name for name in shared if name in COLUMN_METRICS]
    return list(dict.fromkeys((metric, *shared)))


def read_points(
    connection: Connection, run_id: str, metrics: Sequence[Metric] | None, repeated_words: bool = False
) -> Points:
    """Read the points of a run."""
    metrics = METRICS if metrics is None else metrics
    runs = runs_with_rows(connection, run_id)
    points = None if repeated_words else _read_columns(connection, runs, metrics)
    if points is None:
        read = [_read_rows(connection, part, metrics, repeated_words) for part in runs]
        points = Points.together([part for part in read if len(part)]) if len(read) > 1 else read[0]
    query = select(SystemRow.system, SystemRow.kind).where(SystemRow.run_id == run_id)
    kinds: dict[str, SystemKind] = {row.system: row.kind for row in connection.execute(query)}
    characters = _article_characters(connection, run_id, runs, points)
    points = replace(
        points, kinds=tuple(kinds.get(name, _ANY_KIND) for name in points.systems), article_characters=characters
    )
    first = _first_articles(points)
    reference_lengths = _reference_lengths(connection, first, points.length_unit)
    return replace(points, reference_lengths=reference_lengths, cut=_cut_texts(connection, runs, first))


def _read_rows(connection: Connection, run_id: str, metrics: Sequence[Metric], repeated_words: bool) -> Points:
    """Read the points of a run without shards from its summaries. The kinds of its systems are placeholders."""
    systems: dict[str, int] = {}
    articles: dict[str, int] = {}
    pieces = [
        piece_columns(piece, systems, articles, repeated_words) for piece in read_pieces(connection, run_id, metrics)
    ]
    if not pieces:
        return Points.none()
    columns = [np.concatenate(column) for column in zip(*pieces, strict=True)]
    place: dict[str, Any] = dict(zip(COLUMN_TYPES, columns, strict=False))
    values = columns[len(place) :]
    shares, scores = (values[0], values[1:]) if repeated_words else (None, values)
    datasets = read_datasets(connection, run_id)
    ids = tuple((datasets[article_id], article_id) for article_id in articles)
    by_metric = dict(zip(metrics, scores, strict=True))
    kinds = (_ANY_KIND,) * len(systems)
    return Points(tuple(systems), kinds, ids, **place, scores=by_metric, repeated_words=shares)


def read_pieces(connection: Connection, run_id: str, metrics: Sequence[Metric]) -> Iterator[Columns]:
    """Yield the summaries of a run without shards, in pieces: system, article, n, words, text, and the scores."""
    place = (SummaryRow.system, SummaryRow.article_id, SummaryRow.n, SummaryRow.words, SummaryRow.text)
    query = select(*place, *map(_score, metrics)).where(SummaryRow.run_id == run_id)
    # In the order of the key, which is nearly the order on disk. Otherwise SQLite goes by system and n, and jumps.
    query = query.order_by(SummaryRow.run_id, SummaryRow.article_id, SummaryRow.system, SummaryRow.n)
    with closing(connection.execute(query, execution_options={"yield_per": ROWS_AT_ONCE})) as result:
        for rows in result.partitions():
            yield tuple(zip(*rows, strict=True))


def _score(metric: Metric) -> ColumnElement[float]:
    """Return the column of a metric, or the place of a plugin's metric in `extra`; null where a score is missing."""
    if metric in BY_COLUMN:
        return SummaryRow.__table__.columns[metric]
    value: ColumnElement[float] = SummaryRow.extra[CHOSEN_SCORES][metric].as_float()
    return value


def piece_columns(
    piece: Columns, systems: dict[str, int], articles: dict[str, int], repeated_words: bool = False
) -> list[NDArray[Any]]:
    """Turn the columns of a piece of `read_pieces` into arrays, with codes for systems and articles.

    New names are added to `systems` and `articles`. With `repeated_words`, the share of repeated words in each text
    comes before the scores.
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


def _codes(names: Sequence[str], codes: dict[str, int]) -> NDArray[np.int32]:
    """Return the code of each name, (names,). New names are added to `codes`."""
    return np.array([codes.setdefault(name, len(codes)) for name in names], dtype=np.int32)


def read_datasets(connection: Connection, run_id: str) -> dict[str, str]:
    """Read the dataset of each article of a run without shards, by the article's id."""
    article_ids = select(SummaryRow.article_id).where(SummaryRow.run_id == run_id)
    query = select(ArticleRow.id, ArticleRow.dataset).where(ArticleRow.id.in_(article_ids))
    return {row.id: row.dataset for row in connection.execute(query)}


def read_kind_terms(connection: Connection, sources: Mapping[str, Mapping[str, str]]) -> tuple[list[KindTerms], str]:
    """Read how much summaries keep of each kind of word, by dataset, system and n, and the signature of the kinds.

    Both are empty if a run has no kinds of words, or if runs have different ones.

    Args:
        connection: the connection of the transaction.
        sources: by run, the name of each of its systems in the document.
    """
    names = {part: names for run_id, names in sources.items() for part in runs_with_rows(connection, run_id)}
    signatures = set(connection.execute(select(RunRow.word_kinds).where(RunRow.id.in_(names))).scalars())
    if len(signatures) != 1 or not (signature := signatures.pop()):
        return [], ""
    articles: dict[str, int] = {}
    held: dict[tuple[str, str, int], tuple[list[int], bytearray]] = {}
    place = (SummaryRow.run_id, SummaryRow.article_id, SummaryRow.system, SummaryRow.n)
    for run_id, called in names.items():
        datasets = read_datasets(connection, run_id)
        query = select(*place[1:], SummaryRow.kinds).where(SummaryRow.run_id == run_id, SummaryRow.kinds.is_not(None))
        rows = connection.execute(query.order_by(*place), execution_options={"yield_per": ROWS_AT_ONCE})
        for article, system, n, kinds in rows:
            codes, terms = held.setdefault((datasets[article], called[system], n), ([], bytearray()))
            codes.append(articles.setdefault(article, len(articles)))
            terms += kinds
    cells = [
        KindTerms(*key, np.array(codes), np.frombuffer(terms, "<f2").reshape(len(codes), -1))
        for key, (codes, terms) in sorted(held.items())
    ]
    return cells, signature


def _article_characters(
    connection: Connection, run_id: str, runs: Sequence[str], points: Points
) -> NDArray[np.int32] | None:
    """Return the length of each article if the run's n count characters; None if they count words."""
    recipe = connection.execute(select(RunRow.recipe).where(RunRow.id == run_id)).scalar()
    if recipe is None or length_unit_of(recipe) == "words":
        return None
    article_ids = select(SummaryRow.article_id).where(SummaryRow.run_id.in_(runs))
    query = select(ArticleRow.id, func.length(ArticleRow.text)).where(ArticleRow.id.in_(article_ids))
    lengths = {article_id: length for article_id, length in connection.execute(query)}
    return np.array([lengths[article_id] for _, article_id in points.articles], dtype=np.int32)


def _first_articles(points: Points) -> dict[str, list[str]]:
    """Return the ids of the first `REFERENCES` articles of each dataset."""
    first: dict[str, list[str]] = {}
    for dataset, article_id in points.articles:
        ids = first.setdefault(dataset, [])
        if len(ids) < REFERENCES:
            ids.append(article_id)
    return first


def _cut_texts(connection: Connection, runs: Sequence[str], first: Mapping[str, Sequence[str]]) -> dict[str, CutTexts]:
    """Count the texts of these articles that BERTScore's model has not read to the end, by dataset."""
    of_reference, of_text = (SummaryRow.extra[name].as_float() for name in (REFERENCE_READ, TEXT_READ))
    query = select(SummaryRow.article_id, of_reference, of_text).where(SummaryRow.run_id.in_(runs))
    query = query.where(or_(of_reference.is_not(None), of_text.is_not(None)))
    cut = {}
    for dataset, ids in first.items():
        if rows := connection.execute(query.where(SummaryRow.article_id.in_(ids))).all():
            references = {article_id: share for article_id, share, _ in rows if share is not None}
            texts = [share for _, _, share in rows if share is not None]
            cut[dataset] = CutTexts(
                articles=len(ids),
                references=len(references),
                of_reference=fmean(references.values()) if references else None,
                summaries=len(texts),
                of_summary=fmean(texts) if texts else None,
            )
    return cut


def _reference_lengths(
    connection: Connection, first: Mapping[str, Sequence[str]], unit: LengthUnit
) -> dict[str, float]:
    """Return the median length of the first references of these articles, by dataset."""
    medians = {}
    for dataset, ids in first.items():
        references = connection.scalars(select(ArticleRow.reference_summaries).where(ArticleRow.id.in_(ids)))
        lengths = [length_of(texts[0], unit) for texts in references if texts]
        if lengths:
            medians[dataset] = float(median(lengths))
    return medians


def _read_columns(connection: Connection, run_ids: Sequence[str], metrics: Sequence[str]) -> Points | None:
    """Read the points of runs from their columns; None if a run lacks one of these columns.

    The kinds of systems are placeholders. Each column is read from all runs before the next one, so that little more
    than the result is in memory. The columns of a run are complete if it has `ABOUT`, which is stored last.
    """
    row = ScoreColumnRow
    about = select(row.run_id, row.column_values).join(RunRow, RunRow.id == row.run_id)
    about = about.where(row.run_id.in_(run_ids), row.name == ABOUT, RunRow.state.in_(ENDED))
    headers = {run_id: json.loads(values) for run_id, values in connection.execute(about)}
    if not set(COLUMN_METRICS).issuperset(metrics) or len(headers) < len(run_ids):
        return None
    systems: dict[str, int] = {}
    articles: dict[tuple[str, str], int] = {}
    system_codes, article_codes = {}, {}
    for run_id in run_ids:
        header = headers.pop(run_id)
        system_codes[run_id] = _codes(header["systems"], systems)
        codes = [articles.setdefault((dataset, id_), len(articles)) for dataset, id_ in header["articles"]]
        article_codes[run_id] = np.array(codes, np.int32)

    def column(name: str, codes: Mapping[str, NDArray[np.int32]] | None = None) -> Any:
        kind = COLUMN_TYPES.get(name, _SCORE_TYPE)
        parts = []
        for run_id in run_ids:
            values = select(row.column_values).where(row.run_id == run_id, row.name == name).order_by(row.part)
            for stored in connection.execute(values).scalars():
                part = np.frombuffer(stored, kind)
                parts.append(part if codes is None else codes[run_id][part])
        return np.concatenate(parts)

    place = {"system": column("system", system_codes), "article": column("article", article_codes)}
    place |= {name: column(name) for name in ("n", "words", "text")}
    scores = {metric: column(metric) for metric in metrics}
    return Points(tuple(systems), (_ANY_KIND,) * len(systems), tuple(articles), **place, scores=scores)


def column_rows(connection: Connection, run_id: str) -> Generator[list[dict[str, Any]], None, None]:
    """Yield the columns to store for a run with summaries of its own, in pieces."""
    systems: dict[str, int] = {}
    articles: dict[str, int] = {}
    part, held, pieces = 0, 0, []
    for piece in read_pieces(connection, run_id, COLUMN_METRICS):
        pieces.append(piece_columns(piece, systems, articles))
        held += len(piece[0])
        if held >= ROWS_OF_PART:
            yield _column_rows(run_id, part, pieces)
            part, held, pieces = part + 1, 0, []
    if pieces:
        yield _column_rows(run_id, part, pieces)
    if articles:
        datasets = read_datasets(connection, run_id)
        about = {"systems": list(systems), "articles": [(datasets[article], article) for article in articles]}
        yield [{"run_id": run_id, "name": ABOUT, "part": 0, "column_values": json.dumps(about).encode()}]


def _column_rows(run_id: str, part: int, pieces: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    names = [*COLUMN_TYPES, *COLUMN_METRICS]
    columns = (np.concatenate(column) for column in zip(*pieces, strict=True))
    values = (column.astype(COLUMN_TYPES.get(name, _SCORE_TYPE)) for name, column in zip(names, columns, strict=True))
    return [
        {"run_id": run_id, "part": part, "name": name, "column_values": column.tobytes()}
        for name, column in zip(names, values, strict=True)
    ]
