from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nws.core.article import Article
from nws.core.text.dataset import Dataset, open_dataset
from nws.core.text.near_copies import WORDS, NearCopy, near_copies

words = st.lists(st.sampled_from("abcdefghij"), max_size=40)


def article(text: str, key: str = "k") -> Article:
    return Article("d", "all", key, text, ())


def copies(one: str, other: str) -> list[float]:
    return [copy.shared for copy in near_copies([article(one)], [article(other)])]


def grams(text: list[str]) -> set[tuple[str, ...]]:
    """By sets of tuples; a shorter text is one."""
    size = min(len(text), WORDS)
    return {tuple(text[i : i + size]) for i in range(len(text) - size + 1)} if text else set()


@given(one=words, start=st.integers(0, 40), end=st.integers(0, 40), more=words)
def test_equals_the_definition(one: list[str], start: int, end: int, more: list[str]) -> None:
    other = one[start:end] + more
    a, b = grams(one), grams(other)
    share = len(a & b) / min(len(a), len(b)) if a and b else 0
    assert copies(" ".join(one), " ".join(other)) == ([pytest.approx(share)] if share > 0.5 else [])


TEXT = (
    'The "old" bridge over the river was opened to all traffic on Monday, the mayor\'s office said. '
    "It had been closed for two years while engineers replaced its cables, which rust had eaten away. "
    "Shops on both banks hope that their customers will now come back before the winter begins."
)


@pytest.mark.parametrize(
    "edited",
    [
        TEXT.upper(),
        TEXT.replace('"', "\u201c").replace("'", "\u2019"),
        TEXT.replace("fi", "\ufb01").replace(" ", "\u00a0\n"),
        f"(CNN) -- {TEXT}",
        " ".join(TEXT.split()[5:]),
        " ".join(TEXT.split()[:20] + TEXT.split()[25:]),
    ],
)
def test_an_edited_copy_is_found(edited: str) -> None:
    (shared,) = copies(TEXT, edited)
    assert shared > 0.6
    assert copies(edited, TEXT) == [shared]


def test_what_is_found_is_named() -> None:
    one, same, other = article(TEXT, "one"), article(TEXT.lower(), "same"), article(TEXT[::-1], "other")
    assert list(near_copies([other, one], [other, same])) == [NearCopy(other, other, 1), NearCopy(one, same, 1)]
    assert list(near_copies([], [one])) == list(near_copies([article("")], [article("...")])) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [("cnn_dailymail.jsonl", []), ("xsum.jsonl", []), ("dialogsum.jsonl", [("test_33", "test_49")])],
)
def test_real_articles_are_told_apart(shared_data: Path, name: str, expected: list[tuple[str, str]]) -> None:
    articles = list(open_dataset(Dataset(str(shared_data / name))))
    found = {frozenset((c.first.key, c.second.key)) for c in near_copies(articles, articles) if c.first != c.second}
    # That pair is one dialogue, written down twice ("any more" and "anymore", "three" and "3").
    assert found == {frozenset(pair) for pair in expected}
    assert all(list(near_copies([a], [b])) == [] for a, b in combinations(articles[:20], 2))
