"""What a person reaches, where a row has several references: each of them is scored as a prediction is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.errors import CorpusError
from core.metrics.metric import FloatArray, Metric, Row


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
