"""`nws score`: the metrics of any predictions with their references."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from core.analysis.intervals import Interval, mean_intervals, score_intervals
from core.errors import CorpusError, RecipeError
from core.metrics.config import Options, text_tokenizer
from core.metrics.metric import FloatArray, Metric, Row
from core.metrics.registry import NEED_BACKBONE, NEED_SOURCE, make_metric, metric_called
from core.text.language import check_language
from core.text.length import require_summary_length
from core.text.reader import naming, read_rows
from core.text.rows import cleaned, to_references
from core.text.tokenizers import EnglishTokenizer, Tokenizer

# The first that holds a reference counts.
REFERENCE_FIELDS = ("references", "reference", "summaries", "summary", "highlights")
_FIELDS = ("id", "prediction", "source", *REFERENCE_FIELDS)


@dataclass(frozen=True, slots=True)
class Prediction:
    """A row of the file: its id, if it has one, and what is scored."""

    id: str | int | None
    row: Row


@dataclass(frozen=True, slots=True)
class MetricScore:
    """One metric over all rows.

    Attributes:
        signature: every option that changes the numbers.
        intervals: by part (precision, recall, f1; or score) the score with its 95 % interval.
        method: how the intervals were found: `student-t` or `bootstrap`.
        rows: the score of each row, (rows, parts).
    """

    signature: str
    intervals: dict[str, Interval]
    method: Literal["student-t", "bootstrap"]
    rows: FloatArray


@dataclass(frozen=True, slots=True)
class HumanScore:
    """By view of `jobs.evaluate.score` and metric, over the `rows` that have several references."""

    rows: int
    views: dict[str, dict[str, MetricScore]]

    def as_dict(self) -> dict[str, Any]:
        """What `nws score --human --json` prints of it."""
        return {"rows": self.rows, **{view: _json(metrics) for view, metrics in self.views.items()}}


@dataclass(frozen=True, slots=True)
class FileScore:
    """The scores of a file, by the names of the metrics, and what people reach where that was asked for."""

    predictions: tuple[Prediction, ...]
    metrics: dict[str, MetricScore]
    seed: int
    human: HumanScore | None = None

    def as_dict(self) -> dict[str, Any]:
        """What `nws score --json` prints."""
        return {
            "rows": len(self.predictions),
            **_json(self.metrics),
            "interval_methods": {name: metric.method for name, metric in self.metrics.items()},
            "signatures": {name: metric.signature for name, metric in self.metrics.items()},
            "seed": self.seed,
            **({"human": self.human.as_dict()} if self.human else {}),
        }


def _json(metrics: Mapping[str, MetricScore]) -> dict[str, Any]:
    intervals = {name: metric.intervals for name, metric in metrics.items()}
    return {
        "metrics": {n: {part: interval.mean for part, interval in parts.items()} for n, parts in intervals.items()},
        "intervals": {
            n: {part: [interval.low, interval.high] for part, interval in parts.items()}
            for n, parts in intervals.items()
        },
    }


def score_file(
    path: Path,
    names: Sequence[str],
    options: Options,
    seed: int,
    others: Sequence[Metric] = (),
    human: bool = False,
) -> FileScore:
    """Score every row of a JSONL, CSV or Parquet file.

    Args:
        path: the file.
        names: of metrics in the registry.
        options: of these metrics.
        seed: of bootstrap intervals.
        others: metrics from outside, computed after those.
        human: score the references, too, where a row has several.

    Raises:
        RecipeError: no such metric, or options that do not go together.
        PluginError: a metric from outside gave no finite number.
        CorpusError: a row is malformed (named by its line), or there is none; or none has several references.
        LanguageError: the tokenizer would delete a text (named by its line).
        ModelError: BERTScore's backbone cannot be found.
    """
    return score_rows(str(path), read_rows(path, _FIELDS), names, options, seed, others, human)


def score_rows(
    place: str,
    located: Iterable[tuple[str, dict[str, object]]],
    names: Sequence[str],
    options: Options,
    seed: int,
    others: Sequence[Metric] = (),
    human: bool = False,
) -> FileScore:
    """Score rows that have the fields of a file of predictions; errors name `place` and where the row stands in it.

    Raises:
        NwsError: as for `score_file`.
    """
    if not (names or others):
        raise RecipeError("There is no metric to compute: name one or more.", settings=("metrics",))
    names = [metric_called(name) for name in names]
    metrics = {name: make_metric(name, options) for name in names} | {metric.name: metric for metric in others}
    if len(metrics) < len({*names}) + len(others):
        raise RecipeError(f"Two metrics have one name: {', '.join((*names, *(metric.name for metric in others)))}.")
    needs_source = next((name for name in names if name in NEED_SOURCE), None)
    predictions = to_predictions(place, located, text_tokenizer(options), needs_source)
    rows = [prediction.row for prediction in predictions]
    if any(name in NEED_BACKBONE for name in names):
        _require_readable(options, rows)
    several = with_several_references(rows) if human else []
    scores = {name: _score(metric, metric.statistics(rows), seed) for name, metric in metrics.items()}
    return FileScore(predictions, scores, seed, _human(metrics, several, seed) if human else None)


def _each_against_the_others(row: Row) -> list[Row]:
    return [replace(row, prediction=text, references=others) for text, others in _left_out(row)]


def _prediction_against_as_many(row: Row) -> list[Row]:
    return [replace(row, references=others) for _, others in _left_out(row)]


def _each_against_all(row: Row) -> list[Row]:
    return [replace(row, prediction=text) for text in row.references]


def _left_out(row: Row) -> list[tuple[str, tuple[str, ...]]]:
    """Each reference with the others."""
    return [(text, (*row.references[:i], *row.references[i + 1 :])) for i, text in enumerate(row.references)]


VIEWS: Mapping[str, Callable[[Row], list[Row]]] = {
    "person": _each_against_the_others,
    "prediction": _prediction_against_as_many,
    "one_reference": _each_against_all,
}
"""From a row to as many as it has references, whose mean is its score.

