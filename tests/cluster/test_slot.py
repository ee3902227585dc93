from types import SimpleNamespace
from typing import Any, Self

import pytest

from cluster import actor_pool as slots
from cluster.actor_pool import Call, Slot
from cluster.dispatcher import Task


class Method:
    """Of an actor that answers never; what it returns stands for an ObjectRef."""

    def options(self, name: str) -> Self:
        return self

    def remote(self, argument: Any) -> object:
        return object()


def test_an_actor_is_busy_from_its_first_call_to_its_last_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(slots.time, "monotonic", lambda: now[0])
    slot = Slot(0, SimpleNamespace(sweep=Method()), since=100.0)
    now[0] = 130.0
    assert slot.busy_seconds == 0
    first, second = (slot.send(Call(Task("bundle", 10), "sweep", None)) for _ in range(2))
    now[0] = 135.0
    assert slot.busy_seconds == 5
    slot.came_back(first)  # the second one waits behind it
    now[0] = 142.0
    assert slot.busy_seconds == 12
    slot.came_back(second)
    now[0] = 190.0
    assert slot.busy_seconds == 12
    slot.send(Call(Task("bundle", 10), "sweep", None))
    now[0] = 191.0
    assert slot.busy_seconds == 13
