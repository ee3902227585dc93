import pytest
from hypothesis import given
from hypothesis import strategies as st

from nws.core.text.length import count_words, first_words, repeated_word_share, word_spans


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in word_spans(text)]


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


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("", 0),
        ("cat", 0),
        ("-- -- --", 0),
        ("the cat and the hat", 1 / 5),
        ("The cat, THE cat", 2 / 4),
        ("no no no no", 3 / 4),
        ("Straße STRASSE", 1 / 2),
        ("a -- a", 1 / 2),
        ("(it's) its it's", 1 / 3),
    ],
)
def test_the_share_of_repeated_words(text: str, share: float) -> None:
    assert repeated_word_share(text) == pytest.approx(share)
