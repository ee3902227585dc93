import importlib
import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nws.core.article import Article
from nws.core.errors import LanguageError
from nws.core.text.dataset import Dataset, open_dataset
from nws.core.text.language import (
    check_language,
    common_language,
    find_foreign,
    foreign_language,
    hangul_share,
    latin_share,
    require_language,
    text_language,
)
from nws.core.text.tokenizers import EnglishTokenizer


def test_share_of_letters() -> None:
    assert hangul_share("ab 한국") == latin_share("ab 한국") == 0.5
    assert (hangul_share("123"), latin_share("123 ...")) == (0.0, 1.0)
    assert hangul_share("ㅋㅋㅋ") == hangul_share("\u1112\u1161\u11ab") == 1.0  # single letters; decomposed syllables
    assert latin_share("déjà vu") == 4 / 6


@given(st.text())
def test_shares_are_counted_letter_by_letter(text: str) -> None:
    letters = [char for char in text if char.isalpha()]
    korean = [char for char in letters if hangul_share(char) == 1]
    assert hangul_share(text) == (len(korean) / len(letters) if letters else 0)
    latin = [char for char in text.lower() if char.isalpha()]
    assert latin_share(text) == (sum(char in string.ascii_lowercase for char in latin) / len(latin) if latin else 1)


def article(text: str, *references: str) -> Article:
    return Article("d", "all", "k", text, references)


@pytest.mark.parametrize("text", ["Новости дня", "新闻摘要", "أخبار اليوم", "νέα της ημέρας"])
def test_other_scripts_are_refused_in_every_language(text: str) -> None:
    with pytest.raises(LanguageError, match=r"'k' of d: its text is not in Latin script"):
        require_language(article(text, "Reference."), "en")
    with pytest.raises(LanguageError, match=r"'k' of d: its text is not in Korean"):
        require_language(article(text, "요약"), "ko")
    with pytest.raises(LanguageError, match=r"2 of the first 3 articles of d, such as 'k', are neither Korean nor"):
        common_language([article("An English text."), article(text), article(text)])


def test_a_reference_in_another_language_is_refused_too() -> None:
    with pytest.raises(LanguageError, match=r"its reference 2 is not in Latin.*its own run"):
        require_language(article("An English text.", "A summary.", "한국어 요약"), "en")
    with pytest.raises(LanguageError, match="its reference 1 is not in Korean"):
        require_language(article("한국어 기사", "A summary.", "한국어 요약"), "ko")


def test_the_text_alone_decides_the_language() -> None:
    assert text_language("한국어 기사") == "ko"
    assert text_language("삼성은 iPhone 17 Pro Max보다 Galaxy S26 Ultra를 먼저 냈다") == "ko"
    assert text_language("Samsung (삼성) rose 3% in Seoul today") == "en"
    assert text_language("123") == "en"
    assert common_language([article("An English text.", "한국어 요약")]) == "en"


EN, KO, RU = "An English text.", "한국어 기사", "Новости дня"
VOTES = [([RU, EN, EN], "en"), ([KO, EN, EN], "en"), ([EN, KO, RU, KO], "ko"), (["", "1", KO], "ko"), (["", "1"], "en")]


@pytest.mark.parametrize(("texts", "language"), [*VOTES, ([EN] * 51 + [KO] * 900, "en")])
def test_most_of_the_first_hundred_articles_decide_the_language(texts: list[str], language: str) -> None:
    assert common_language(map(article, texts)) == language


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
        assert accepted == [text_language(text)]
    else:
        assert text_language(text) is None


@pytest.mark.parametrize(
    "text",
    [
        *("한국어 요약", "ㅋㅋㅋ", "AI 기술은 우리 생활을", "어제 iPhone", "\u1112\u1161\u11ab 1"),
        *("新闻摘要", "新闻 2024 x", "الأخبار", "новости дня", "ข่าว", "ニュース"),
    ],
)
def test_what_the_english_tokenizer_deletes_is_refused_with_the_flags_to_use(text: str) -> None:
    with pytest.raises(LanguageError, match=r"language `ko` or a tokenizer such as `kiwi` for .* tokenizer `unicode`"):
        check_language(["An English text.", text], EnglishTokenizer())


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


@pytest.mark.parametrize("code", ["fr", "de", "es", "it", "nl", "pt", "sv", "fi", "pl", "ro", "tr", "id", "vi", "hu"])
def test_sentences_of_other_languages_are_told_from_english(code: str) -> None:
    """Examples that come with spaCy."""
    sentences = importlib.import_module(f"spacy.lang.{code}.examples").sentences
    long = [text for text in sentences if sum(map(str.isalpha, text)) >= 20]
    found = find_foreign(long, "en")
    assert found.total() == len(long)
    assert found.most_common(1)[0][0] == code


@pytest.mark.parametrize("text", ["", "12 %", "😀", "Déjà vu", "Bonjour, Marie", "Schweinsteiger"])
def test_a_short_text_is_in_any_language(text: str) -> None:
    assert foreign_language(text, "en") is foreign_language(text, "ko") is None


def test_summaries_of_a_few_words_are_no_false_alarm() -> None:
    drawn = random.Random(0)
    texts = [article.text for article in open_dataset(Dataset("sample"))]
    bags = [" ".join(drawn.sample(text.split(), n)) for text in texts for n in (1, 3, 5, 7, 9, 13, 21)]
    assert find_foreign(bags, "en").total() <= 1
