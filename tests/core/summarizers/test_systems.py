import numpy as np

from core.summarizers.systems import ChunkSystem, Document, Embeddings, Lead, Random
from core.text.segmentation import Segmenter
from core.types import Article

TEXT = "Alpha beta met gamma. Then delta epsilon saw zeta, and eta theta left."
SEGMENTED = Segmenter("blank")(Article("d", "all", "k", TEXT, ("r",)))


def document(chunk_vectors: np.ndarray) -> Document:
    sentences = np.eye(2, 3)
    return Document(SEGMENTED, {"enc": Embeddings(sentences, chunk_vectors)})


def test_lead_is_the_text_as_it_stands() -> None:
    assert Lead().summarize(document(np.eye(1)), [3, 5, 99]) == ["Alpha beta met", "Alpha beta met gamma. Then", TEXT]


def test_chunks_nearest_the_document_come_first() -> None:
    texts = [chunk.text for chunk in SEGMENTED.chunks]
    assert texts == ["Alpha beta met gamma", "delta epsilon saw zeta", "eta theta left"]
    vectors = np.array([[0, 0, 1.0], [1, 0, 0], [0.7, 0.7, 0]])
    system = ChunkSystem("enc", "centroid")
    assert system.signature == "enc|centroid|chunks"
    assert system.summarize(document(vectors), [3, 7]) == ["eta theta left", "delta epsilon saw zeta eta theta left"]


def test_random_is_seeded_by_run_and_article() -> None:
    draws = [Random(seed).summarize(document(np.eye(3)), [4])[0] for seed in range(20)]
    assert draws == [Random(seed).summarize(document(np.eye(3)), [4])[0] for seed in range(20)]
    assert len(set(draws)) > 1
    other = Segmenter("blank")(Article("d", "all", "other", TEXT, ("r",)))
    others = [Random(seed).summarize(Document(other, {}), [4])[0] for seed in range(20)]
    assert others != draws
