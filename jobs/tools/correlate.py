"""`nws correlate`: how well metrics agree with human scores, and which of them does so best."""

import contextlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from threadpoolctl import threadpool_limits

from nws.core.analysis.correlation import (
    COEFFICIENTS,
    LEVELS,
    Correlation,
    FloatArray,
    Level,
    correlations,
    resampled_correlations,
    shares_of_pairs,
)
from nws.core.analysis.perm_systems import COUNTED, MOST_EXCHANGES, Difference, differences
from nws.core.errors import CorpusError, RecipeError
from nws.core.findings.comparisons import TWO_SIDED_LEVEL
from nws.core.findings.scores import CONFIDENCE
from nws.core.text.length import count_words
from nws.core.text.model_outputs import DEFAULT_CLEANING, clean_output
from nws.core.text.reader import naming, read_rows
from nws.core.text.rows import joined_text_of, name_of, shown, value_of
from nws.jobs.report.numerals import counted, decimals, p_text, signed
from nws.jobs.report.printed_lines import print_line
from nws.jobs.report.table import MISSING, Cell, Mark, Table

SYSTEM, DOCUMENT = "system", "document"
WORDS = "words"
"""How many words a summary has: beside the metrics, since it shows what length alone explains."""
TEXTS = ("prediction", "summary")
"""Fields whose words are counted where there is no field `WORDS`; the first that is there."""
GAP_MARKS = ("", "nan", "null", "none", "na", "n/a", "<na>", "#n/a")
"""What stands in a cell without a score, in small letters."""
FEWEST = 3
"""With two systems or documents, every correlation is 1, -1 or undefined."""
RESAMPLES = 1_000
SIGNATURE = (
    "correlation|system:of-means-over-documents|summary:mean-over-documents|kendall:tau-b"
    f"|interval:boot-both-percentile-{CONFIDENCE}|resamples:{RESAMPLES}"
    f"|test:perm-systems-two-sided-all-up-to-{COUNTED}-systems-else-at-most-{MOST_EXCHANGES}"
)
_LEVELS = {"system": "System level: mean scores of systems", "summary": "Summary level: mean over documents"}
_FEW_SYSTEMS = 30
_WORDS_NEEDED = f"The file must have the summaries as {TEXTS[0]!r}, or their numbers of words as {WORDS!r}."


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """Scores of systems on documents.

    Attributes:
        systems: the systems in the order of the file.
        documents: the documents in the order of the file.
        scores: the scores by column, float64 of shape (systems, documents); NaN without a score or a row.
        averaged: the number of pairs of a system and a document with several human scores, of which the mean counts.
    """

    systems: tuple[str, ...]
    documents: tuple[str, ...]
    scores: Mapping[str, FloatArray]
    averaged: int

    def with_shared_gaps(self, columns: Sequence[str]) -> "ScoreTable":
        """Put a gap into every column where one of these has it. Leave out systems and documents of gaps alone.

        Raises:
            CorpusError: too few systems or documents are left.
        """
        there = np.logical_and.reduce([~np.isnan(self.scores[name]) for name in columns])
        kept = there.any(axis=1), there.any(axis=0)
        systems = tuple(itertools.compress(self.systems, kept[0]))
        documents = tuple(itertools.compress(self.documents, kept[1]))
        if min(len(systems), len(documents)) < FEWEST:
            raise CorpusError(
                f"{len(systems)} systems ({', '.join(systems)}) and {len(documents)} documents have a score of each of "
                f"{', '.join(columns)}; a correlation needs at least {FEWEST} of both."
            )
        scores = {name: np.where(there, values, np.nan)[np.ix_(*kept)] for name, values in self.scores.items()}
        return ScoreTable(systems, documents, scores, self.averaged)


