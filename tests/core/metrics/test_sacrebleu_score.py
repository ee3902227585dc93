import importlib.metadata

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from core.metrics.bleu import korean_tokenizer, sacrebleu_metric
from core.metrics.metric import Row


def score(*rows: Row) -> float:
    metric = sacrebleu_metric()
    return float(metric.score(metric.statistics(rows))[0])


def test_the_studys_example() -> None:
    row = Row("the cat the the the is on the mat mat mat mat", ("the cat is on the mat",))
    assert score(row) == pytest.approx(25.2119, abs=5e-5)
    assert sacrebleu_metric().statistics([row])[0, 2:6].tolist() == [6, 4, 2, 1]


@given(st.lists(st.tuples(st.text("ab .,"), st.text("ab .,"), st.text("ab .,")), min_size=1, max_size=4))
def test_equals_the_library(rows: list[tuple[str, str, str]]) -> None:
    texts, one, two = (list(column) for column in zip(*rows, strict=True))
    expected = sacrebleu.corpus_bleu(texts, [one, two], force=True).score
    assert score(*(Row(text, (a, b)) for text, a, b in rows)) == pytest.approx(expected, abs=1e-9)


def test_the_signature_is_the_librarys() -> None:
    metric = sacrebleu_metric()
    version = importlib.metadata.version("sacrebleu")
    assert metric.signature == f"nrefs:var|case:mixed|eff:no|tok:13a|smooth:exp|version:{version}"
    library = sacrebleu.BLEU()
    for references in (("a",), ("a", "b")):
        metric.statistics([Row("a b", references)])
        library.corpus_score(["a b"], [[text] for text in references])
        assert metric.signature == str(library.get_signature())
    metric.statistics([Row("a", ("a",)), Row("a", ("a", "b"))])
    assert metric.signature.startswith("nrefs:var|")
    assert "tok:char" in sacrebleu_metric("char").signature


def test_short_texts_have_no_4_grams_and_score_zero() -> None:
    assert score(Row("a b c", ("a b c",))) == 0
    assert score(Row("a b c d", ("a b c d",))) == pytest.approx(100)
    assert score(Row("a", ())) == score(Row("", ("",))) == 0


def test_korean_tokens_are_what_is_installed() -> None:
    metric = sacrebleu_metric(korean_tokenizer())
    row = Row("고양이가 매트 위에 있다", ("고양이가 매트 위에 있다",))
    assert float(metric.score(metric.statistics([row]))[0]) == pytest.approx(100)
