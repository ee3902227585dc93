from collections.abc import Sequence

import pytest
from documents import dice, document, segmented
from hypothesis import given, settings
from hypothesis import strategies as st

from core.summarizers.chunk_search import LeadSearch
from core.text.words import count_words

ARTICLE = segmented(
    "The council met on Monday. A bridge in Alder will open in May, the mayor said. It cost two million. "
    "Trains will cross the bridge every hour. Nobody spoke against it."
)
LEAD3 = "The council met on Monday. A bridge in Alder will open in May, the mayor said. It cost two million."


def test_it_searches_for_the_first_three_sentences_and_asks_no_reference() -> None:
    anchors = set()

    def recorded(anchor: str, texts: Sequence[str]) -> list[float]:
        anchors.add(anchor)
        return dice(anchor, texts)

    drafts = LeadSearch().summarize(document(ARTICLE, anchored_f1=recorded), [3, 6])
    assert anchors == {LEAD3}
    assert [draft.n for draft in drafts] == [3, 6]
    for draft in drafts:
        assert set(draft.text.split()) <= set(LEAD3.replace(".", "").replace(",", "").split())


def test_greedy_search_adds_the_chunk_that_helps_most() -> None:
    def wants(anchor: str, texts: Sequence[str]) -> list[float]:
        return dice("trains alder council", texts)

    (draft,) = LeadSearch().summarize(document(ARTICLE, anchored_f1=wants), [3])
    assert draft.text == "council Alder Trains"


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 60), st.sampled_from([LEAD3, "Snow.", "It was as it is and then they were there."]))
def test_exactly_n_words_or_all(n: int, text: str) -> None:
    article = segmented(text)
    (draft,) = LeadSearch().summarize(document(article, anchored_f1=dice), [n])
    assert count_words(draft.text) == min(n, len(article.words))


@pytest.mark.parametrize("text", ["One. Two. Three. Four.", "One. Two."])
def test_fewer_sentences_are_all_of_the_anchor(text: str) -> None:
    seen = document(segmented(text), anchored_f1=dice)
    (draft,) = LeadSearch().summarize(seen, [1])
    assert draft.text == "One"
