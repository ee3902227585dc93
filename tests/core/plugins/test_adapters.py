"""Systems and metrics from outside: what they may be called, write and return, and what becomes of the rest."""

import hashlib
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from documents import document

from nws.core.article import Article
from nws.core.errors import PluginError, RecipeError
from nws.core.metrics.metric import Row
from nws.core.metrics.registry import METRICS
from nws.core.metrics.specs import BY_COLUMN
from nws.core.plugins.adapters import (
    PluginMetric,
    PluginSystem,
    function_metric,
    plugin_metrics,
    plugin_systems,
    require_drafts,
)
from nws.core.plugins.load import PluginSpec, read_plugin
from nws.core.systems.system import Draft
from nws.core.text.length import UNCUT

TAIL = """
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from nws.core.systems.system import Document, Draft, uncut_and_cut


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


def systems_of(tmp_path: Path, source: str) -> tuple[PluginSystem, ...]:
    path = tmp_path / "mine.py"
    path.write_text(source)
    return plugin_systems(read_plugin(PluginSpec("mine.py"), path), ["enc"])


def test_functions_and_objects_of_a_file_are_systems(tmp_path: Path) -> None:
    tail, opening = systems_of(tmp_path, TAIL)
    assert (tail.signature, tail.kind, tail.has_uncut, tail.encoders) == ("tail", "system", False, ())
    assert (opening.signature, opening.kind, opening.has_uncut) == ("opening", "control", True)
    assert opening.encoders == ("enc",)
    assert tail.summarize(document(), [1, 3]) == [Draft(1, "left."), Draft(3, "eta theta left.")]
    assert [draft.n for draft in opening.summarize(document(), [2])] == [UNCUT, 2]


def test_the_source_travels_and_its_hash_is_in_what_reuse_compares(tmp_path: Path) -> None:
    tail, _ = systems_of(tmp_path, TAIL)
    other, _ = systems_of(tmp_path, TAIL + "\n# changed\n")
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
        ("def f(text, n): return text", r"mine\.py has neither systems nor metrics\. End it with SYSTEMS"),
        ("SYSTEMS = {}", r"SYSTEMS of the plugin mine\.py must be"),
        ("SYSTEMS = {'a': 'text'}", r"a of mine\.py is not a system\. Give a function"),
        ("class A:\n    def summarize(self, d, l): ...\nSYSTEMS = {'a': A}", r"a of mine\.py is not a system"),
        (
            "class A:\n    kind = 'best'\n    def summarize(self, d, l): ...\nSYSTEMS = {'a': A()}",
            "has the kind 'best'",
        ),
    ],
)
def test_what_is_no_plugin_is_refused(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        systems_of(tmp_path, source)


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
    (system,) = systems_of(tmp_path, f"SYSTEMS = {{'a': {function}}}")
    with pytest.raises(PluginError, match=message):
        system.summarize(document(), [2])


@pytest.mark.parametrize(
    ("drafts", "said"),
    [
        ("text", "did not return a list of Drafts"),
        ([], r"returned drafts with n = \[\], not \[2\]"),
        (
            [Draft(2, "a", extra={"x": float("nan")})],
            "set x = nan in extra at n = 2, but extra may have only texts and finite",
        ),
        ([Draft(2, "a", extra={"x": b"y" * 10**6})], r"set x = b'yyy.{0,99} in extra at n = 2, but"),
        ([Draft(2, "a", extra={"scores": 1.0})], "set 'scores' in extra, which is reserved for NWS"),
    ],
)
def test_what_cannot_be_stored_is_refused(drafts: object, said: str) -> None:
    with pytest.raises(PluginError, match=f"^{said}"):
        require_drafts(drafts, [2], False)


@pytest.mark.parametrize(
    "source",
    [
        "SYSTEMS = {'a': lambda text, n: 'Cafe\\u0301'}",
        "from nws.core.systems.system import Draft\nclass A:\n    def summarize(self, document, lengths):\n"
        "        return [Draft(n, 'Cafe\\u0301', ('Zoe\\u0308',)) for n in lengths]\nSYSTEMS = {'a': A()}",
    ],
)
def test_what_it_writes_is_composed_as_every_text_that_comes_in(tmp_path: Path, source: str) -> None:
    (system,) = systems_of(tmp_path, source)
    (draft,) = system.summarize(document(), [2])
    assert (draft.text, *draft.redraws) in (("Caf\u00e9",), ("Caf\u00e9", "Zo\u00eb"))


@pytest.mark.parametrize("name", ["policy|mine", "two words", ""])
def test_a_name_that_no_system_can_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecipeError, match="a system cannot be called"):
        systems_of(tmp_path, f"SYSTEMS = {{{name!r}: lambda text, n: text}}")


def test_a_system_of_a_plugin_keeps_to_the_unit_of_its_run(tmp_path: Path) -> None:
    source = (
        "SYSTEMS = {'fits': lambda text, n: text[:n].rpartition(' ')[0], "
        "'words': lambda text, n: ' '.join(text.split()[:n])}"
    )
    fits, words = systems_of(tmp_path, source)
    seen = replace(document(), length_unit="characters")
    (draft,) = fits.summarize(seen, [20])
    assert draft.text == "Alpha beta met"
    with pytest.raises(PluginError, match=r"words of mine\.py wrote \d+ characters at n = 12"):
        words.summarize(seen, [12])


STORM = Article(
    "news", "test", "storm", "A storm closed the port of Hull.", ("Storm closes port.", "The port is shut.")
)


def metrics_of(tmp_path: Path, source: str) -> tuple[PluginMetric, ...]:
    path = tmp_path / "mine.py"
    path.write_text(source)
    return plugin_metrics(read_plugin(PluginSpec("mine.py"), path))


def of_body(tmp_path: Path, body: str) -> PluginMetric:
    (metric,) = metrics_of(tmp_path, f"def mine(summary, references):\n    {body}\nMETRICS = {{'mine': mine}}\n")
    return metric


def judged(metric: PluginMetric, summary: str) -> float:
    return metric.judge(summary, STORM.references, "article 'storm'")


def test_an_object_that_can_be_called_is_a_metric_and_gets_a_list_of_its_own(tmp_path: Path) -> None:
    (metric,) = metrics_of(
        tmp_path,
        "class Count:\n    def __call__(self, summary, references):\n        references.pop()\n"
        "        return len(references)\nMETRICS = {'count': Count()}",
    )
    assert [judged(metric, "x"), judged(metric, "x")] == [1.0, 1.0]


@pytest.mark.parametrize("value", ["numpy.float32(0.5)", "numpy.float64(0.5)", "fractions.Fraction(1, 2)"])
def test_any_finite_number_is_a_value(tmp_path: Path, value: str) -> None:
    found = judged(of_body(tmp_path, f"import fractions, numpy; return {value}"), "x")
    assert (type(found), found) == (float, 0.5)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 1 / 0", r"ZeroDivisionError: division by zero \(line 2\)"),
        ("return float('-inf')", r"it returned -inf, not a finite number \(defined on line 1\)"),
        ("return 'good'", r"it returned 'good', not a finite number \(defined on line 1\)"),
    ],
)
def test_what_is_no_value_names_metric_article_and_line(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(PluginError, match=rf"^mine of mine\.py failed on article 'storm': {message}$"):
        judged(of_body(tmp_path, body), "x")


@pytest.mark.parametrize(
    "name",
    [*METRICS, "rouge7", "rougeSU9", "rouge", "reward", "words", "n", "text", "scores", "kind", "key", *BY_COLUMN],
)
def test_a_name_that_has_another_meaning_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(PluginError, match=r"of mine\.py (has the name of another|cannot have this name)"):
        metrics_of(tmp_path, f"METRICS = {{{name!r}: lambda summary, references: 0}}")


@pytest.mark.parametrize("name", ["", "two words", "1st", "a|b", "x" * 62, "ümlaut"])
def test_a_name_that_is_no_column_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(PluginError, match=r"of mine\.py cannot have this name. A name has only letters"):
        metrics_of(tmp_path, f"METRICS = {{{name!r}: lambda summary, references: 0}}")


def test_a_function_at_hand_is_told_by_its_source() -> None:
    def brevity(summary: str, references: list[str]) -> float:
        return min(len(summary) / len(text) for text in references)

    def always(summary: str, references: list[str]) -> float:
        return 1.0

    assert function_metric(brevity).statistics([Row("ab", ("abcd",))]).tolist() == [[0.5]]
    signatures = {function_metric(metric).signature.replace(metric.__name__, "x") for metric in (brevity, always)}
    assert len(signatures) == 2
    assert function_metric(max).signature == "max|plugin:this session|sha256:unknown"
    with pytest.raises(PluginError, match="'<lambda>' of this session cannot have this name"):
        function_metric(lambda summary, references: 0)


def test_a_function_gets_what_it_declares_and_no_more(tmp_path: Path) -> None:
    metrics = metrics_of(
        tmp_path,
        "def asking(summary, references, article, n, language, key):\n"
        "    return len(article) + n + len(language) + len(key)\n"
        "def default(summary, references, n=2):\n    return n\n"
        "def keyword(summary, references, *, article):\n    return len(article)\n"
        "METRICS = {f.__name__: f for f in (asking, default, keyword)}",
    )
    known = {"article": STORM.text, "n": 7, "language": "en", "key": STORM.key}
    values = [metric.judge("Storm", STORM.references, "article 'storm'", **known) for metric in metrics]
    assert values == [len(STORM.text) + 7 + 2 + 5, 2, len(STORM.text)]


@pytest.mark.parametrize("parameters", ["summary", "summary, references, k", "summary, *, article"])
def test_a_function_that_must_be_given_something_else_fails_in_words(tmp_path: Path, parameters: str) -> None:
    (metric,) = metrics_of(tmp_path, f"def f({parameters}):\n    return 1\nMETRICS = {{'a': f}}")
    with pytest.raises(PluginError, match=r"^a of mine\.py failed on it: TypeError: f\(\) .* \(defined on line 1\)$"):
        metric.judge("Storm", STORM.references, "it", article=STORM.text)


def test_what_a_row_of_a_file_does_not_have_is_an_error_that_says_so() -> None:
    def share(summary: str, references: list[str], article: str) -> float:
        return len(summary) / len(article)

    assert function_metric(share).statistics([Row("ab", (), "abcd")]).tolist() == [[0.5]]
    said = r"share of .* failed on row 2: it needs article, which row 2 does not have \(the article is the `source`"
    with pytest.raises(PluginError, match=said):
        function_metric(share).statistics([Row("ab", (), "abcd"), Row("ab", ())])
