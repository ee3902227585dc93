import numpy as np
from documents import document, segmented

from core.systems.chunk_systems import IMPORTANCE, ChunkSystem, LeadChunks


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


def test_chunks_of_an_important_sentence_come_first() -> None:
    article = segmented()
    alike = np.ones((len(article.chunks), 3))
    (draft,) = ChunkSystem("enc", "position").summarize(document(article, alike), [4])
    assert draft.text == "Alpha beta met gamma"


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
