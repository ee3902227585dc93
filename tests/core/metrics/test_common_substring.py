import difflib
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.metrics.metric import Row
from core.metrics.rouge import rouge
from core.metrics.rouge_variants import common_substring, longest_run
from core.text.tokenizers import CharTokenizer, EnglishTokenizer
from core.types import Score

SIMILAR = st.lists(st.sampled_from(["the", "cat", "was", "under", "bed"]), max_size=20).map(" ".join)
TEXTS = st.one_of(SIMILAR, st.text())
METRIC = common_substring()
ROUGE_L = rouge("rougeL")


def pair(prediction: str, reference: str) -> Score:
    return METRIC.score_row(Row(prediction, (reference,)))


def test_only_a_run_without_gaps_counts() -> None:
    row = Row("the cat was found under the bed", ("the cat was under the bed",))
    assert METRIC.score_row(row) == Score(3 / 7, 3 / 6, pytest.approx(6 / 13))
    found = ROUGE_L.score_row(row)
    assert (found.precision, found.recall) == (6 / 7, 6 / 6)


def test_it_has_its_own_name_and_signature() -> None:
    assert METRIC.name == "rouge-lcsubstr"
    assert common_substring(CharTokenizer(), "mean").signature == "rouge-lcsubstr|tok:char,nfc|stem:no|refs:mean"


def test_references() -> None:
    row = Row("a b", ("a b", "a c", "x"))
    assert METRIC.score_row(row) == Score(1, 1, 1)
    mean = common_substring(references="mean").score_row(row)
    assert (mean.precision, mean.recall, mean.f1) == pytest.approx((0.5, 0.5, 0.5))
    assert METRIC.score_row(Row("a b", ())) == Score(0, 0, 0)


@given(st.lists(st.sampled_from("abc"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30))
def test_the_longest_run_is_that_of_difflib(a: list[str], b: list[str]) -> None:
    expected = difflib.SequenceMatcher(None, a, b, autojunk=False).find_longest_match().size
    assert longest_run(a, b) == expected


def test_an_uncut_text() -> None:
    drawn = random.Random(1)
    words = [f"w{drawn.randrange(400)}" for _ in range(1000)]
    assert longest_run(words, words[300:700]) == 400


@given(TEXTS, TEXTS)
def test_any_text_is_scored_within_bounds_and_symmetrically(prediction: str, reference: str) -> None:
    one, other = pair(prediction, reference), pair(reference, prediction)
    assert min(one.precision, one.recall, one.f1) >= 0
    assert max(one.precision, one.recall, one.f1) <= 1
    assert (one.precision, one.recall) == (other.recall, other.precision)
    assert one.f1 == pytest.approx(other.f1)


@given(TEXTS, TEXTS)
def test_it_is_never_above_the_subsequence(prediction: str, reference: str) -> None:
    assert pair(prediction, reference).recall <= ROUGE_L.score_row(Row(prediction, (reference,))).recall


@given(TEXTS)
def test_a_text_with_a_token_scores_one_against_itself(text: str) -> None:
    assert pair(text, text) == (Score(1, 1, 1) if EnglishTokenizer().tokenize(text) else Score(0, 0, 0))


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5), st.randoms())
def test_the_order_of_rows_does_not_matter(texts: list[tuple[str, str]], order: random.Random) -> None:
    rows = [Row(prediction, (reference,)) for prediction, reference in texts]
    scores = [METRIC.score(METRIC.statistics(some)) for some in (rows, order.sample(rows, len(rows)))]
    np.testing.assert_allclose(*scores)
