import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.words import count_words, repeated_word_share

WORDS = st.lists(st.sampled_from(["the", "The", "cat", "cat,", "Straße", "STRASSE", "--", "2"]), max_size=12)


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
def test_known_texts(text: str, share: float) -> None:
    assert repeated_word_share(text) == pytest.approx(share)


@given(WORDS)
def test_it_counts_the_words_that_came_earlier(words: list[str]) -> None:
    counted = [word.casefold().rstrip(",") for word in words if word != "--"]
    earlier = sum(word in counted[:i] for i, word in enumerate(counted))
    assert repeated_word_share(" ".join(words)) == pytest.approx(earlier / max(1, len(counted)))


@given(st.text())
def test_any_text_has_a_share_below_one_and_its_double_at_least_half(text: str) -> None:
    assert 0 <= repeated_word_share(text) < 1
    if count_words(text):
        assert repeated_word_share(f"{text} {text}") >= 0.5
