"""`nws score`: the metrics of any predictions with their references, and their table of at most 80 columns."""

import contextlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, TypeAlias

import numpy as np
from rich.console import Console

from nws.core.analysis.intervals import mean_intervals, score_intervals
from nws.core.analysis.kept_by_kind import Kept, shares_of
from nws.core.errors import CorpusError, RecipeError
from nws.core.findings.scores import Interval
from nws.core.metrics.config import Options, text_tokenizer
from nws.core.metrics.kept import kind_terms, kinds_of
from nws.core.metrics.metric import FloatArray, Metric, Row
from nws.core.metrics.registry import NEED_BACKBONE, NEED_SOURCE, make_metric, metric_called
from nws.core.systems.predictions import KEY_FIELD, USUAL, prediction_rows
from nws.core.text import rows as row_fields
from nws.core.text.checks.all_checks import LOOKED_AT, check_rows
from nws.core.text.checks.finding import CheckedRow, Context
from nws.core.text.data_files import REFERENCES, DataFiles
from nws.core.text.language import SAMPLED_ARTICLES, Language, check_language, find_foreign
from nws.core.text.length import count_words, require_summary_length
from nws.core.text.model_outputs import DEFAULT_CLEANING, Cleaning, clean_output, cleaning_mark
from nws.core.text.reader import PlacedRow, is_data_file, naming, read_rows, regular_file
from nws.core.text.rows import KEY_FIELDS, cleaned, joined_text_of, key_of, text_of, texts_in, to_references, value_of
from nws.core.text.text_marks import AS_IT_IS, Preparation
from nws.core.text.tokenizers import EnglishTokenizer, Tokenizer
from nws.core.text.word_kinds import KINDS, WordKind
from nws.jobs.report.metric_names import signature_lines
from nws.jobs.report.numerals import counted, listed, percent
from nws.jobs.report.printed_lines import WIDTH, print_line
from nws.jobs.report.result_tables import FEW_OF_KIND, kind_cell
from nws.jobs.report.table import Cell, Table
from nws.jobs.report.wording import KIND_NAMES, small_sample_caution

# The first that holds a reference counts.
REFERENCE_FIELDS = (*row_fields.REFERENCE_FIELDS, "target")

Located: TypeAlias = Iterable[tuple[str, dict[str, object]]]
"""Rows, each with where it stands."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A row of the file: its id, if it has one, what is scored, and what was written where that differs.

    `parts` are the items of a list that were joined. One that ends within its thoughts is scored as an empty text.
    """

    id: object
    row: Row
    raw: str | None = None
    parts: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class MetricScore:
    """One metric over all rows.

    Attributes:
        signature: every option that changes the numbers.
        intervals: the score with its 95 % interval, by part (precision, recall, f1; or score).
        method: the method of the intervals: `student-t` or `bootstrap`.
        rows: the score of each row, (rows, parts).
    """

    signature: str
    intervals: dict[str, Interval]
    method: Literal["student-t", "bootstrap"]
    rows: FloatArray