def read_scores(path: Path, columns: Sequence[str], human: str | None = None) -> ScoreTable:
    """Read a JSONL, CSV or Parquet file with the fields `system`, `document` and `columns`, one row a summary.

    The column `WORDS` is read in any case. It is NaN where a row has neither a number nor a text for it.

    Args:
        path: the file.
        columns: the columns of scores.
        human: the one of them that may hold a list with the score of each annotator, or stand in a row for each: a
            summary has their mean.

    Raises:
        RecipeError: a column is named twice.
        CorpusError: a row is malformed or there twice (named by its line), or there is none.
    """
    if twice := [column for column in columns if columns.count(column) > 1]:
        raise RecipeError(f"Column {twice[0]!r} is named twice.")
    others = [column for column in columns if column not in (WORDS, human)]
    cells: dict[tuple[str, str], tuple[float, ...]] = {}
    lines: dict[tuple[str, str], str] = {}
    ratings: dict[tuple[str, str], list[float]] = {}
    for where, row in read_rows(path, (SYSTEM, DOCUMENT, *columns, WORDS, *TEXTS)):
        with naming(path, where):
            key = name_of(row, SYSTEM).strip(), name_of(row, DOCUMENT).strip()
            cell = *(_number(row, column) for column in others), _words(row, is_needed=WORDS in columns)
            if key in cells and (human is None or not np.array_equal(cells[key], cell, equal_nan=True)):
                alike = f" Rows of several annotators may differ only in {human!r}." if human else ""
                raise CorpusError(f"System {key[0]!r} already has document {key[1]!r} in {lines[key]}.{alike}")
            cells[key] = cell
            lines.setdefault(key, where)
            ratings.setdefault(key, []).extend(_ratings(row, human) if human else ())
    if not cells:
        raise CorpusError(f"{path} holds no row.")
    systems, documents = (tuple(dict.fromkeys(key[i] for key in cells)) for i in (0, 1))
    means = {key: math.fsum(given) / len(given) if given else math.nan for key, given in ratings.items()}
    rows = {key: (*cell, means[key]) for key, cell in cells.items()}
    gaps = (math.nan,) * (len(others) + 2)
    values = np.array([[rows.get((system, document), gaps) for document in documents] for system in systems])
    names = [*others, WORDS, *([human] if human else [])]
    scores = {name: values[:, :, i] for i, name in enumerate(names)}
    return ScoreTable(systems, documents, scores, sum(len(given) > 1 for given in ratings.values()))


def _ratings(row: dict[str, object], human: str) -> list[float]:
    """Return the human scores in a row that are there."""
    value = value_of(row, human)
    given = value if isinstance(value, list) else [value]
    return [number for one in given if not math.isnan(number := _number({human: one}, human))]


def _words(row: dict[str, object], is_needed: bool) -> float:
    """Return the field `WORDS` of a row, or the number of words of its text; NaN where it has neither and need not."""
    field = next((name for name in (WORDS, *TEXTS) if name in row), WORDS)
    with contextlib.suppress(*() if is_needed else (CorpusError,)):
        if field == WORDS:
            return _number(row, WORDS)
        if text := joined_text_of(row, field):
            return float(count_words(clean_output(text, DEFAULT_CLEANING)[0] or ""))
    return math.nan


def _number(row: dict[str, object], field: str) -> float:
    """Return the number in a field, NaN where it is a gap. A cell of a CSV file is text."""
    value = value_of(row, field)
    if str(value).strip().lower() in GAP_MARKS:
        return math.nan
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, str | int | float) else float(value)
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise CorpusError(f"Field {field!r} holds {shown(value)}, not a finite number.")
    return number


