import pytest

from core.errors import LanguageError
from core.text.corpus import DatasetSpec, open_corpus
from core.text.language import latin_share, require_latin_script
from core.types import Article


def test_share_of_letters() -> None:
    assert latin_share("한국어 123") == 0.0
    assert latin_share("ab 한국") == 0.5
    assert latin_share("déjà vu") == 4 / 6
    assert latin_share("123 ...") == 1.0


@pytest.mark.parametrize("text", ["Новости дня", "新闻摘要", "أخبار اليوم", "νέα της ημέρας"])
def test_other_scripts_are_refused(text: str) -> None:
    with pytest.raises(LanguageError, match="Latin"):
        require_latin_script(Article("d", "all", "k", text, ("Reference.",)))


def test_korean_articles_are_refused_and_english_ones_are_not() -> None:
    for article in open_corpus(DatasetSpec("sample-ko")):
        with pytest.raises(LanguageError, match=article.key):
            require_latin_script(article)
    for article in open_corpus(DatasetSpec("sample")):
        require_latin_script(article)


def test_a_korean_reference_is_refused_too() -> None:
    with pytest.raises(LanguageError):
        require_latin_script(Article("d", "all", "k", "An English text.", ("한국어 요약",)))
