import difflib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.metrics.metric import Row
from core.metrics.rouge import common_substring, longest_run, rouge
from core.text.tokenizers import CharTokenizer
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


@given(st.lists(st.sampled_from("abc"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30))
def test_the_longest_run_is_that_of_difflib(a: list[str], b: list[str]) -> None:
    expected = difflib.SequenceMatcher(None, a, b, autojunk=False).find_longest_match().size
    assert longest_run(a, b) == expected


def test_an_uncut_text() -> None:
    drawn = random.Random(1)
    words = [f"w{drawn.randrange(400)}" for _ in range(1000)]
    assert longest_run(words, words[300:700]) == 400


@given(TEXTS, TEXTS)
def test_it_is_never_above_the_subsequence(prediction: str, reference: str) -> None:
    assert pair(prediction, reference).recall <= ROUGE_L.score_row(Row(prediction, (reference,))).recall