`person` and `prediction` are the jackknife of Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries",
section 2.1: both are against one reference less than there are. Else a person's best would be the best of fewer.
`one_reference` is what is expected of a reference that is drawn at random and handed in, to be scored against all.
"""


def with_several_references(rows: Sequence[Row]) -> list[Row]:
    """Those that tell what a person reaches, each with a source: its references, where it has none.

    Content kept knows by the source that rows are of one document.

    Raises:
        CorpusError: there is none.
    """
    several = [replace(row, source=row.source or "\n".join(row.references)) for row in rows if len(row.references) > 1]
    if not several:
        raise CorpusError("No row has two references or more: none can be scored against another. Leave --human out.")
    return several


def view_statistics(metric: Metric, rows: Sequence[Row], view: str) -> FloatArray:
    """Statistics of each row, (rows, statistics): the means over what `view` makes of it.

    Of a score of the corpus, whose statistics are counts, the sums: every reference is a row of the corpus.
    """
    groups = [VIEWS[view](row) for row in rows]
    sizes = np.array([len(group) for group in groups])
    statistics = metric.statistics([row for group in groups for row in group])
    sums = np.add.reduceat(statistics, np.cumsum(sizes) - sizes, axis=0)
    return np.asarray(sums / sizes[:, None] if metric.mean_over_rows else sums)


def _human(metrics: Mapping[str, Metric], rows: Sequence[Row], seed: int) -> HumanScore:
    views = {
        view: {name: _score(metric, view_statistics(metric, rows, view), seed) for name, metric in metrics.items()}
        for view in VIEWS
    }
    return HumanScore(len(rows), views)


def _require_readable(options: Options, rows: Sequence[Row]) -> None:
    """Refuse texts that BERTScore's backbone cannot read; those that the English tokenizer reads, every backbone does.

    Raises:
        RecipeError: its vocabulary covers less than half of their words.
    """
    if isinstance(text_tokenizer(options), EnglishTokenizer):
        return
    # They import PyTorch, which takes seconds, and most metrics need none.
    from core.models import parse_model, resolve_model
    from core.models.tokens import MOST_UNREAD, unread_share

    model = resolve_model(parse_model(options.bertscore_model))
    share = unread_share(model, (text for row in rows for text in (row.prediction, *row.references)))
    if share > MOST_UNREAD:
        raise RecipeError(
            f"BERTScore's backbone {model.name} cannot read these texts: its tokenizer turns {share:.0%} of their "
            f"words into unknown tokens or into pieces smaller than a character ({MOST_UNREAD:.0%} may be). Name one "
            "with the vocabulary of their language, such as `google-bert/bert-base-multilingual-cased`.",
            settings=("bertscore_model",),
        )


def _score(metric: Metric, statistics: FloatArray, seed: int) -> MetricScore:
    row_scores = np.array([metric.score(statistics[i : i + 1]) for i in range(len(statistics))])
    intervals = mean_intervals(row_scores) if metric.mean_over_rows else score_intervals(metric.score, statistics, seed)
    # The signature after the rows: SacreBLEU's counts their references.
    return MetricScore(
        signature=metric.signature,
        intervals=dict(zip(metric.parts, intervals, strict=True)),
        method="student-t" if metric.mean_over_rows else "bootstrap",
        rows=row_scores,
    )


def to_predictions(
    place: str, located: Iterable[tuple[str, dict[str, object]]], tokenizer: Tokenizer, needs_source: str | None = None
) -> tuple[Prediction, ...]:
    """The rows with the fields `prediction`, `reference` or a list of `references`, `source`, `id`.

    Args:
        place: what they are rows of, for errors.
        located: rows, each with where it stands.
        tokenizer: what must be able to read the texts.
        needs_source: the metric for which every row must have a source.

    Raises:
        CorpusError: a row is malformed (named by where it stands), or there is none.
        LanguageError: the tokenizer would delete a text (named by where it stands).
        SegmentationError: a text is too long to be scored (named by where it stands).
    """
    predictions = []
    for where, row in located:
        with naming(place, where):
            prediction = _prediction(row)
            if needs_source and prediction.row.source is None:
                raise CorpusError(
                    f"Field 'source' is missing or empty: {needs_source} compares the prediction with it."
                )
            for text in (prediction.row.prediction, *prediction.row.references):
                require_summary_length(text)
            check_language((prediction.row.prediction, *prediction.row.references), tokenizer)
        predictions.append(prediction)
    if not predictions:
        raise CorpusError(f"{place} holds no row.")
    return tuple(predictions)


def _prediction(row: dict[str, object]) -> Prediction:
    given = row.get("id")
    if given is not None and (isinstance(given, bool) or not isinstance(given, str | int)):
        raise CorpusError(f"Field 'id' holds {type(given).__name__}, not text or a whole number.")
    # An empty cell of a CSV file is none.
    source = None if row.get("source") in (None, "") else _text(row, "source")
    name = cleaned(given) if isinstance(given, str) else given
    return Prediction(name, Row(_text(row, "prediction"), _references(row), source))


def _references(row: dict[str, object]) -> tuple[str, ...]:
    """The references of the first field that holds one."""
    for field in REFERENCE_FIELDS:
        if references := to_references(row.get(field), field):
            return references
    raise CorpusError(
        f"There is no reference: none of {', '.join(REFERENCE_FIELDS)} is there and filled; the fields are: "
        f"{', '.join(map(str, row)) or '(none)'}."
    )


def _text(row: dict[str, object], field: str) -> str:
    if field not in row:
        raise CorpusError(f"Field {field!r} is missing; the fields are: {', '.join(map(str, row)) or '(none)'}.")
    value = row[field]
    if not isinstance(value, str):
        raise CorpusError(f"Field {field!r} holds {type(value).__name__}, not text.")
    return cleaned(value)


def row_lines(score: FileScore) -> Iterator[Mapping[str, Any]]:
    """Of each row, `{"row", "id", "metrics"}`."""
    for index, prediction in enumerate(score.predictions):
        metrics = {
            name: dict(zip(metric.intervals, metric.rows[index].tolist(), strict=True))
            for name, metric in score.metrics.items()
        }
        yield {"row": index + 1, "id": prediction.id, "metrics": metrics}
