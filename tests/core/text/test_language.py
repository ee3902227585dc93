import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import LanguageError
from core.text.corpus import DatasetSpec, open_corpus
from core.text.language import check_language, hangul_share, latin_share, require_latin_script
from core.text.tokenizers import CharTokenizer, EnglishTokenizer, KoreanTokenizer
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


@pytest.mark.parametrize(
    "text",
    ["한국어 요약", "ㅋㅋㅋ", "AI 기술은 우리 생활을 바꾼다", "어제 iPhone 판매", "ab 한국", "\u1112\u1161\u11ab 1"],
)
@pytest.mark.parametrize("stemmer", [False, True])
def test_korean_is_refused_with_the_flag_to_use(text: str, stemmer: bool) -> None:
    with pytest.raises(LanguageError, match=r"Korean.*`--lang ko`.*`--tokenizer kiwi`"):
        check_language(["An English text.", text], EnglishTokenizer(stemmer))


@pytest.mark.parametrize("text", ["新闻摘要", "新闻 2024 x", "الأخبار", "новости дня", "ข่าว", "ニュース"])
def test_no_other_script_becomes_a_silent_zero(text: str) -> None:
    with pytest.raises(LanguageError, match="`--tokenizer char`"):
        check_language([text], EnglishTokenizer())


@pytest.mark.parametrize("text", ["", " ", "😀", "?!", "123", "Café déjà vu", "Samsung (삼성) rose", "\ud800", "\0"])
def test_what_the_english_tokenizer_reads_is_not_refused(text: str) -> None:
    check_language([text], EnglishTokenizer())


def test_the_other_tokenizers_read_every_script() -> None:
    for tokenizer in (CharTokenizer(), KoreanTokenizer("kiwi")):
        check_language(["한국어", "新闻", "An English text."], tokenizer)


def test_a_long_text_is_cut_in_the_message() -> None:
    with pytest.raises(LanguageError, match=f"'{'가' * 40}…'"):
        check_language(["가" * 1000], EnglishTokenizer())


@given(st.text())
def test_whatever_passes_keeps_a_token_if_it_has_a_letter(text: str) -> None:
    try:
        check_language([text], EnglishTokenizer())
    except LanguageError:
        return
    assert EnglishTokenizer().tokenize(text) or not any(char.isalpha() for char in text)
