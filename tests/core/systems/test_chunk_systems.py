import numpy as np
from documents import TEXT, document, segmented

from core.systems.chunk_systems import IMPORTANCE, ChunkSystem, LeadChunks
from core.systems.extractive_baselines import DRAWS, Random


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
    assert ChunkSystem("enc", "lexrank").signature == "enc|lexrank|chunks"


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


def test_equal_chunks_are_taken_in_document_order() -> None:
    equal = np.ones((3, 3))
    (draft,) = LeadChunks("enc").summarize(document(None, equal), [4])
    assert draft.text == "Alpha beta met gamma"


def test_random_draws_several_times_and_is_seeded_by_run_and_content() -> None:
    drafts = [Random(seed).summarize(document(), [4])[0] for seed in range(20)]
    assert drafts == [Random(seed).summarize(document(), [4])[0] for seed in range(20)]
    assert len({draft.text for draft in drafts}) > 1
    assert {len(draft.redraws) for draft in drafts} == {DRAWS - 1}
    # A chunk of four words, or the one of three and the first word of another.
    assert len({text for draft in drafts for text in draft.texts}) == 4
    renamed = [Random(seed).summarize(document(segmented(key="other")), [4])[0] for seed in range(20)]
    assert renamed == drafts
    edited = [Random(seed).summarize(document(segmented(f"{TEXT}..")), [4])[0] for seed in range(20)]
    assert edited != drafts
