import itertools
import json
from collections.abc import Iterator
from math import inf

import numpy as np
import pytest
from documents import article
from hypothesis import given
from hypothesis import strategies as st
from korean_tokenizers import korean_tokenizer

from core.systems.composition import compose
from core.text.alignment import align, bare_spans, bare_words
from core.text.dataset import BUNDLED
from core.text.segmentation import Segmenter
from core.text.words import count_words, word_spans
from core.types import SegmentedArticle

WORDS = st.text("abc", max_size=6)


def alignments(summary: str, of: str) -> Iterator[list[int | None]]:
    """Every in-order alignment, one by one."""
    for count in range(min(len(summary), len(of)) + 1):
        for placed in itertools.combinations(range(len(summary)), count):
            for positions in itertools.combinations(range(len(of)), count):
                if all(summary[i] == of[p] for i, p in zip(placed, positions, strict=True)):
                    at = dict(zip(placed, positions, strict=True))
                    yield [at.get(i) for i in range(len(summary))]


def rank(positions: list[int | None]) -> tuple[object, ...]:
    """What the docstring of `align` says, word for word: the least is the best."""
    placed = [(i, p) for i, p in enumerate(positions) if p is not None]
    joints = sum((i - 1, p - 1) in placed for i, p in placed)
    return -len(placed), len(placed) - joints, [inf if p is None else p for p in positions]


@given(WORDS, WORDS)
def test_the_best_of_all_alignments(summary: str, of: str) -> None:
    assert align(list(summary), list(of)) == min(alignments(summary, of), key=rank)


@pytest.mark.parametrize(
    ("summary", "of", "positions"),
    [
        ("", "a b", []),
        ("a b", "", [None, None]),
        ("b c", "a b a c a b c", [5, 6]),  # one run, though another begins earlier
        ("a b", "a a b b", [1, 2]),
        ("a x b", "a b", [0, None, 1]),
        ("b a", "a b", [1, None]),  # as many and as few runs either way: the first word is placed
        ("c a b", "a b c", [None, 0, 1]),  # two words, not one
        ("a a", "a", [0, None]),
    ],
)
def test_which_of_several(summary: str, of: str, positions: list[int | None]) -> None:
    assert align(summary.split(), of.split()) == positions


@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=60), st.data())
def test_words_of_an_article_in_order_are_all_placed(of: list[str], data: st.DataObject) -> None:
    taken = sorted(data.draw(st.sets(st.integers(0, len(of) - 1)) if of else st.just(set())))
    positions = align([of[i] for i in taken], of)
    assert None not in positions
    assert positions == sorted(set(positions))
    assert [of[p] for p in positions if p is not None] == [of[i] for i in taken]
    joints = sum(b - a == 1 for a, b in itertools.pairwise(taken))
    assert sum(b - a == 1 for a, b in itertools.pairwise(positions)) >= joints  # no more runs than they were taken in


def test_words_are_compared_without_what_surrounds_them_and_without_case() -> None:
    text = '"State-of-the-art," -- said U.S. (Größe) 50% #MeToo … naïve. 한국어'
    assert bare_words(text) == ["state-of-the-art", "said", "u.s", "grösse", "50", "metoo", "naïve", "한국어"]
    spans = bare_spans(text)
    assert [text[start:end] for start, end in spans][:3] == ["State-of-the-art", "said", "U.S"]
    assert len(spans) == len(word_spans(text))


@given(st.text())
def test_each_word_has_a_bare_one_inside(text: str) -> None:
    for (start, end), (inner_start, inner_end) in zip(word_spans(text), bare_spans(text), strict=True):
        assert start <= inner_start < inner_end <= end
        assert text[inner_start].isalnum()
        assert text[inner_end - 1].isalnum()
    assert len(bare_words(text)) == count_words(text)


def composed(of: SegmentedArticle, n: int) -> str:
    ranking = np.random.default_rng(n).permutation(len(of.chunks)).tolist()
    return compose(of, ranking, n)


def require_reproduced(summary: str, text: str) -> None:
    positions = align(bare_words(summary), bare_words(text))
    assert None not in positions
    words = bare_words(text)
    assert [words[p] for p in positions if p is not None] == bare_words(summary)


def test_korean_summaries_are_placed_too() -> None:
    korean_tokenizer("kiwi")
    cut = Segmenter("kiwi")
    with BUNDLED["sample-ko"].open(encoding="utf-8") as lines:
        texts = [json.loads(line)["article"] for line in lines]
    for text in texts[:3]:
        for n in (3, 11):
            require_reproduced(composed(cut(article(text)), n), text)
