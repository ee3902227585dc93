"""Both ways of multiplying on any machine: the one its CPU would take, and the other."""

from collections.abc import Iterator

import pytest

from nws.core import arithmetic


@pytest.fixture(params=["MKL", "oneDNN"])
def multiplied_by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Loaded models multiply with this library, whatever the CPU's maker."""
    if request.param == "oneDNN" and not arithmetic.onednn_works():
        pytest.skip("this PyTorch has no prepacked oneDNN layers")
    monkeypatch.setattr(arithmetic, "onednn_is_faster", lambda: request.param == "oneDNN")
    for told in (arithmetic.rows_are_independent, arithmetic.describe_arithmetic):
        told.cache_clear()
    yield request.param
    for told in (arithmetic.rows_are_independent, arithmetic.describe_arithmetic):
        told.cache_clear()
