import sys
from types import ModuleType

import pytest

from core.names import Registry, did_you_mean


@pytest.fixture
def things(monkeypatch: pytest.MonkeyPatch) -> Registry[int]:
    module = ModuleType("module_of_things")
    module.ONE = 1  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "module_of_things", module)
    places = {"one": "module_of_things:ONE", "elsewhere": "a_module_that_is_not_there:TWO"}
    return Registry("thing", places, besides=", besides any number")


def test_only_what_is_asked_for_is_imported(things: Registry[int]) -> None:
    assert things["one"] == things.get("one") == 1
    assert (list(things), len(things)) == (["one", "elsewhere"], 2)
    assert "elsewhere" in things
    assert "two" not in things
    assert things.get("two") is None
    with pytest.raises(KeyError):
        things["two"]
    with pytest.raises(ModuleNotFoundError, match="a_module_that_is_not_there"):
        things["elsewhere"]


def test_an_unknown_name_is_told_with_the_known_ones(things: Registry[int]) -> None:
    error = things.unknown("onn", "thing")
    told = "There is no thing 'onn'. The things are one, elsewhere, besides any number. Did you mean 'one'?"
    assert (str(error), error.settings) == (told, ("thing",))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("textrnk", " Did you mean 'textrank'?"),
        ("TextRank", " Did you mean 'textrank'?"),
        ("bert-large-cnn", " Did you mean 'BART-large-cnn'?"),
        ("luhn", ""),
        ("", ""),
    ],
)
def test_a_name_much_like_it_is_meant(name: str, meant: str) -> None:
    assert did_you_mean(name, ("textrank", "textrank-words", "BART-large-cnn")) == meant