@dataclass(frozen=True, slots=True)
class FileScore:
    """The scores of a file, by the names of the metrics, and what is said of them.

    Attributes:
        kinds: the share kept of each kind of word; empty without content kept, or where kinds are not known.
        word_kinds: the signature of the kinds.
    """

    predictions: tuple[Prediction, ...]
    metrics: dict[str, MetricScore]
    seed: int
    notes: tuple[str, ...] = ()
    kinds: Mapping[WordKind, Kept] = field(default_factory=dict)
    word_kinds: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the scores as `nws score --json` prints them."""
        intervals = {name: metric.intervals for name, metric in self.metrics.items()}
        return {
            "rows": len(self.predictions),
            "metrics": {n: {part: interval.mean for part, interval in parts.items()} for n, parts in intervals.items()},
            "intervals": {
                n: {part: [interval.low, interval.high] for part, interval in parts.items()}
                for n, parts in intervals.items()
            },
            "interval_methods": {name: metric.method for name, metric in self.metrics.items()},
            "signatures": {name: metric.signature for name, metric in self.metrics.items()},
            "seed": self.seed,
            "kept_by_kind": {
                kind: asdict(kept.interval) | {"rows": kept.articles} for kind, kept in self.kinds.items()
            },
            "word_kinds": self.word_kinds,
        }


def read_scored(file: Path, fields: tuple[str | None, str | None], references_file: str | None) -> Iterator[PlacedRow]:
    """Read the rows of a file of predictions for `score_rows`, each with where it stands.

    Args:
        file: JSONL, CSV or Parquet, or a text with a prediction on each line.
        fields: those of the predictions and of the references; None: a usual name.
        references_file: text whose lines are the references of the rows, in order; or JSONL, CSV or Parquet, whose rows
            are found by their ids.

    Raises:
        CorpusError: a file cannot be read, there are not as many lines as rows, or an id has no reference.
    """
    text, references = fields
    with regular_file(file) as local:
        files = DataFiles(str(file), {file.name: lambda: local})
        known = None
        if references_file is not None and is_data_file(references_file):
            known, references = _references_by_id(Path(references_file), references), None
        elif references_file is not None:
            files, references = files.with_references(references_file), REFERENCES
        columns = [*USUAL, "source", "system", *REFERENCE_FIELDS, *filter(None, fields)]
        unused = set() if references is None else {*REFERENCE_FIELDS} - {REFERENCES}
        for place, row in prediction_rows(file, files.rows(columns), {"prediction": text, REFERENCES: references}):
            if known is not None:
                with naming(file, place):
                    if (key := key_of(row, KEY_FIELD)) not in known:
                        raise CorpusError(f"{references_file} has no row whose id is {key!r}.")
                row[REFERENCES] = known[key]
            yield place, {name: value for name, value in row.items() if name not in unused}


def _references_by_id(file: Path, field: str | None) -> dict[str, tuple[str, ...]]:
    """Read the references of a file by the ids that `nws write` has for its rows; all rows of an id count.

    Raises:
        CorpusError: the file cannot be read, or a row has no reference.
    """
    known = dict[str, dict[str, None]]()
    for index, (place, row) in enumerate(read_rows(file, [*KEY_FIELDS, *REFERENCE_FIELDS, *filter(None, [field])])):
        with naming(file, place):
            key = next((key_of(row, name) for name in KEY_FIELDS if name in row), f"row-{index}")
            found = _references(row if field is None else {REFERENCES: value_of(row, field)}, AS_IT_IS)
        known[key] = known.get(key, {}) | dict.fromkeys(found)
    return {key: (*references,) for key, references in known.items()}


def score_rows(
    place: str,
    located: Located,
    names: Sequence[str],
    options: Options,
    seed: int,
    others: Sequence[Metric] = (),
    preparation: Preparation = AS_IT_IS,
    clean_outputs: Sequence[Cleaning] = DEFAULT_CLEANING,
) -> FileScore:
    """Score rows that have the fields of a file of predictions; errors name `place` and where the row stands in it.

    Args:
        place: the name of the file or the argument with the rows.
        located: rows, each with where it stands.
        names: the names of metrics in the registry.
        options: the options of these metrics.
        seed: the seed of bootstrap intervals.
        others: metrics from outside, computed after those.
        preparation: the preparation of the texts, which signatures name.
        clean_outputs: the parts left out of predictions. Any but thoughts alone is named in the signatures.

    Raises:
        RecipeError: no such metric, or options that do not go together.
        PluginError: a metric from outside gave no finite number.
        CorpusError: a row is malformed (named by its line), or there is none.
        LanguageError: the tokenizer would delete a reference (named by its line).
        ModelError: BERTScore's backbone cannot be found.
    """
    if not (names or others):
        raise RecipeError("There is no metric to compute: name one or more.", settings=("metrics",))
    names = [metric_called(name) for name in names]
    located = list(located)
    options, notes = _localised(options, located)
    metrics = {name: make_metric(name, options) for name in names} | {metric.name: metric for metric in others}
    if len(metrics) < len({*names}) + len(others):
        raise RecipeError(f"Two metrics share a name: {', '.join((*names, *(metric.name for metric in others)))}.")
    needs_source = next((name for name in names if name in NEED_SOURCE), None)
    predictions = to_predictions(place, located, text_tokenizer(options), needs_source, preparation, clean_outputs)
    rows = [prediction.row for prediction in predictions]
    if any(name in NEED_BACKBONE for name in names):
        _require_readable(options, rows)
    mark = preparation.signature + cleaning_mark(clean_outputs)
    scores = {name: _score(metric, metric.statistics(rows), seed, mark) for name, metric in metrics.items()}
    if any(name in NEED_BACKBONE for name in names):
        notes = (*notes, *_cut_texts(options, rows))
    word_kinds = kinds_of(options) if "kept" in names else ""
    kinds = shares_of(kind_terms(options, rows)) if word_kinds else {}
    any_language = options.tokenizer not in (None, "rouge_score")  # a tokenizer for all
    language: Language | None = "ko" if options.lang == "ko" else None if any_language else "en"
    if repeats := len(located) - len(predictions):
        reason = "because another row has the same id and prediction; their references count"
        notes = *notes, f"Left out: {counted(repeats, 'row')}, {reason}."
    looked_at = [
        CheckedRow(
            *(str(one.id or one.row.source or f"row {number}"), one.row.source, one.row.references),
            *(one.row.prediction, one.raw, one.parts),
        )
        for number, one in enumerate(predictions[:LOOKED_AT], start=1)
    ]
    findings = check_rows(looked_at, place.removesuffix("predictions"), Context(language), preparation.clean_texts)
    notes = (*notes, *(f"Warning: {finding}" for finding in findings))
    return FileScore(predictions, scores, seed, notes, kinds, word_kinds)


def _localised(options: Options, located: Sequence[tuple[str, dict[str, object]]]) -> tuple[Options, tuple[str, ...]]:
    """Choose the tokenizer `unicode` for references in other languages if none is chosen, and say so.

    At most a hundred are looked at, spread over the rows. A malformed row is named once it is read.
    """
    references: list[str] = []
    for _, row in located[:: 1 + len(located) // SAMPLED_ARTICLES]:
        with contextlib.suppress(CorpusError):
            references += _references(row, AS_IT_IS)[:1]
    found = Counter() if options.lang or options.tokenizer else find_foreign(references, "en")
    foreign = found.total() - found["ko"]
    if 2 * foreign <= len(references):
        return options, ()
    notes = (
        f"Warning: {foreign} of {len(references)} references look like another language than English (ISO 639: "
        f"{', '.join(found)}), so the tokenizer unicode splits the words. To choose another, set lang and tokenizer."
    )
    return replace(options, tokenizer="unicode"), (notes,)


def _require_readable(options: Options, rows: Sequence[Row]) -> None:
    """Refuse texts that BERTScore's backbone cannot read; those that the English tokenizer reads, every backbone does.

    Raises:
        RecipeError: its vocabulary covers less than half of their words.
    """
    if isinstance(text_tokenizer(options), EnglishTokenizer):
        return
    # They import PyTorch, which takes seconds, and most metrics need none.
    from nws.core.models import parse_model, resolve_model
    from nws.core.models.tokens import MOST_UNREAD, unread_share

    model = resolve_model(parse_model(options.bertscore_model))
    share = unread_share(model, (text for row in rows for text in (row.prediction, *row.references)))
    if share > MOST_UNREAD:
        raise RecipeError(
            f"BERTScore's backbone {model.name} cannot read these texts: its tokenizer turns {percent(share)} of their "
            f"words into unknown tokens or into pieces smaller than a character ({percent(MOST_UNREAD)} may be). Name "
            "one with the vocabulary of their language, such as `google-bert/bert-base-multilingual-cased`.",
            settings=("bertscore_model",),
        )


def _cut_texts(options: Options, rows: Sequence[Row]) -> Iterator[str]:
    """Say how many texts BERTScore's backbone has not read to the end, and how much of these it has read."""
    from nws.core.metrics.model_metric import bertscore_config, loaded_bertscore

    scorer = loaded_bertscore(bertscore_config(options))
    references = [text for row in rows for text in row.references]
    parts = []
    for kind, texts in (("reference", references), ("prediction", [row.prediction for row in rows])):
        read = scorer.read_shares(texts)
        if shares := [read[text] for text in texts if text in read]:
            parts.append(f"{len(shares)} of {counted(len(texts), kind)} ({percent(fmean(shares))} was read)")
    if parts:
        yield (
            f"Warning: BERTScore and content kept read at most {scorer.window} tokens of a text, and so not all of "
            f"{listed(parts)}. Scores are of what was read."
        )


