"""Metrics from outside: what they may be called and return, and what becomes of the rest."""

from pathlib import Path

import numpy as np
import pytest

from core.errors import PluginError
from core.metrics.metric import Row
from core.metrics.registry import METRICS
from core.metrics.specs import BY_COLUMN
from core.plugins.adapters import Judged, PluginMetric, function_metric, plugin_metrics
from core.plugins.load import PluginSpec, read_plugin
from core.types import Article

WORD_RECALL = """
def word_recall(summary, references):
    return len(set(summary.split()) & set(references[0].split())) / len(set(references[0].split()))

METRICS = {"word_recall": word_recall}
"""
STORM = Article(
    "news", "test", "storm", "A storm closed the port of Hull.", ("Storm closes port.", "The port is shut.")
)


def of_source(tmp_path: Path, source: str) -> tuple[PluginMetric, ...]:
    path = tmp_path / "mine.py"
    path.write_text(source)
    return plugin_metrics(read_plugin(PluginSpec("mine.py"), path))


def of_body(tmp_path: Path, body: str) -> PluginMetric:
    (metric,) = of_source(tmp_path, f"def mine(summary, references):\n    {body}\nMETRICS = {{'mine': mine}}\n")
    return metric


def judged(metric: PluginMetric, summary: str) -> float:
    return metric.judge(Judged(summary, STORM.references, "article 'storm'"))


def test_an_object_that_can_be_called_is_a_metric_and_gets_a_list_of_its_own(tmp_path: Path) -> None:
    (metric,) = of_source(
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
        of_source(tmp_path, f"METRICS = {{{name!r}: lambda summary, references: 0}}")


@pytest.mark.parametrize("name", ["", "two words", "1st", "a|b", "x" * 62, "ümlaut"])
def test_a_name_that_is_no_column_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(PluginError, match=r"of mine\.py cannot have this name. A name has only letters"):
        of_source(tmp_path, f"METRICS = {{{name!r}: lambda summary, references: 0}}")


def test_rows_are_scored_one_by_one_and_a_bad_one_is_named(tmp_path: Path) -> None:
    (metric,) = of_source(tmp_path, WORD_RECALL)
    rows = [Row("a b", ("a c",)), Row("a", ("a",)), Row("x", ("",))]
    found = metric.statistics(rows[:2])
    np.testing.assert_array_equal(found, [[0.5], [1.0]])
    assert metric.score(found).tolist() == [0.75]
    with pytest.raises(PluginError, match=r"word_recall of mine\.py failed on row 3: ZeroDivisionError: .* \(line 3\)"):
        metric.statistics(rows)


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
    metrics = of_source(
        tmp_path,
        "def asking(summary, references, article, n, language, key):\n"
        "    return len(article) + n + len(language) + len(key)\n"
        "def default(summary, references, n=2):\n    return n\n"
        "def keyword(summary, references, *, article):\n    return len(article)\n"
        "METRICS = {f.__name__: f for f in (asking, default, keyword)}",
    )
    judged = Judged("Storm", STORM.references, "article 'storm'", STORM.text, 7, "en", STORM.key)
    assert [metric.judge(judged) for metric in metrics] == [len(STORM.text) + 7 + 2 + 5, 2, len(STORM.text)]


@pytest.mark.parametrize("parameters", ["summary", "summary, references, k", "summary, *, article"])
def test_a_function_that_must_be_given_something_else_fails_in_words(tmp_path: Path, parameters: str) -> None:
    (metric,) = of_source(tmp_path, f"def f({parameters}):\n    return 1\nMETRICS = {{'a': f}}")
    with pytest.raises(PluginError, match=r"^a of mine\.py failed on it: TypeError: f\(\) .* \(defined on line 1\)$"):
        metric.judge(Judged("Storm", STORM.references, "it", STORM.text))


def test_what_a_row_of_a_file_does_not_have_is_an_error_that_says_so() -> None:
    def share(summary: str, references: list[str], article: str) -> float:
        return len(summary) / len(article)

    assert function_metric(share).statistics([Row("ab", (), "abcd")]).tolist() == [[0.5]]
    said = r"share of .* failed on row 2: it asks for article, which row 2 does not have \(the article is the `source`"
    with pytest.raises(PluginError, match=said):
        function_metric(share).statistics([Row("ab", (), "abcd"), Row("ab", ())])
