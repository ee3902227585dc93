"""What holds for every metric of the registry."""

from dataclasses import replace
from typing import Literal
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nws.core.errors import RecipeError
from nws.core.metrics.config import Options
from nws.core.metrics.metric import PRECISION_RECALL_F1, FloatArray, Row, over_references
from nws.core.metrics.registry import METRICS, NEED_BACKBONE, make_metric
from nws.core.metrics.specs import BY_MODEL
from nws.core.types import Score

TOP = {"sacrebleu": 100.0, "chrf": 100.0, "chrf++": 100.0, "dialogsum": 3.0}
WITHOUT_MODEL_OPTION = [name for name in METRICS if name not in BY_MODEL]
ON_WORDS = sorted(set(WITHOUT_MODEL_OPTION) - {*NEED_BACKBONE, "kept", "kept_words"})

any_text = st.text(max_size=30)
any_rows = st.lists(
    st.builds(Row, any_text, st.lists(any_text, max_size=3).map(tuple), any_text), min_size=1, max_size=4
)
plain_text = st.lists(st.sampled_from(["cat", "mat", "news", "of", "town", "x"]), min_size=4, max_size=8).map(" ".join)


def score(name: str, rows: list[Row], options: Options | None = None) -> FloatArray:
    metric = make_metric(name, options)
    return metric.score(metric.statistics(rows))


@pytest.mark.parametrize("name", WITHOUT_MODEL_OPTION)
def test_parts_signature_and_shapes(name: str) -> None:
    metric = make_metric(name)
    assert metric.parts in (PRECISION_RECALL_F1, ("score",))
    assert metric.name in (name, f"{name}2")  # rougeS is rougeS2
    assert "\n" not in metric.signature
    rows = [
        Row("The town opened a bridge.", ("A bridge was opened.",), "The town opened a bridge."),
        Row("", ("a",), ""),
    ]
    statistics = metric.statistics(rows)
    assert (statistics.dtype, statistics.shape[0]) == (np.float64, 2)
    assert metric.score(statistics).shape == (len(metric.parts),)
    assert metric.score(statistics[1:]).tolist() == [0.0] * len(metric.parts)


@pytest.mark.parametrize("name", ON_WORDS)
@settings(max_examples=25, deadline=None)
@given(rows=any_rows)
def test_any_text_scores_within_the_range(name: str, rows: list[Row]) -> None:
    found = score(name, rows)
    assert found.min() >= 0
    assert found.max() <= TOP.get(name, 1.0) + 1e-9


@pytest.mark.parametrize("name", sorted({*ON_WORDS} - {"meteor", "density"}))
@settings(max_examples=15, deadline=None)
@given(texts=st.lists(plain_text, min_size=1, max_size=3))
def test_identical_texts_score_the_top(name: str, texts: list[str]) -> None:
    rows = [Row(text, (text,), text) for text in texts]
    assert score(name, rows).tolist() == pytest.approx([TOP.get(name, 1.0)] * len(make_metric(name).parts))


@pytest.mark.parametrize("name", ON_WORDS)
@settings(max_examples=15, deadline=None)
@given(rows=any_rows)
def test_the_order_of_rows_does_not_matter(name: str, rows: list[Row]) -> None:
    assert score(name, rows).tolist() == pytest.approx(score(name, rows[::-1]).tolist(), abs=1e-12)


def test_the_mean_over_references() -> None:
    row = Row("a b c d", ("a b c d", "a b x y"))
    mean = Options(references="mean")
    for name in ("rouge1", "rougeSU4", "meteor", "bertscore"):
        each = [score(name, [Row(row.prediction, (text,))]) for text in row.references]
        assert score(name, [row], mean).tolist() == pytest.approx(np.mean(each, axis=0).tolist(), abs=1e-6)
        assert "refs:mean" in make_metric(name, mean).signature
        assert score(name, [row])[-1] == pytest.approx(1 - 0.5 / 4**3 if name == "meteor" else 1)


@pytest.mark.parametrize("name", ["rouge0", "rouge", "rougel", "BLEU", "bleu5", "", "rougeS-1", "rougeW"])
def test_an_unknown_name_is_answered_with_the_known_ones(name: str) -> None:
    with pytest.raises(RecipeError, match=r"no metric .* rouge1, .*dialogsum"):
        make_metric(name)


def test_of_references_with_the_same_f1_the_first_counts() -> None:
    low, high, also_high = Score(1.0, 0.1, 0.2), Score(0.3, 0.6, 0.4), Score(0.6, 0.3, 0.4)
    assert over_references([low, high, also_high], "best") == high


def test_options_that_do_not_go_together() -> None:
    with pytest.raises(RecipeError, match="best or mean"):
        Options(references="worst")  # type: ignore[arg-type]
    with pytest.raises(RecipeError, match="reads English only"):
        make_metric("bertscore", Options(lang="ko"))
    with pytest.raises(RecipeError, match="no tuned layer"):
        make_metric("bertscore", Options(bertscore_model="org/unheard-of@" + "0" * 40))


def test_in_korean_no_stems_are_matched() -> None:
    korean = Options(lang="ko", tokenizer="char")
    assert "|match:exact|" in make_metric("meteor", korean).signature
    assert "tok:char" in make_metric("bleu", korean).signature


accented = st.lists(st.sampled_from(["café", "déjà", "vu", "naïve", "cat", "Ångström", "of"]), max_size=8).map(" ".join)
korean_words = ["고양이가", "매트", "위에", "있다", "각막이", "닭을", "iPhone", "cafés", "꽃", "값"]
hangul = st.lists(st.sampled_from(korean_words), max_size=8).map(" ".join)
FORMS = ("NFC", "NFD")


def encoded(row: Row, form: Literal["NFC", "NFD"]) -> Row:
    return Row(
        normalize(form, row.prediction),
        tuple(normalize(form, text) for text in row.references),
        normalize(form, row.source or ""),
    )


def rows_of(text: st.SearchStrategy[str]) -> st.SearchStrategy[list[Row]]:
    row = st.builds(Row, text, st.lists(text, min_size=1, max_size=2).map(tuple), text)
    return st.lists(row, min_size=1, max_size=3)


@pytest.mark.parametrize("name", sorted({*WITHOUT_MODEL_OPTION} - {"kept", "kept_words"}))
@settings(max_examples=10, deadline=None)
@given(english=rows_of(accented), korean=rows_of(hangul), form=st.sampled_from(FORMS), other=st.sampled_from(FORMS))
def test_how_a_text_is_encoded_does_not_matter(name: str, english, korean, form, other) -> None:
    languages = [(english, Options())]
    if name not in NEED_BACKBONE:  # the bundled backbone reads no Korean
        languages.append((korean, Options(lang="ko", tokenizer="char")))
    for rows, options in languages:
        as_they_are = score(name, rows, options)
        mixed = [replace(encoded(row, form), references=encoded(row, other).references) for row in rows]
        assert score(name, mixed, options).tolist() == as_they_are.tolist()
