import importlib.metadata

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from nws.core.metrics.bleu import korean_tokenizer
from nws.core.metrics.config import Options
from nws.core.metrics.metric import Row
from nws.core.metrics.registry import make_metric

VERSION = f"version:{importlib.metadata.version('sacrebleu')}"
LIBRARY = {"sacrebleu": sacrebleu.BLEU, "chrf": sacrebleu.CHRF, "chrf++": lambda: sacrebleu.CHRF(word_order=2)}
BY_NAME = pytest.mark.parametrize("name", LIBRARY)


def score(name: str, *rows: Row) -> float:
    metric = make_metric(name)
    return float(metric.score(metric.statistics(rows))[0])


@BY_NAME
@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.text("abc .,"), st.text("abc .,"), st.text("abc .,")), min_size=1, max_size=4))
def test_equals_the_library(name: str, rows: list[tuple[str, str, str]]) -> None:
    texts, one, two = (list(column) for column in zip(*rows, strict=True))
    expected = LIBRARY[name]().corpus_score(texts, [one, two]).score
    assert score(name, *(Row(text, (a, b)) for text, a, b in rows)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("sacrebleu", f"nrefs:var|case:mixed|eff:no|tok:13a|smooth:exp|{VERSION}"),
        ("chrf", f"chrf|nrefs:var|case:mixed|eff:yes|nc:6|nw:0|space:no|{VERSION}"),
        ("chrf++", f"chrf++|nrefs:var|case:mixed|eff:yes|nc:6|nw:2|space:no|{VERSION}"),
    ],
)
def test_the_signature_is_the_librarys(name: str, signature: str) -> None:
    metric, library = make_metric(name), LIBRARY[name]()
    assert metric.signature == signature
    for references in (("a",), ("a", "b")):
        metric.statistics([Row("a b", references), Row("b", references)])
        library.corpus_score(["a b"], [[text] for text in references])
        assert metric.signature == signature.partition("nrefs")[0] + str(library.get_signature())
    metric.statistics([Row("a", ("a",)), Row("a", ("a", "b"))])
    assert metric.signature == signature


@BY_NAME
def test_a_corpus_is_no_mean_over_rows_and_what_is_empty_scores_zero(name: str) -> None:
    rows = [Row("the cat sat on it", ("the cat sat on it",)), Row("rain", ("snow fell",))]
    assert score(name, *rows) != pytest.approx(sum(score(name, row) for row in rows) / 2, abs=1)
    assert score(name, Row("a", ())) == score(name, Row("", ("a",))) == 0


def test_korean_tokens_are_what_is_installed() -> None:
    metric = make_metric("sacrebleu", Options(lang="ko"))
    row = Row("고양이가 매트 위에 있다", ("고양이가 매트 위에 있다",))
    assert float(metric.score(metric.statistics([row]))[0]) == pytest.approx(100)
    assert f"tok:{korean_tokenizer()}" in metric.signature
    assert "tok:char" in make_metric("sacrebleu", Options(lang="ko", tokenizer="char")).signature
