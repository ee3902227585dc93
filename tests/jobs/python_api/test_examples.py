"""The examples in the docstrings of `nws` give what they say."""

import doctest
from pathlib import Path
from types import FunctionType

import pytest

import nws


@pytest.mark.slow
@pytest.mark.parametrize("name", ["open_store", "score", "summarize", "sweep"])
def test_the_example_of(name: str, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workplace)
    (examples,) = doctest.DocTestFinder(recurse=False).find(getattr(nws, name), name, globs={})
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
    found = runner.run(examples, out=report.append)
    assert found.failed == 0, "".join(report)
    assert found.attempted >= 4


@pytest.mark.parametrize("name", ["Result", "RunStore", "ScoreResult"])
def test_every_method_of(name: str) -> None:
    """Each is in an example, and so is run above."""
    parser = doctest.DocTestParser()
    functions = [nws.open_store, nws.score, nws.summarize, nws.sweep]
    code = "".join(example.source for one in functions for example in parser.get_examples(one.__doc__ or ""))
    offered = vars(getattr(nws, name)).items()
    methods = [at for at, value in offered if not at.startswith("_") and isinstance(value, FunctionType | property)]
    assert len(methods) >= 3
    assert [method for method in methods if f".{method}" not in code] == []


def test_what_is_public_is_described() -> None:
    assert [name for name in nws.__all__ if not getattr(nws, name).__doc__] == []
