import pytest

from core.registry import did_you_mean


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("textrnk", " Did you mean 'textrank'?"),
        ("TextRank", " Did you mean 'textrank'?"),
        ("bert-large-cnn", " Did you mean 'BART-large-cnn'?"),
        ("luhn", ""),
        ("", ""),
    ],
)
def test_a_name_much_like_it_is_meant(name: str, meant: str) -> None:
    assert did_you_mean(name, ("textrank", "textrank-words", "BART-large-cnn")) == meant
