from collections.abc import Iterable
from random import Random

from documents import segmented
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nws.core.article import SegmentedArticle
from nws.core.systems.composition import compose
from nws.core.text.length import LengthUnit, count_words, length_of

TEXTS = st.text(st.sampled_from("abé e\u0301한 .,\n-"), min_size=1, max_size=60).filter(count_words)
UNITS: st.SearchStrategy[LengthUnit] = st.sampled_from(["words", "characters"])


def one_word_at_a_time(article: SegmentedArticle, ranking: list[int], n: int, unit: LengthUnit) -> str:
    """What `compose` says it does, without its sums: the longest text that fits decides."""

    def text_of(positions: set[int]) -> str:
        return " ".join(article.words[position] for position in sorted(positions))

    def grown(taken: set[int], positions: Iterable[int]) -> set[int]:
        """With the first of these positions that fit."""
        for position in positions:
            if length_of(text_of(taken | {position}), unit) > n:
                break
            taken = taken | {position}
        return taken

    taken: set[int] = set()
    said: set[str] = set()
    for index in ranking:
        chunk = article.chunks[index]
        own = grown(taken, range(chunk.start, chunk.end)) - taken
        if not own:
            return text_of(taken)
        if text_of(own).casefold() not in said:
            said.add(text_of(own).casefold())
            taken |= own
            if len(own) < chunk.end - chunk.start:
                return text_of(taken)
    return text_of(grown(taken, range(len(article.words))))


@settings(max_examples=300)
@given(TEXTS, st.integers(1, 70), st.randoms(use_true_random=False), UNITS)
@example("Red cats and green dogs, or big blue birds.", 5, Random(0), "words")
@example("Red cats. Red cats, or red CATS. Big dogs.", 4, Random(0), "words")  # no chunk twice
@example("Red. Red cats. Dogs.", 2, Random(0), "words")  # a cut that repeats a chunk is passed over
@example("He was in the big city.", 4, Random(0), "words")  # other words follow
def test_the_best_chunks_stand_in_document_order_and_the_last_is_cut_to_fit(
    text: str, n: int, random: Random, unit: LengthUnit
) -> None:
    article = segmented(text)
    ranking = random.sample(range(len(article.chunks)), len(article.chunks))
    summary = compose(article, ranking, n, unit)
    assert summary == one_word_at_a_time(article, ranking, n, unit)
    if unit == "words":
        assert count_words(summary) == len(summary.split()) == min(n, len(article.words))
