import hashlib
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from documents import document

from core.errors import PluginError, RecipeError
from core.plugins.adapters import PluginSystem, plugin_systems, require_drafts
from core.plugins.load import PluginSpec, read_plugin
from core.systems.system import Draft
from core.text.length import UNCUT

TAIL = """
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from core.systems.system import Document, Draft, uncut_and_cut


def tail(text: str, n: int) -> str:
    return " \\n ".join(text.split()[-n:])


@dataclass(frozen=True)
class Opening:
    has_uncut: ClassVar[bool] = True
    kind: ClassVar[str] = "control"

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        return uncut_and_cut(document.segmented.sentences[0].text, lengths, document.length_unit)


SYSTEMS = {"tail": tail, "opening": Opening()}
"""


def of_source(tmp_path: Path, source: str) -> tuple[PluginSystem, ...]:
    path = tmp_path / "mine.py"
    path.write_text(source)
    return plugin_systems(read_plugin(PluginSpec("mine.py"), path), ["enc"])


def test_functions_and_objects_of_a_file_are_systems(tmp_path: Path) -> None:
    tail, opening = of_source(tmp_path, TAIL)
    assert (tail.signature, tail.kind, tail.has_uncut, tail.encoders) == ("tail", "system", False, ())
    assert (opening.signature, opening.kind, opening.has_uncut) == ("opening", "control", True)
    assert opening.encoders == ("enc",)
    assert tail.summarize(document(), [1, 3]) == [Draft(1, "left."), Draft(3, "eta theta left.")]
    assert [draft.n for draft in opening.summarize(document(), [2])] == [UNCUT, 2]


def test_the_source_travels_and_its_hash_is_in_what_reuse_compares(tmp_path: Path) -> None:
    tail, _ = of_source(tmp_path, TAIL)
    other, _ = of_source(tmp_path, TAIL + "\n# changed\n")
    assert hashlib.sha256(TAIL.encode()).hexdigest() in repr(tail)
    assert "def tail" not in repr(tail)
    assert repr(tail) != repr(other)
    (tmp_path / "mine.py").unlink()
    assert pickle.loads(pickle.dumps(tail)).summarize(document(), [1]) == [Draft(1, "left.")]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import nothing_of_this_name", r"mine\.py cannot be imported: ModuleNotFoundError: .* \(line 1\)"),
        ("x = 1\nx.y", r"cannot be imported: AttributeError: .* \(line 2\)"),
        ("def f(:", r"cannot be imported: SyntaxError"),
        ("raise SystemExit(3)", r"cannot be imported: SystemExit: 3 \(line 1\)"),
        ("def f(text, n): return text", r"mine\.py names neither systems nor metrics: end it with SYSTEMS"),
        ("SYSTEMS = {}", r"SYSTEMS of the plugin mine\.py must be"),
        ("SYSTEMS = {'a': 'text'}", r"a of mine\.py is no system: give a function"),
        ("class A:\n    def summarize(self, d, l): ...\nSYSTEMS = {'a': A}", r"a of mine\.py is no system"),
        ("class A:\n    kind = 'best'\n    def summarize(self, d, l): ...\nSYSTEMS = {'a': A()}", "of the kind 'best'"),
    ],
)
def test_what_is_no_plugin_is_refused(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        of_source(tmp_path, source)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("lambda text, n: text", r"a of mine\.py wrote 13 words at n = 2 \(defined on line 1\)"),
        ("lambda text, n: ' '", r"wrote nothing at n = 2"),
        ("lambda text, n: 3", r"failed: TypeError: it returned int, not text \(defined on line 1\)"),
        ("lambda text, n: {}[text]", r"failed: KeyError: .* \(line 1\)"),
        ("lambda text: text", r"a of mine\.py failed: TypeError: .* 2 were given \(defined on line 1\)"),
        ("lambda text, n: text * 10_000", r"wrote too much at n = 2: A summary has \d{6} characters; at most 100000"),
        ("lambda text, n: __import__('sys').exit(7)", r"^a of mine\.py failed: SystemExit: 7 \(line 1\)$"),
    ],
)
def test_what_no_system_may_write_is_the_failure_of_that_article(tmp_path: Path, function: str, message: str) -> None:
    (system,) = of_source(tmp_path, f"SYSTEMS = {{'a': {function}}}")
    with pytest.raises(PluginError, match=message):
        system.summarize(document(), [2])


@pytest.mark.parametrize(
    ("drafts", "said"),
    [
        ("text", "returned no list of Drafts"),
        ([], r"returned drafts of n = \[\], not \[2\]"),
        ([Draft(2, "a", extra={"x": float("nan")})], "gave x = nan at n = 2: extra holds texts and finite numbers"),
        ([Draft(2, "a", extra={"x": b"y" * 10**6})], r"gave x = b'yyy.{0,99} at n = 2: extra holds"),
        ([Draft(2, "a", extra={"scores": 1.0})], "gave 'scores' in extra, which NWS itself writes there"),
    ],
)
def test_what_cannot_be_stored_is_refused(drafts: object, said: str) -> None:
    with pytest.raises(PluginError, match=f"^{said}"):
        require_drafts(drafts, [2], False)


@pytest.mark.parametrize(
    "source",
    [
        "SYSTEMS = {'a': lambda text, n: 'Cafe\\u0301'}",
        "from core.systems.system import Draft\nclass A:\n    def summarize(self, document, lengths):\n"
        "        return [Draft(n, 'Cafe\\u0301', ('Zoe\\u0308',)) for n in lengths]\nSYSTEMS = {'a': A()}",
    ],
)
def test_what_it_writes_is_composed_as_every_text_that_comes_in(tmp_path: Path, source: str) -> None:
    (system,) = of_source(tmp_path, source)
    (draft,) = system.summarize(document(), [2])
    assert (draft.text, *draft.redraws) in (("Caf\u00e9",), ("Caf\u00e9", "Zo\u00eb"))


@pytest.mark.parametrize("name", ["policy|mine", "two words", ""])
def test_a_name_that_no_system_can_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecipeError, match="a system cannot be called"):
        of_source(tmp_path, f"SYSTEMS = {{{name!r}: lambda text, n: text}}")


def test_a_system_of_a_plugin_keeps_to_the_unit_of_its_run(tmp_path: Path) -> None:
    source = (
        "SYSTEMS = {'fits': lambda text, n: text[:n].rpartition(' ')[0], "
        "'words': lambda text, n: ' '.join(text.split()[:n])}"
    )
    fits, words = of_source(tmp_path, source)
    seen = replace(document(), length_unit="characters")
    (draft,) = fits.summarize(seen, [20])
    assert draft.text == "Alpha beta met"
    with pytest.raises(PluginError, match=r"words of mine\.py wrote \d+ characters at n = 12"):
        words.summarize(seen, [12])
