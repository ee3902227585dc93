import pytest

from core.errors import LanguageError
from core.text.corpus import DatasetSpec, open_corpus
from core.text.language import hangul_share, require_no_hangul
from core.types import Article


def test_share_of_letters() -> None:
    assert hangul_share("한국어 123") == 1.0
    assert hangul_share("ab 한국") == 0.5
    assert hangul_share("123") == 0.0


def test_korean_articles_are_refused_and_english_ones_are_not() -> None:
    for article in open_corpus(DatasetSpec("sample-ko")):
        with pytest.raises(LanguageError, match=article.key):
            require_no_hangul(article)
    for article in open_corpus(DatasetSpec("sample")):
        require_no_hangul(article)


def test_a_korean_reference_is_refused_too() -> None:
    with pytest.raises(LanguageError):
        require_no_hangul(Article("d", "all", "k", "An English text.", ("한국어 요약",)))
