import importlib.metadata

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from core.metrics.bleu import chrf_metric
from core.metrics.metric import Row

KINDS = [("chrf", 0), ("chrf++", 2)]


def score(name: str, words: int, *rows: Row) -> float:
    metric = chrf_metric(name, words)
    return float(metric.score(metric.statistics(rows))[0])


@pytest.mark.parametrize(("name", "words"), KINDS)
@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.text("abc .,"), st.text("abc .,"), st.text("abc .,")), min_size=1, max_size=4))
def test_equals_the_library(name: str, words: int, rows: list[tuple[str, str, str]]) -> None:
    texts, one, two = (list(column) for column in zip(*rows, strict=True))
    library = sacrebleu.CHRF(word_order=words)
    expected = library.corpus_score(texts, [one, two]).score
    assert score(name, words, *(Row(text, (a, b)) for text, a, b in rows)) == expected
    for text, a, b in rows:
        assert score(name, words, Row(text, (a, b))) == library.sentence_score(text, [a, b]).score


@pytest.mark.parametrize(("name", "words"), KINDS)
def test_the_signature_is_the_librarys(name: str, words: int) -> None:
    metric, library = chrf_metric(name, words), sacrebleu.CHRF(word_order=words)
    version = importlib.metadata.version("sacrebleu")
    assert metric.signature == f"{name}|nrefs:var|case:mixed|eff:yes|nc:6|nw:{words}|space:no|version:{version}"
    for references in (("a",), ("a", "b")):
        metric.statistics([Row("a b", references), Row("b", references)])
        library.corpus_score(["a b"], [[text] for text in references])
        assert metric.signature == f"{name}|{library.get_signature()}"
    metric.statistics([Row("a", ("a",)), Row("a", ("a", "b"))])
    assert "|nrefs:var|" in metric.signature


def test_a_corpus_is_no_mean_over_rows() -> None:
    rows = [Row("the cat sat", ("the cat sat",)), Row("rain", ("snow fell all night long",))]
    assert score("chrf", 0, *rows) != pytest.approx(sum(score("chrf", 0, row) for row in rows) / 2, abs=1)
    assert score("chrf", 0, Row("a", ())) == score("chrf", 0, Row("", ("a",))) == 0
