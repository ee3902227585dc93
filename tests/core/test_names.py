import pytest

from nws.core.errors import did_you_mean


@pytest.mark.parametrize(
    ("name", "meant"),
    [("textrnk", "textrank"), ("TextRank", "textrank"), ("bert-large-cnn", "BART-large-cnn"), ("luhn", ""), ("", "")],
)
def test_a_name_much_like_it_is_meant(name: str, meant: str) -> None:
    told = did_you_mean(name, ("textrank", "textrank-words", "BART-large-cnn"))
    assert told == (f" Did you mean {meant!r}?" if meant else "")
