from collections.abc import Callable

import pytest
import tenacity

from nws.core.errors import StoreError, StoreUnavailableError
from nws.jobs.store import database
from nws.jobs.store.database import patiently


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenacity.nap.time, "sleep", lambda seconds: None)


def failing(times: int, error: Exception) -> Callable[[], str]:
    left = [times]

    def call() -> str:
        if left[0]:
            left[0] -= 1
            raise error
        return "done"

    return call


def test_what_comes_back_is_waited_for_and_told_once() -> None:
    told: list[str] = []
    assert patiently(lambda: 3, told.append) == 3
    assert told == []
    assert patiently(failing(5, StoreUnavailableError("refused")), told.append) == "done"
    assert told == ["Waiting for the store, for up to 60 minutes: refused", "The store is back."]


def test_patience_ends_and_what_will_not_change_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "PATIENCE_SECONDS", 0.0)
    with pytest.raises(StoreUnavailableError, match="refused"):
        patiently(failing(2, StoreUnavailableError("refused")), lambda text: None)
    with pytest.raises(StoreError, match="permission denied"):
        patiently(failing(1, StoreError("permission denied")), print)
