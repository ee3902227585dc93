from hypothesis import given
from hypothesis import strategies as st

from core.text.words import count_words, first_words, word_spans


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in word_spans(text)]


def test_a_word_is_a_whitespace_token_with_a_letter_or_digit() -> None:
    told = "State-of-the-art -- it's 3 % , naïve 한국어 ... (x)"
    assert words(told) == ["State-of-the-art", "it's", "3", "naïve", "한국어", "(x)"]


def test_first_words_skips_what_is_no_word_and_folds_white_space() -> None:
    assert first_words("one --\n two\t three", 2) == "one two"
    assert first_words("one", 5) == "one"
    assert first_words("", 5) == ""


@given(st.text(), st.integers(0, 30))
def test_first_words_has_exactly_n_words_or_all(text: str, n: int) -> None:
    cut = first_words(text, n)
    assert count_words(cut) == min(n, count_words(text))
    # Counting by plain white space gives the same: nothing but words is in a summary.
    assert len(cut.split()) == count_words(cut)


@given(st.text())
def test_spans_are_the_whitespace_tokens_that_are_words(text: str) -> None:
    assert words(text) == [t for t in text.split() if any(c.isalnum() for c in t)]
