"""The contract holds for NWS's own systems, and finds each thing that may be wrong with another's."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.errors import PluginError
from core.systems.extractive_baselines import BASELINES, make_baseline
from core.systems.system import Document, Draft
from core.testing import ENCODER, check_plugin, check_system
from core.types import SystemKind


@pytest.mark.parametrize("name", sorted(BASELINES.keys() - {"oracle"}))
def test_our_own_systems_keep_it(name: str) -> None:
    check_system(make_baseline(name, ENCODER, 0), [])


@dataclass
class Wrong:
    """Writes as `how` says."""

    how: str
    kind: SystemKind = "system"
    has_uncut: bool = False
    calls: int = 0

    @property
    def signature(self) -> str:
        return "wrong"

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        self.calls += 1
        words = document.segmented.words
        match self.how:
            case "longer":
                return [Draft(n, " ".join((words * 2)[: n + 1])) for n in lengths]
            case "fewer drafts":
                return [Draft(n, words[0]) for n in lengths[1:]]
            case "other each time":
                return [Draft(n, words[self.calls % 2]) for n in lengths]
            case "by its company":
                return [Draft(n, words[len(lengths) > 1]) for n in lengths]
            case _:
                document.f1([words[0]])
                return [Draft(n, words[0]) for n in lengths]


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ("longer", PluginError, "wrote 2 words at n = 1"),
        ("fewer drafts", PluginError, r"returned drafts of n = \[3, 7, 13\], not \[1, 3, 7, 13\]"),
        ("other each time", AssertionError, "wrong writes other texts the second time"),
        ("by its company", AssertionError, "wrong writes another text at n = 1 where no other length"),
        ("asks for scores", AssertionError, "only a system of the kind 'upper bound'"),
    ],
)
def test_what_is_wrong_is_found(how: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        check_system(Wrong(how))


@pytest.mark.parametrize("page", ["docs/your-own.md", "README.md"])
def test_the_examples_of_the_pages_keep_it(page: str, tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    examples = [block for block in blocks if "SYSTEMS = {" in block or "METRICS = {" in block]
    assert len(examples) == (4 if page.startswith("docs") else 1)
    for number, example in enumerate(examples):
        (tmp_path / f"{number}.py").write_text(example)
        assert check_plugin(str(tmp_path / f"{number}.py"))


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        ("return len(references) / (len(summary.split()) - 1)", PluginError, r"ZeroDivisionError: .* \(line 4\)"),
        ("calls.append(1); return len(calls)", AssertionError, "mine is .*, and .* the second time"),
        ("return len(references[0])", AssertionError, r"mine is 28\.0, and 4\.0 with its references in another order"),
        ("return 1\nSYSTEMS = {'all': lambda text, n: text}", PluginError, r"all of mine\.py wrote \d+ words at n = 1"),
    ],
)
def test_what_is_wrong_in_a_file_is_found(body: str, error: type[Exception], message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(f"calls = []\n\ndef mine(summary, references):\n    {body}\nMETRICS = {{'mine': mine}}\n")
    with pytest.raises(error, match=message):
        check_plugin(str(path))
