import pytest

from nws.core.text.alike import find_alike


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ([f"Share this with{i} Story {i}." for i in range(9)], []),
        ([f"By. Daily Mail Reporter. {i} {i}" for i in range(5)], ['5 begin with "By. Daily Mail Reporter."']),
        ([f"{i} news. Follow us online." for i in range(9)], ['9 end with "news. Follow us online."']),
        ([f"It was {i} o'clock in {i}." for i in range(7)] + [f"{i} {i} x{i}" for i in range(93)], []),
        (["The library of Skelby.", "The library of Olmsund.", "The library of Tarnby."], []),
        ([""], []),
    ],
)
def test_what_a_twentieth_has_alike_is_named(texts: list[str], found: list[str]) -> None:
    texts = [text if text != "Other." else f"{i} other {i}." for i, text in enumerate(texts)]
    assert list(find_alike(texts)) == found