def _score(metric: Metric, statistics: FloatArray, seed: int, mark: str) -> MetricScore:
    rows = np.array([metric.score(statistics[i : i + 1]) for i in range(len(statistics))])
    intervals = mean_intervals(rows) if metric.mean_over_rows else score_intervals(metric.score, statistics, seed)
    # The signature after the rows: SacreBLEU's counts their references.
    by_part = dict(zip(metric.parts, intervals, strict=True))
    return MetricScore(metric.signature + mark, by_part, "student-t" if metric.mean_over_rows else "bootstrap", rows)


def to_predictions(
    place: str,
    located: Located,
    tokenizer: Tokenizer,
    needs_source: str | None = None,
    preparation: Preparation = AS_IT_IS,
    clean_outputs: Sequence[Cleaning] = DEFAULT_CLEANING,
) -> tuple[Prediction, ...]:
    """Read the fields `prediction`, `reference` or a list of `references`, `source` and `id` of rows.

    A prediction in another language is scored as the tokenizer reads it, mostly 0; one of null or NaN is empty. Rows of
    one id with the same prediction are one, with the references of all.

    Args:
        place: the name of the file or the argument with the rows, for errors.
        located: rows, each with where it stands.
        tokenizer: the tokenizer that must be able to read the references.
        needs_source: the metric for which every row must have a source.
        preparation: the preparation of the texts.
        clean_outputs: the parts left out of predictions.

    Raises:
        CorpusError: a row is malformed (named by where it stands), or there is none.
        LanguageError: the tokenizer would delete a reference (named by where it stands).
        SegmentationError: a text is too long to be scored (named by where it stands).
    """
    predictions = dict[object, Prediction]()
    for number, (where, row) in enumerate(located):
        with naming(place, where):
            prediction = _prediction(row, preparation, clean_outputs)
            if needs_source and prediction.row.source is None:
                raise CorpusError(
                    f"Field 'source' is missing or empty: {needs_source} compares the prediction with it."
                )
            for text in (prediction.row.prediction, *prediction.row.references):
                require_summary_length(text)
            check_language(prediction.row.references, tokenizer)
            has_no_id = row.get(KEY_FIELD) in (None, "")
            key = number if has_no_id else (str(row.get("system")).strip(), key_of(row, KEY_FIELD))
            first = predictions.setdefault(key, prediction)
            if first.row.prediction != prediction.row.prediction:
                raise CorpusError(f"an earlier row has the id {prediction.id!r} and another prediction.")
        if first is not prediction:
            references = dict.fromkeys((*first.row.references, *prediction.row.references))
            predictions[key] = replace(first, row=replace(first.row, references=(*references,)))
    if not predictions:
        raise CorpusError(f"{place} holds no row.")
    return tuple(predictions.values())


