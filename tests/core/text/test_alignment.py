import itertools
from collections.abc import Iterator
from math import inf

from hypothesis import example, given
from hypothesis import strategies as st

from nws.core.text.alignment import align, bare_spans
from nws.core.text.length import bare_words, count_words, word_spans

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
@example("bc", "abacabc")  # one run, though another begins earlier
@example("ba", "ab")  # as many and as few runs either way: the first word is placed
def test_the_best_of_all_alignments(summary: str, of: str) -> None:
    assert align(list(summary), list(of)) == min(alignments(summary, of), key=rank)


def test_words_are_compared_without_what_surrounds_them_and_without_case() -> None:
    text = '"State-of-the-art," -- said U.S. (Größe) 50% #MeToo … naïve. 한국어'
    assert bare_words(text) == ["state-of-the-art", "said", "u.s", "grösse", "50", "metoo", "naïve", "한국어"]


@given(st.text())
def test_each_word_has_a_bare_one_inside(text: str) -> None:
    for (start, end), (inner_start, inner_end) in zip(word_spans(text), bare_spans(text), strict=True):
        assert start <= inner_start < inner_end <= end
        assert text[inner_start].isalnum()
        assert text[inner_end - 1].isalnum()
    assert len(bare_words(text)) == count_words(text)
