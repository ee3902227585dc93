import importlib
import random
from pathlib import Path

import pytest

from core.text.dataset import Dataset, open_dataset
from core.text.language import find_foreign, foreign_language

LANGUAGES = ["fr", "de", "es", "it", "nl", "pt", "sv", "fi", "pl", "ro", "tr", "id", "vi", "hu"]
ENGLISH = [article.text for article in open_dataset(Dataset("sample"))]


def sentences_in(code: str) -> list[str]:
    """Examples that come with spaCy."""
    sentences: list[str] = importlib.import_module(f"spacy.lang.{code}.examples").sentences
    return sentences


@pytest.mark.parametrize("code", LANGUAGES)
def test_sentences_of_other_languages_are_told_from_english(code: str) -> None:
    sentences = [text for text in sentences_in(code) if sum(map(str.isalpha, text)) >= 20]
    found = find_foreign(sentences, "en")
    assert found.total() == len(sentences)
    assert found.most_common(1)[0][0] == code


def test_english_sentences_are_english() -> None:
    assert find_foreign(sentences_in("en"), "en").total() == 0


@pytest.mark.parametrize("text", ["", "12 %", "😀", "Déjà vu", "Bonjour, Marie", "Schweinsteiger"])
def test_a_short_text_is_in_any_language(text: str) -> None:
    assert foreign_language(text, "en") is None
    assert foreign_language(text, "ko") is None


def test_summaries_of_a_few_words_are_no_false_alarm() -> None:
    drawn = random.Random(0)
    bags = [" ".join(drawn.sample(text.split(), n)) for text in ENGLISH for n in (1, 3, 5, 7, 9, 13, 21)]
    assert find_foreign(bags, "en").total() <= 1


@pytest.mark.parametrize("name", ["cnn_dailymail", "xsum", "dialogsum"])
def test_real_articles_and_summaries_are_english(shared_data: Path, name: str) -> None:
    articles = list(open_dataset(Dataset(str(shared_data / f"{name}.jsonl"))))
    assert find_foreign([article.text for article in articles], "en").total() == 0
    assert find_foreign([text for article in articles for text in article.references], "en").total() == 0
