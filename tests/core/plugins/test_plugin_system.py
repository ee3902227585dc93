import hashlib
import pickle
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from documents import document

from core.errors import PluginError, RecipeError
from core.plugins.load import PluginSpec, read_plugin
from core.plugins.plugin_system import PluginSystem, plugin_systems, require_drafts
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


def of_source(tmp_path: Path, source: str, name: str = "mine.py") -> tuple[PluginSystem, ...]:
    path = tmp_path / name
    path.write_text(source)
    return plugin_systems(read_plugin(PluginSpec(name), path), ["enc"])


def test_functions_and_objects_of_a_file_are_systems(tmp_path: Path) -> None:
    tail, opening = of_source(tmp_path, TAIL)
    assert (tail.signature, tail.kind, tail.has_uncut, tail.encoders) == ("tail", "system", False, ())
    assert (opening.signature, opening.kind, opening.has_uncut, opening.encoders) == (
        "opening",
        "control",
        True,
        ("enc",),
    )
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
        (
            "class A:\n    def summarize(self, document, lengths): ...\nSYSTEMS = {'a': A}",
            r"a of mine\.py is no system",
        ),
        (
            "class A:\n    kind = 'best'\n    def summarize(self, d, l): ...\nSYSTEMS = {'a': A()}",
            r"of the kind 'best'",
        ),
        (
            "\ndef f(text):\n    return text\nSYSTEMS = {'a': f}",
            r"a of mine\.py cannot be called with an article's text and n: too many positional arguments "
            r"\(defined on line 2\)\. It must take both: def f\(text, n\)\.",
        ),
        (
            "SYSTEMS = {'a': lambda text, n, *, more: text}",
            r"missing a required .*argument: 'more' \(defined on line 1",
        ),
        (
            "class A:\n    kind = 'system'\n    def summarize(self, document): ...\nSYSTEMS = {'a': A()}",
            r"a of mine\.py cannot be called .* \(defined on line 3\)\. .*: def summarize\(self, document, lengths\)",
        ),
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
        ("lambda text, n: __import__('sys').exit(7)", r"^a of mine\.py failed: SystemExit: 7 \(line 1\)$"),
    ],
)
def test_what_no_system_may_write_is_the_failure_of_that_article(tmp_path: Path, function: str, message: str) -> None:
    (system,) = of_source(tmp_path, f"SYSTEMS = {{'a': {function}}}")
    with pytest.raises(PluginError, match=message):
        system.summarize(document(), [2])


def test_a_text_that_is_too_long_is_refused_before_it_takes_memory(tmp_path: Path) -> None:
    source = (
        "from core.systems.system import Draft\nWORD = 'x' * 200_000_000\n"
        "class A:\n    kind = 'system'\n"
        "    def summarize(self, document, lengths): return [Draft(n, WORD) for n in lengths]\n"
        "SYSTEMS = {'function': lambda text, n: WORD, 'object': A()}"
    )
    for system in of_source(tmp_path, source):
        tracemalloc.start()
        with pytest.raises(PluginError, match=r"200000000 characters; at most 100000 can be scored"):
            system.summarize(document(), [2])
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 50_000_000
    with pytest.raises(PluginError, match=r"^gave x = b'yyy.*\.\.\..*at n = 2: extra holds") as caught:
        require_drafts([Draft(2, "a", extra={"x": b"y" * 10**6})], [2], False)
    assert len(str(caught.value)) < 200


def test_any_signature_that_takes_both_will_do(tmp_path: Path) -> None:
    for taken in ("*both", "text, length, more=1", "text, n, /"):
        assert len(of_source(tmp_path, f"SYSTEMS = {{'a': lambda {taken}: ''}}")) == 1


def test_drafts_of_other_lengths_are_refused(tmp_path: Path) -> None:
    source = "class A:\n    def summarize(self, document, lengths): return {}\nSYSTEMS = {{'a': A()}}"
    for returned, message in (
        ("'text'", "returned no list of Drafts"),
        ("[]", r"returned drafts of n = \[\], not \[2\]"),
    ):
        (system,) = of_source(tmp_path, source.format(returned))
        with pytest.raises(PluginError, match=message):
            system.summarize(document(), [2])


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


def test_what_cannot_be_stored_is_refused() -> None:
    with pytest.raises(PluginError, match="gave x = nan at n = 2: extra holds texts and finite numbers"):
        require_drafts([Draft(2, "a", extra={"x": float("nan")})], [2], False)
    with pytest.raises(PluginError, match="gave 'scores' in extra, which NWS itself writes there"):
        require_drafts([Draft(2, "a", extra={"scores": 1.0})], [2], False)


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
