import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.length import count_characters, cut, fitting, kept_to, room
from core.text.words import word_spans

TEXTS = st.text(st.sampled_from("aé e\u0301한\u1112\u1161-—.\n\t\U0001f600"), max_size=40)


def test_characters_are_code_points_in_composed_form() -> None:
    assert count_characters("caf\u00e9") == count_characters("cafe\u0301") == 4
    assert count_characters("한국") == count_characters(unicodedata.normalize("NFD", "한국")) == 2
    assert count_characters("a b") == 3
    assert count_characters("") == 0


def test_a_text_is_cut_behind_the_last_whole_word_that_fits() -> None:
    text = "Snow closed  the\nschools — of Dover"
    assert cut(text, 15, "characters") == "Snow closed the"
    assert cut(text, 14, "characters") == "Snow closed"
    assert cut(text, 3, "characters") == ""
    assert cut(text, 99, "characters") == "Snow closed the schools of Dover"
    assert cut(text, 3, "words") == "Snow closed the"


def test_a_text_that_fits_stays_as_it_is() -> None:
    assert kept_to("Snow — closed", 13, "characters") == "Snow — closed"
    assert kept_to("Snow — closed", 12, "characters") == "Snow closed"
    assert kept_to("Snow — closed", 2, "words") == "Snow — closed"


@given(TEXTS, st.integers(1, 45))
def test_no_text_is_longer_than_it_may_be_and_no_word_is_torn(text: str, n: int) -> None:
    words = [text[start:end] for start, end in word_spans(text)]
    written = cut(text, n, "characters")
    kept = written.split(" ") if written else []
    assert count_characters(written) <= n
    assert kept == words[: len(kept)]
    assert kept == words or count_characters(" ".join(words[: len(kept) + 1])) > n


@pytest.mark.parametrize(("left", "words"), [(0, 0), (2, 0), (3, 1), (6, 1), (7, 2), (99, 2)])
def test_each_word_but_the_last_takes_a_blank(left: int, words: int) -> None:
    assert fitting(["ab", "abc"], left, "characters") == words
    assert fitting(["ab", "abc"], room(6, "characters"), "characters") == 2
