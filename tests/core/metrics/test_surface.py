from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nws.core.errors import CorpusError
from nws.core.metrics.metric import Row
from nws.core.metrics.registry import make_metric
from nws.core.metrics.surface import coverage, density, efficiency_metric
from nws.core.text.fragments import coverage_and_density

ARTICLE = "One two three four five six seven eight nine ten eleven."


@pytest.mark.parametrize("share", [density, coverage])
def test_the_share_of_words_that_the_article_has(share: Callable[[str, str], float]) -> None:
    assert share("one TWO, three four five six seven eight nine ten eleven twelve", ARTICLE) == pytest.approx(11 / 12)
    assert share("", ARTICLE) == 0.0
    assert share("...", ARTICLE) == 0.0


WORDS = st.lists(st.sampled_from("abcde"), max_size=12).map(" ".join)


@given(WORDS, WORDS)
def test_coverage_is_that_of_extractive_fragments(summary: str, article: str) -> None:
    s, a = summary.split(), article.split()
    assert coverage(summary, article) == (coverage_and_density(a, s)[0] if s else 0)


def test_efficiency_of_rows_is_f1_per_word() -> None:
    metric = efficiency_metric(make_metric("rouge1"))  # the division is the same for any F1
    rows = [Row("a cat", ("a cat",)), Row("a b c d", ("a x y z",)), Row("", ("a",))]
    assert metric.statistics(rows)[:, 0].tolist() == [1 / 2, (1 / 4) / 4, 0]
    assert metric.score(metric.statistics(rows))[0] == pytest.approx((1 / 2 + 1 / 16) / 3)
    assert metric.signature == f"efficiency|bertscore_f1/words|{make_metric('rouge1').signature}"


def test_density_of_rows_and_a_missing_source() -> None:
    rows = [Row("a cat", (), "A cat sat."), Row("a dog", (), "A cat sat.")]
    metric = make_metric("density")
    assert metric.statistics(rows)[:, 0].tolist() == [1.0, 0.5]
    assert metric.score(metric.statistics(rows)).tolist() == [0.75]
    with pytest.raises(CorpusError, match="density compares a prediction with its source, but row 2 has no source"):
        metric.statistics([rows[0], Row("a", ("a",))])
    assert make_metric("coverage").statistics([Row("a a dog", (), "A cat sat.")])[:, 0].tolist() == [2 / 3]
