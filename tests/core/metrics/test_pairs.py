from collections import Counter

import numpy as np
import pytest

from core.metrics.metric import PairMetric, Row, clipped_overlap, over_references, overlap
from core.types import Score

LOW, HIGH, ALSO_HIGH = Score(1.0, 0.1, 0.2), Score(0.3, 0.6, 0.4), Score(0.6, 0.3, 0.4)


def test_the_best_reference_is_that_with_the_highest_f1_and_the_first_of_equals() -> None:
    assert over_references([LOW, HIGH, ALSO_HIGH], "best") == HIGH


def test_the_mean_is_taken_of_precision_recall_and_f1() -> None:
    mean = over_references([LOW, HIGH], "mean")
    assert (mean.precision, mean.recall, mean.f1) == pytest.approx((0.65, 0.35, 0.3))


@pytest.mark.parametrize("references", ["best", "mean"])
def test_no_reference_scores_zero(references: str) -> None:
    assert over_references([], references) == Score(0, 0, 0)


def test_counts_are_clipped_on_both_sides() -> None:
    assert clipped_overlap(Counter("aaab"), Counter("aabbb")) == overlap(3, 4, 5)
    assert overlap(3, 4, 5) == Score(0.75, 0.6, 2 * 0.75 * 0.6 / 1.35)
    assert overlap(0, 0, 0) == Score(0, 0, 0)


def test_rows_become_statistics_and_their_score_is_the_mean() -> None:
    metric = PairMetric("same", "any", lambda text, ref: overlap(int(text == ref), 1, 1), "mean")
    statistics = metric.statistics([Row("a", ("a",)), Row("a", ("b", "a")), Row("a", ())])
    np.testing.assert_array_equal(statistics, [[1, 1, 1], [0.5, 0.5, 0.5], [0, 0, 0]])
    np.testing.assert_array_equal(metric.score(statistics), [0.5, 0.5, 0.5])
    assert metric.statistics([]).shape == (0, 3)
    assert metric.parts == ("precision", "recall", "f1")
    assert metric.signature == "same|any|refs:mean"