@dataclass(frozen=True, slots=True)
class FileCorrelation:
    """The correlations of the metrics of a file with its human scores, and the differences between metrics.

    Attributes:
        table: the scores of pairs of a system and a document that have one in each column.
        pairs: the number of pairs that have a score, by column.
        possible: the number of pairs that there could be.
        equal_length: `words_apart`, the most in a pair of equal length, and `pairs`, how many people tell apart; None
            where nobody asked.
    """

    human: str
    table: ScoreTable
    pairs: Mapping[str, int]
    possible: int
    correlations: tuple[Correlation, ...]
    differences: tuple[Difference, ...]
    seed: int
    equal_length: Mapping[str, int] | None

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as `nws correlate --json` prints them."""
        averaged = "|human:mean-over-annotators" if self.table.averaged else ""
        gaps = "" if min(self.pairs.values()) == self.possible else "|gaps:by-pair"
        return {
            "human": self.human,
            "systems": len(self.table.systems),
            "documents": len(self.table.documents),
            "pairs": self.pairs,
            "possible_pairs": self.possible,
            "averaged_pairs": self.table.averaged,
            "metrics": _by_metric(self.correlations),
            "equal_length": self.equal_length,
            "differences": [asdict(row) | {"significant": row.significant} for row in self.differences],
            "holm_family": "all pairs of metrics at one level, for one coefficient",
            "signature": SIGNATURE + averaged + gaps,
            "seed": self.seed,
        }


def correlate_file(
    path: Path, metrics: Sequence[str], human: str, seed: int, equal_length: int | None = None
) -> FileCorrelation:
    """Correlate columns of a JSONL, CSV or Parquet file with its column of human scores.

    Args:
        path: the file.
        metrics: columns. `WORDS` stands beside them if every summary has it, and is tested only where it is named.
        human: the column of human scores.
        seed: the seed of resamples and exchanges.
        equal_length: the most words that the summaries of a pair are apart; None: no pair level.

    Raises:
        RecipeError: no metric is named, or a column twice.
        CorpusError: a row is malformed or there twice (named by its line), or there are too few systems or documents.
    """
    if not metrics:
        raise RecipeError("--metrics names no column.")
    table = read_scores(path, [*metrics, human], human)
    shared = table.with_shared_gaps([*metrics, human])
    scores, gold, words = {name: shared.scores[name] for name in metrics}, shared.scores[human], shared.scores[WORDS]
    measured = scores if human == WORDS or np.isnan(words[~np.isnan(gold)]).any() else scores | {WORDS: words}
    with threadpool_limits(1, user_api="blas"):  # the products are so small that threads would wait for each other
        resampled = resampled_correlations(measured, gold, seed=seed, resamples=RESAMPLES)
        agreement = correlations(measured, gold, resampled)
        compared = differences(scores, gold, resampled, seed=seed)
        equal = None
        if equal_length is not None:
            if WORDS not in measured:
                raise CorpusError(f"Pairs of equal length need the length of every summary. {_WORDS_NEEDED}")
            count, shares = shares_of_pairs(measured, gold, words, equal_length, seed=seed, resamples=RESAMPLES)
            agreement, equal = agreement + shares, {"words_apart": equal_length, "pairs": count}
    pairs = {name: int((~np.isnan(table.scores[name])).sum()) for name in (*metrics, human)}
    return FileCorrelation(human, shared, pairs, table.scores[human].size, agreement, compared, seed, equal)


def _by_metric(correlations: Sequence[Correlation]) -> dict[str, Any]:
    """Return by metric, level and coefficient the value, its interval, and what they are made of."""
    nested: dict[str, Any] = {}
    for correlation in correlations:
        of_level = nested.setdefault(correlation.metric, {}).setdefault(correlation.level, {})
        of_level[correlation.coefficient] = {
            "value": correlation.value,
            "interval": None if correlation.value is None else [correlation.low, correlation.high],
            "documents_left_out": correlation.documents_left_out,
            "resamples": correlation.resamples,
        }
    return nested


def print_correlation(result: FileCorrelation, console: Console) -> None:
    """Print every correlation with its interval, every difference with its p, and how to read them."""
    table = result.table
    size = f"{len(table.systems)} systems, {len(table.documents)} documents"
    print_line(console, f"Correlation with {result.human}: {size}, seed {result.seed}")
    for level in dict.fromkeys(row.level for row in result.correlations):
        _values_table(result, level).print(console)
    for level in LEVELS if result.differences else ():
        _differences_table(result, level).print(console)
    console.print()
    for note in _notes(result):
        print_line(console, note, style="yellow")
    for line in _how_to_read(result):
        print_line(console, line, style="dim")


def _values_table(result: FileCorrelation, level: Level) -> Table:
    of_level = [row for row in result.correlations if row.level == level]
    names = dict.fromkeys(row.coefficient.capitalize() for row in of_level)
    rows = [(metric, *map(_value_cell, row)) for metric, row in itertools.groupby(of_level, lambda row: row.metric)]
    return Table(("metric", *names), rows, _LEVELS.get(level, "Pairs of equal length"))


def _value_cell(correlation: Correlation) -> Cell:
    if correlation.value is None or correlation.low is None or correlation.high is None:
        return Cell("undefined")
    return Cell(decimals(correlation.value), f"{decimals(correlation.low)} to {decimals(correlation.high)}")


def _differences_table(result: FileCorrelation, level: Level) -> Table:
    by_pair = {(f"{row.a} − {row.b}", row.coefficient): row for row in result.differences if row.level == level}
    columns = [column for name in COEFFICIENTS for column in (name.capitalize(), "Holm p")]
    rows = []
    for pair in dict.fromkeys(pair for pair, _ in by_pair):
        cells = (cell for name in COEFFICIENTS for cell in _difference_cells(by_pair[pair, name]))
        rows.append((pair, *cells))
    return Table(("A − B", *columns), rows, f"A − B at the {level} level")


def _difference_cells(difference: Difference) -> tuple[Cell, Cell]:
    low, high = difference.low, difference.high
    if difference.difference is None or difference.p_holm is None or low is None or high is None:
        return Cell("undefined"), MISSING
    mark: Mark = "*" if difference.significant else "?" if difference.near else ""
    p = Cell(p_text(difference.p_holm, 3), mark=mark)
    return Cell(signed(difference.difference), f"{signed(low)} to {signed(high)}"), p


def _notes(result: FileCorrelation) -> Iterator[str]:
    """Yield notes on these scores, a line each."""
    if averaged := result.table.averaged:
        yield f"{averaged} pairs of a system and a document have several {result.human} scores: their mean counts."
    for name, pairs in result.pairs.items():
        if pairs < result.possible:
            kind = "human" if name == result.human else name
            yield f"{pairs} of {result.possible} pairs of a system and a document have a {kind} score."
    if missing := int(np.isnan(result.table.scores[WORDS]).sum() - np.isnan(result.table.scores[result.human]).sum()):
        yield f"There is no row {WORDS!r}, since the length of {missing:,} summaries is unknown. {_WORDS_NEEDED}"
    for one in result.correlations:
        if one.documents_left_out and one.coefficient == COEFFICIENTS[0]:
            documents = f"{one.documents_left_out} of {len(result.table.documents)} documents have no correlation"
            why = _why_left_out(result, one.metric, one.documents_left_out)
            yield f"{one.metric}: {documents}, {why}. The summary level leaves them out."
    count, pairs = len(result.table.systems), len({(one.a, one.b) for one in result.differences})
    smallest = 2.0 * pairs / 2.0**count
    if pairs and smallest >= TWO_SIDED_LEVEL:
        yield (
            f"{count} systems, {counted(pairs, 'pair')} of metrics: Holm p cannot fall below "
            f"{decimals(min(1, smallest))}, so no difference can be significant."
        )
    if any(one.near for one in result.differences):
        level = decimals(TWO_SIDED_LEVEL, 2)
        yield f"? undecided: Holm p is so near to {level} that another seed may lead to the opposite verdict."
    if len(result.table.systems) < _FEW_SYSTEMS:
        yield f"With {len(result.table.systems)} systems, the intervals at the system level are too narrow."


def _why_left_out(result: FileCorrelation, metric: str, count: int) -> str:
    """Say why so many documents have no correlation of a metric with the human scores."""
    both = np.stack([result.table.scores[metric], result.table.scores[result.human]])
    is_alone = (~np.isnan(both)).all(axis=0).sum(axis=0) < 2
    is_flat = (np.nanmax(both, axis=1) == np.nanmin(both, axis=1)).any(axis=0) & ~is_alone
    alone, flat = int(is_alone.sum()), int(is_flat.sum())
    if flat == count:
        return "since every system has the same score there"
    reasons = {
        "only one system": alone,
        "the same score of every system": flat,
        "too small differences": count - alone - flat,
    }
    return "since " + " and ".join(f"{number} have {reason}" for reason, number in reasons.items() if number)


def _how_to_read(result: FileCorrelation) -> Iterator[str]:
    yield f"Intervals: 95 % CIs; systems and documents resampled {RESAMPLES:,} times (Boot-Both). Not corrected."
    if equal := result.equal_length:
        apart = f"of one document, at most {counted(equal['words_apart'], 'word')} apart. A tie counts half."
        which = f"in {equal['pairs']:,} pairs of summaries {apart}"
        yield f"Share: how often the metric prefers the summary that people prefer, {which}"
    if result.differences:
        yield f"* significant: Holm p below {decimals(TWO_SIDED_LEVEL, 2)}. Above 0, A agrees better; below 0, B does."
        ways = "in all possible ways" if len(result.table.systems) <= COUNTED else "at random until no verdict is open"
        yield f"p: permutation test (Perm-Systems): the scores of both metrics are exchanged by system, {ways}."
        yield "Holm p: corrected over all pairs at one level, for one coefficient. Choose the metrics beforehand."
