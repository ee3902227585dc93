import zlib
from collections.abc import Sequence

import numpy as np
from documents import dice, document, segmented
from hypothesis import given, settings
from hypothesis import strategies as st
from prepared_articles import TEXT

from nws.core.article import SegmentedArticle
from nws.core.systems.chunk_systems import IMPORTANCE, ChunkSystem, LeadChunks, LeadSearch, Objective, greedy
from nws.core.systems.composition import filled, words_at


def test_chunks_nearest_the_document_come_first() -> None:
    article = segmented()
    assert [chunk.text for chunk in article.chunks] == [
        "Alpha beta met gamma",
        "delta epsilon saw zeta",
        "eta theta left",
    ]
    vectors = np.array([[0, 0, 1.0], [1, 0, 0], [0.7, 0.7, 0]])
    system = ChunkSystem("enc", "centroid")
    assert system.signature == "enc|centroid|chunks"
    texts = [draft.text for draft in system.summarize(document(article, vectors), [3, 7])]
    assert texts == ["eta theta left", "delta epsilon saw zeta eta theta left"]
    named = ChunkSystem("enc", "centroid", "centroid")
    assert named.signature == "centroid"
    assert [draft.text for draft in named.summarize(document(article, vectors), [3, 7])] == texts


def test_some_importances_see_vectors_and_others_words_or_places() -> None:
    article = segmented("Opening words. The bridge opens. The bridge opens today again. Ferry bridge. Ferry sails.")
    vectors = np.array([[0, 0, 1], [1, 0, 0], [0.6, 0.8, 0], [0, 0.6, 0.8], [0.8, 0.6, 0]])
    first = {name: weigh(article, vectors).argmax() for name, weigh in IMPORTANCE.items()}
    assert first == {"textrank": 4, "centroid": 4, "textrank-words": 3, "lexrank": 1, "position": 0}
    turned = {name: weigh(article, vectors[::-1]).argmax() for name, weigh in IMPORTANCE.items()}
    assert turned == first | {"textrank": 0, "centroid": 0}


def test_lead2_chunks_takes_no_chunk_of_the_third_sentence_while_there_are_others() -> None:
    article = segmented("Alpha beta met gamma. Delta saw epsilon. The best chunk is here.")
    nearest_last = np.eye(3) + np.array([[0.0], [0.1], [5.0]])
    system = LeadChunks("enc")
    assert system.signature == "lead2+chunks"
    texts = [
        draft.text for draft in system.summarize(document(article, nearest_last[: len(article.chunks)]), [3, 7, 9])
    ]
    assert texts == ["Delta saw epsilon", "Alpha beta met gamma Delta saw epsilon", texts[2]]
    assert texts[2].startswith(texts[1])
    assert len(texts[2].split()) == 9


ARTICLE = segmented(TEXT)
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


def one_by_one(article: SegmentedArticle, objective: Objective, candidates: Sequence[int], n: int) -> str:
    """The search at one n alone, option by option."""
    taken: set[int] = set()
    while len(taken) < n:
        options = [
            taken | set(range(chunk.start, min(chunk.end, chunk.start + n - len(taken))))
            for chunk in (article.chunks[index] for index in candidates)
            if chunk.start not in taken
        ]
        if not options:
            break
        scores = [objective([words_at(article, option)])[0] for option in options]
        taken = options[scores.index(max(scores))]
    return words_at(article, filled(article, taken, n))


LENGTHS = st.lists(st.integers(1, 40), min_size=1, max_size=6)


@settings(max_examples=60)
@given(LENGTHS, st.integers(0, 2**32), st.sets(st.integers(0, 12), max_size=13), st.sampled_from([2, 5, 1000]))
def test_side_by_side_finds_what_a_search_at_each_n_finds(
    lengths: list[int], seed: int, chosen: set[int], levels: int
) -> None:
    def drawn(texts: Sequence[str]) -> list[float]:  # with few levels there are many equals
        return [zlib.crc32(f"{seed} {text}".encode()) % levels / levels for text in texts]

    candidates = sorted(chosen & set(range(len(ARTICLE.chunks))))
    expected = {n: one_by_one(ARTICLE, drawn, candidates, n) for n in lengths}
    assert greedy(ARTICLE, drawn, candidates, lengths) == expected