def _prediction(row: dict[str, object], preparation: Preparation, clean_outputs: Sequence[Cleaning]) -> Prediction:
    row_id = row.get("id")
    # An empty cell of a CSV file is none.
    source = None if row.get("source") in (None, "") else preparation.text(text_of(row, "source"))
    name = cleaned(row_id) if isinstance(row_id, str) else row_id
    written = joined_text_of(row, "prediction", preparation.list_predictions)
    text, raw = clean_output(written, clean_outputs)
    summary = Row(preparation.text(text or ""), _references(row, preparation), source)
    parts = texts_in(row["prediction"], "prediction") if preparation.list_predictions == "join" else ()
    return Prediction(name, summary, written if raw else None, parts)


def _references(row: dict[str, object], preparation: Preparation) -> tuple[str, ...]:
    """Return the references of the first field that holds one."""
    for name in REFERENCE_FIELDS:
        if references := preparation.references(to_references(row.get(name), name)):
            return references
    raise CorpusError(
        f"There is no reference: none of the fields {', '.join(REFERENCE_FIELDS)} has one. The row has the fields: "
        f"{', '.join(map(str, row)) or '(none)'}.",
        settings=("reference_field", "references_file"),
    )


def row_lines(scores: Mapping[str, FileScore]) -> Iterator[Mapping[str, Any]]:
    """Yield the scores of each row as `{"row", "id", "words", "metrics"}` for `--per-row`, behind its system."""
    for system, score in scores.items():
        for index, prediction in enumerate(score.predictions):
            metrics = {
                name: dict(zip(metric.intervals, metric.rows[index].tolist(), strict=True))
                for name, metric in score.metrics.items()
            }
            line = {"row": index + 1, "id": prediction.id, "words": count_words(prediction.row.prediction)}
            yield ({"system": system} if system else {}) | line | {"metrics": metrics}


