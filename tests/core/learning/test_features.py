import numpy as np
from documents import segmented
from prepared_articles import TEXT, embeddings_of

from nws.core.learning.environment import (
    CHUNK_FEATURES,
    SENTENCE_FEATURES,
    chunk_features,
    content_word,
    duplicates,
    repeats,
    sentence_features,
)


def column(name: str, text: str = TEXT) -> list[float]:
    article = segmented(text)
    embeddings = embeddings_of(article)
    of_sentences = sentence_features(article, embeddings.sentences)
    if name in SENTENCE_FEATURES:
        return of_sentences[:, SENTENCE_FEATURES.index(name)].tolist()
    name = name.removeprefix("chunk: ")
    return chunk_features(article, embeddings, of_sentences)[:, CHUNK_FEATURES.index(name)].tolist()


def test_sentence_features_of_known_sentences() -> None:
    text = "Alpha 12 beta. Gamma delta. Alpha 12 beta. Epsilon."
    assert column("position", text) == [0, 0.25, 0.5, 0.75]
    assert column("inverse position", text) == [1, 1 / 2, 1 / 3, 1 / 4]
    assert column("is first", text) == [1, 0, 0, 0]
    assert column("is in first three", text) == [1, 1, 1, 0]
    assert column("digit share", text) == [1 / 3, 0, 1 / 3, 0]
    novelty = column("novelty", text)
    assert novelty[0] == 1
    assert abs(novelty[2]) < 1e-6
    assert novelty[1] > 0.2
    lengths = np.log([3, 2, 3, 1])
    np.testing.assert_allclose(column("log length", text), (lengths - lengths.mean()) / lengths.std())


def test_chunk_features_of_known_chunks() -> None:
    text = "The alpha met 12 betas. And alpha met, alpha left."
    article = segmented(text)
    assert [chunk.text for chunk in article.chunks] == ["alpha met 12 betas", "alpha met", "alpha left"]
    np.testing.assert_allclose(column("offset", text), [1 / 5, 1 / 5, 3 / 5])
    assert column("opens sentence", text) == [0, 0, 0]
    np.testing.assert_allclose(column("length", text), [2.4, 0.4, 0.4])
    assert column("has digit", text) == [1, 0, 0]
    assert column("first mention", text) == [1, 1, 1]
    assert column("first mention", "Alpha met. Then alpha met.") == [1, 0]
    log = np.log([3, 2, 1])
    np.testing.assert_allclose(
        column("mean log frequency", text), [(log[0] + log[1]) / 4, (log[0] + log[1]) / 2, log[0] / 2]
    )
    assert column("sentence: is first", text) == [1, 0, 0]
    assert column("sentence: position", text) == [0, 0.5, 0.5]


def test_content_words_are_equal_but_for_case_and_possessive() -> None:
    assert content_word("Murray's") == content_word("murray") == content_word("Murray’s")
    assert content_word("The") is None
    assert content_word("12") == "12"
    assert content_word("Two") == "two"


def test_repeats_are_shared_content_words_and_duplicates_whole_texts() -> None:
    article = segmented("Champions League. League title. Title fight. Fight Fight. champions league.")
    expected = np.array(
        [
            [0, 1, 0, 0, 1],
            [1, 0, 1, 0, 1],
            [0, 1, 0, 1, 0],
            [0, 0, 1, 1, 0],  # it repeats a word within itself
            [1, 1, 0, 0, 0],
        ],
        dtype=bool,
    )
    np.testing.assert_array_equal(repeats(article), expected)
    same = np.zeros((5, 5), dtype=bool)
    same[0, 4] = same[4, 0] = True
    np.testing.assert_array_equal(duplicates(article), same)
