import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import CorpusError
from core.metrics.metric import Row
from core.metrics.rouge import rouge
from core.metrics.surface import Density, Efficiency, density, efficiency


def test_efficiency() -> None:
    assert efficiency(0.42, 9) == pytest.approx(0.0467, abs=5e-5)
    assert efficiency(0.0, 0) == 0.0


def test_density() -> None:
    article = "One two three four five six seven eight nine ten eleven."
    assert density("one TWO, three four five six seven eight nine ten eleven twelve", article) == pytest.approx(11 / 12)
    assert density("", article) == 0.0
    assert density("...", article) == 0.0


@given(st.text())
def test_a_text_is_found_in_itself(text: str) -> None:
    assert density(text, text) in (0.0, 1.0)


def test_efficiency_of_rows_is_f1_per_word() -> None:
    metric = Efficiency(rouge("rouge1"))  # the division is the same for any F1
    rows = [Row("a cat", ("a cat",)), Row("a b c d", ("a x y z",)), Row("", ("a",))]
    assert metric.statistics(rows)[:, 0].tolist() == [1 / 2, (1 / 4) / 4, 0]
    assert metric.score(metric.statistics(rows))[0] == pytest.approx((1 / 2 + 1 / 16) / 3)
    assert metric.signature == f"efficiency|bertscore_f1/words|{rouge('rouge1').signature}"


def test_density_of_rows_and_a_missing_source() -> None:
    rows = [Row("a cat", (), "A cat sat."), Row("a dog", (), "A cat sat.")]
    assert Density().statistics(rows)[:, 0].tolist() == [1.0, 0.5]
    assert Density().score(Density().statistics(rows)).tolist() == [0.75]
    with pytest.raises(CorpusError, match="row 2 has no source"):
        Density().statistics([rows[0], Row("a", ("a",))])
