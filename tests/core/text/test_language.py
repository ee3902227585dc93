import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import LanguageError
from core.text.dataset import Dataset, open_dataset
from core.text.language import (
    article_language,
    check_language,
    hangul_share,
    latin_share,
    require_language,
)
from core.text.tokenizers import EnglishTokenizer
from core.types import Article


def test_share_of_letters() -> None:
    assert hangul_share("한국어 123") == 1.0
    assert hangul_share("ab 한국") == 0.5
    assert hangul_share("123") == 0.0
    assert hangul_share("ㅋㅋㅋ") == hangul_share("\u1112\u1161\u11ab") == 1.0  # single letters; decomposed syllables
    assert latin_share("한국어 123") == 0.0
    assert latin_share("ab 한국") == 0.5
    assert latin_share("déjà vu") == 4 / 6
    assert latin_share("123 ...") == 1.0


@given(st.text())
def test_shares_are_counted_letter_by_letter(text: str) -> None:
    letters = [char for char in text if char.isalpha()]
    korean = [char for char in letters if hangul_share(char) == 1]
    assert hangul_share(text) == (len(korean) / len(letters) if letters else 0)
    latin = [char for char in text.lower() if char.isalpha()]
    assert latin_share(text) == (sum(char in string.ascii_lowercase for char in latin) / len(latin) if latin else 1)


OTHER_SCRIPTS = ["Новости дня", "新闻摘要", "أخبار اليوم", "νέα της ημέρας"]


def article(text: str, *references: str) -> Article:
    return Article("d", "all", "k", text, references)


@pytest.mark.parametrize("text", OTHER_SCRIPTS)
def test_other_scripts_are_refused_in_every_language(text: str) -> None:
    with pytest.raises(LanguageError, match=r"'k' of d: its text is not in Latin script"):
        require_language(article(text, "Reference."), "en")
    with pytest.raises(LanguageError, match=r"'k' of d: its text is not in Korean"):
        require_language(article(text, "요약"), "ko")
    with pytest.raises(LanguageError, match=r"'k' of d is neither Korean nor in Latin script"):
        article_language(article(text, "Reference."))


def test_the_bundled_articles_are_in_their_language() -> None:
    for name, language, other in (("sample", "en", "ko"), ("sample-ko", "ko", "en")):
        for item in open_dataset(Dataset(name)):
            assert article_language(item) == language
            require_language(item, language)
            with pytest.raises(LanguageError, match=f"{item.key}.*its own run"):
                require_language(item, other)


def test_a_reference_in_another_language_is_refused_too() -> None:
    with pytest.raises(LanguageError, match="its reference 2 is not in Latin"):
        require_language(article("An English text.", "A summary.", "한국어 요약"), "en")
    with pytest.raises(LanguageError, match="its reference 1 is not in Korean"):
        require_language(article("한국어 기사", "A summary.", "한국어 요약"), "ko")


def test_the_text_alone_decides_the_language() -> None:
    assert article_language(article("한국어 기사", "A summary.")) == "ko"
    assert article_language(article("An English text.", "한국어 요약")) == "en"
    assert article_language(article("삼성은 iPhone 17 Pro Max보다 Galaxy S26 Ultra를 먼저 냈다", "요약")) == "ko"
    assert article_language(article("Samsung (삼성) rose 3% in Seoul today", "요약")) == "en"
    assert article_language(article("123", "요약")) == "en"


@given(st.text())
def test_a_text_is_in_one_language_or_in_none(text: str) -> None:
    accepted = []
    for language in ("en", "ko"):
        try:
            require_language(article(text, text), language)
        except LanguageError:
            continue
        accepted.append(language)
    if accepted:
        assert accepted == [article_language(article(text))]
    else:
        with pytest.raises(LanguageError):
            article_language(article(text))


@pytest.mark.parametrize(
    "text",
    ["한국어 요약", "ㅋㅋㅋ", "AI 기술은 우리 생활을 바꾼다", "어제 iPhone 판매", "ab 한국", "\u1112\u1161\u11ab 1"],
)
@pytest.mark.parametrize("stemmer", [False, True])
def test_korean_is_refused_with_the_flag_to_use(text: str, stemmer: bool) -> None:
    with pytest.raises(LanguageError, match=r"language `ko` or a tokenizer such as `kiwi` for Korean"):
        check_language(["An English text.", text], EnglishTokenizer(stemmer))


@pytest.mark.parametrize("text", ["新闻摘要", "新闻 2024 x", "الأخبار", "новости дня", "ข่าว", "ニュース"])
def test_no_other_script_becomes_a_silent_zero(text: str) -> None:
    with pytest.raises(LanguageError, match="tokenizer `char`"):
        check_language([text], EnglishTokenizer())


@pytest.mark.parametrize("text", ["", " ", "😀", "?!", "123", "Café déjà vu", "Samsung (삼성) rose", "\ud800", "\0"])
def test_what_the_english_tokenizer_reads_is_not_refused(text: str) -> None:
    check_language([text], EnglishTokenizer())


@given(st.text())
def test_whatever_passes_keeps_a_token_if_it_has_a_letter(text: str) -> None:
    try:
        check_language([text], EnglishTokenizer())
    except LanguageError:
        return
    assert EnglishTokenizer().tokenize(text) or not any(char.isalpha() for char in text)