def scores_json(scores: Mapping[str, FileScore]) -> dict[str, Any]:
    """Return what `nws score --json` prints: the scores of a file, or of each of its systems by name."""
    by_name = {system: score.as_dict() for system, score in scores.items()}
    return by_name.get("") or {"systems": by_name}


def print_score(scores: Mapping[str, FileScore], console: Console) -> None:
    """Print each metric with the interval of its F1 or score, and how it was computed.

    Args:
        scores: the scores by system; for a file without several systems, its score under "".
        console: the console to print to.
    """
    one = next(iter(scores.values()))
    rows = counted(sum(len(score.predictions) for score in scores.values()), "row")
    of_systems = f" of {counted(len(scores), 'system')}" if len(scores) > 1 else ""
    print_line(console, f"{rows}{of_systems}, seed {one.seed}")
    console.print()
    if len(scores) == 1:
        columns = ("metric", "precision", "recall", "F1 / score", "95 % CI")
        Table(columns, [_metric_cells(name, metric) for name, metric in one.metrics.items()]).print(console)
    else:
        cells = [
            (system, len(score.predictions), *(Cell(*_last_part(metric)) for metric in score.metrics.values()))
            for system, score in scores.items()
        ]
        Table(("system", "rows", *one.metrics), cells, notes=("F1 or score. Below: its 95 % CI.",)).print(console)
    if any(score.kinds for score in scores.values()):
        _kinds_table(scores).print(console)
    lines = ["", *_interval_notes(scores.values()), "", "How each metric was computed:"]
    of_metrics = [metric.signature for score in scores.values() for metric in score.metrics.values()]
    of_kinds = [f"kept by kind|{score.word_kinds}" for score in scores.values() if score.kinds]
    for signature in dict.fromkeys(of_metrics + of_kinds):
        lines += signature_lines(signature, WIDTH)
    for line in lines:
        print_line(console, line)


def _kinds_table(scores: Mapping[str, FileScore]) -> Table:
    """Make the table of what each system keeps of each kind of word, in per cent; a row for each kind."""
    cells = [
        (KIND_NAMES[kind], *(kind_cell(of.kinds[kind].interval) if kind in of.kinds else "" for of in scores.values()))
        for kind in KINDS
        if any(kind in of.kinds for of in scores.values())
    ]
    title = "Content kept by kind of word, in %, and its 95 % CI"
    return Table(("kind", *(system or "kept" for system in scores)), cells, title, (FEW_OF_KIND,))


def _interval_notes(scores: Collection[FileScore]) -> Iterator[str]:
    """Yield notes on how the intervals were computed, and on whether there are enough rows for them."""
    metrics = next(iter(scores)).metrics
    resampled = [name for name, metric in metrics.items() if metric.method == "bootstrap"]
    if len(resampled) < len(metrics):
        yield "Intervals of means over rows: Student's t."
    if resampled:
        yield f"Intervals of {', '.join(resampled)}: percentile bootstrap over rows."
    if caution := small_sample_caution(min(len(score.predictions) for score in scores), "rows"):
        yield caution


def _metric_cells(name: str, metric: MetricScore) -> tuple[str | Cell, ...]:
    *others, _ = metric.intervals.values()
    numbers = [f"{part.mean:.4f}" for part in others] or ["", ""]
    return name, *map(Cell, (*numbers, *_last_part(metric)))


def _last_part(metric: MetricScore) -> tuple[str, str]:
    """Return the F1 or score, and its interval."""
    last = [*metric.intervals.values()][-1]
    return f"{last.mean:.4f}", "no interval" if last.low is None else f"{last.low:.4f} to {last.high:.4f}"
