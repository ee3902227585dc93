from pathlib import Path

import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.meteor_score import meteor_score

from nws.core.metrics import meteor as module
from nws.core.metrics.bleu import MTEVAL
from nws.core.metrics.meteor import HOW_TO_INSTALL, find_wordnet
from nws.core.metrics.metric import Row


class NoWordNet:
    def synsets(self, word: str) -> list[object]:
        return []


class NoStemmer:
    def stem(self, word: str) -> str:
        return word


def meteor(prediction: str, *references: str, **options: object) -> float:
    metric = module.meteor(**options)  # type: ignore[arg-type]
    return float(metric.score(metric.statistics([Row(prediction, references)]))[0])


@pytest.fixture(scope="module")
def wordnet():
    found = find_wordnet()
    if found is None:
        pytest.skip(f"WordNet's data is not here: {HOW_TO_INSTALL}")
    return found


def test_a_car_matches_an_automobile(wordnet) -> None:
    assert meteor("car", "automobile", wordnet=wordnet) == 0.5
    assert meteor("car", "automobile") == 0
    sentences = ("I drove the car home", "I drove the automobile home")
    assert meteor(*sentences, wordnet=wordnet) == pytest.approx(1 - 0.5 / 5**3)
    assert meteor(*sentences) < 0.8
    # NLTK's own function compares "car" with the stem "automobil".
    assert meteor_score([["automobile"]], ["car"], wordnet=wordnet) == 0


WORDS = ("the", "The", "cat", "cats", "walking", "walked", "walk", "car", "automobile", "large", "big", "of", ".")
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


@given(texts, texts, texts)
def test_without_wordnet_equals_nltk(prediction: str, one: str, two: str) -> None:
    tokens = [MTEVAL.tokenize(text) for text in (one, two)]
    expected = meteor_score(tokens, MTEVAL.tokenize(prediction), wordnet=NoWordNet())
    assert meteor(prediction, one, two) == pytest.approx(expected, abs=1e-12)


@given(prediction=texts, one=texts)
def test_where_no_word_is_stemmed_equals_nltk_with_wordnet(wordnet, prediction: str, one: str) -> None:
    expected = meteor_score([MTEVAL.tokenize(one)], MTEVAL.tokenize(prediction), wordnet=wordnet, stemmer=NoStemmer())
    assert meteor(prediction, one, stem=False, wordnet=wordnet) == pytest.approx(expected, abs=1e-12)


def test_where_wordnet_is_not_installed_there_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    monkeypatch.setattr(module, "SYSTEM_FOLDERS", (tmp_path,))
    assert find_wordnet() is None


def test_the_signature_says_what_matches(wordnet) -> None:
    assert "|match:exact,porter|" in module.meteor().signature
    assert "|match:exact|" in module.meteor(stem=False).signature
    assert "|match:exact,porter,wordnet-3.0-of-words|" in module.meteor(wordnet=wordnet).signature
    assert module.meteor().signature.startswith("meteor(nltk)|")
