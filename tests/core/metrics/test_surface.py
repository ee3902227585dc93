import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.metrics.surface import density, efficiency


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
