import pytest

from core.text.words import repeated_word_share


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
