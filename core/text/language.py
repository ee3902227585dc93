"""The script of a text, so that no tokenizer silently deletes the text, and the language that it looks like.

The script alone shows Korean, but not whether a text is French or English. For that there is py3langid (after Lui and
Baldwin 2012, "langid.py").
"""

import functools
import itertools
import re
import reprlib
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from nws.core.article import Article
from nws.core.errors import LanguageError
from nws.core.text.tokenizers import EnglishTokenizer, Tokenizer

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

# The languages that articles may be in.
Language = Literal["en", "ko"]
SAMPLED_ARTICLES = 100
"""The number of articles that decide the language of a dataset, so that a single odd one does not matter."""
LANGUAGE_NAMES: dict[Language, str] = {"en": "English", "ko": "Korean"}
# Syllables and all blocks of jamo: conjoining, compatibility, extended A and B, half-width.
_HANGUL = re.compile("[\uac00-\ud7a3\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\ud7b0-\ud7fb\uffa0-\uffdc]")
_LATIN = re.compile("[a-z]")
# More Hangul than a quoted name or two: the English tokenizer would score only the rest, and the score would look good.
_MOST_HANGUL = 0.2
# Shorter texts are often names, numbers and greetings.
_LEAST_LETTERS, _LEAST_OF_SCRIPT = 20, 2
# Below this probability, a text counts as not in a language. Of 1,718 lines of English dialogue with 20 letters one was
# below it, of 982 articles and summaries none; of 120 such sentences in 19 other languages all but one were.
_LEAST_PROBABILITY = 0.01


def hangul_share(text: str) -> float:
    """Return the share of the letters of `text` that are Hangul, in [0, 1]; 0 for a text without letters."""
    letters = sum(map(str.isalpha, text))
    hangul = sum(map(str.isalpha, _HANGUL.findall(text)))
    return hangul / letters if letters else 0.0


def is_korean(text: str) -> bool:
    """Return whether more than a fifth of the letters of `text` are Hangul."""
    return hangul_share(text) > _MOST_HANGUL


def latin_share(text: str) -> float:
    """Return the share of the letters of `text` that are a-z or A-Z, in [0, 1]; 1 for a text without letters."""
    lower = text.lower()
    letters = sum(map(str.isalpha, lower))
    return len(_LATIN.findall(lower)) / letters if letters else 1.0


def is_mostly_deleted(text: str) -> bool:
    """Return whether the English tokenizer, which keeps only a-z and 0-9, would delete too much of `text` to score it.

    Too much is more than half of its letters, or more than a fifth if they are Hangul. A text without letters, such as
    an emoji, is fine.
    """
    return latin_share(text) < 0.5 or is_korean(text)


def check_language(texts: Iterable[str], tokenizer: Tokenizer) -> None:
    """Refuse texts that `tokenizer` would mostly delete, which would make their scores meaningless.

    Only the English tokenizer deletes letters (see `is_mostly_deleted`).

    Raises:
        LanguageError: a text is refused. The error names the text and the flag to use.
    """
    if isinstance(tokenizer, EnglishTokenizer):
        for text in texts:
            if is_mostly_deleted(text):
                raise LanguageError(
                    f"The text {reprlib.repr(text.strip())} is not in the Latin alphabet. The English tokenizer "
                    "rouge_score keeps only a-z and 0-9: it would delete most of the text and score the rest. Choose "
                    "the language `ko` or a tokenizer such as `kiwi` for Korean. For others, choose the tokenizer "
                    "`unicode`, which keeps the letters of every script.",
                    settings=("lang", "tokenizer"),
                )


def text_language(text: str) -> Language | None:
    """Return `ko` if more than a fifth of the letters are Hangul, `en` for other Latin script, or None."""
    if is_korean(text):
        return "ko"
    return None if is_mostly_deleted(text) else "en"


def common_language(articles: Iterable[Article]) -> Language:
    """Return the language of most of the first `SAMPLED_ARTICLES` articles that have letters; `en` if none has.

    Raises:
        LanguageError: most of them are neither Korean nor in Latin script.
    """
    sampled = itertools.islice(articles, SAMPLED_ARTICLES)
    with_letters = [article for article in sampled if any(map(str.isalpha, article.text))]
    languages: list[Language | None] = [text_language(article.text) for article in with_letters] or ["en"]
    language, count = Counter(languages).most_common(1)[0]
    if language is None:
        article = with_letters[languages.index(None)]
        raise LanguageError(
            f"{count} of the first {len(with_letters)} articles of {article.dataset}, such as {article.key!r}, are "
            "neither Korean nor in Latin script. Give articles in English or Korean."
        )
    return language


def require_language(article: Article, language: Language) -> None:
    """Refuse an article if its text or a reference is not in the language of the run.

    For `en`, this is a text that the English tokenizer would mostly delete (`is_mostly_deleted`); for `ko`, a text that
    is not Korean (`is_korean`).

    Raises:
        LanguageError: the article is refused. The error names it.
    """
    texts = {"text": article.text} | {f"reference {i}": text for i, text in enumerate(article.references, start=1)}
    for part, text in texts.items():
        if is_mostly_deleted(text) if language == "en" else not is_korean(text):
            raise LanguageError(
                f"Article {article.key!r} of {article.dataset}: its {part} is not in "
                f"{'Latin script' if language == 'en' else 'Korean'}. A run has one language: give it its own run."
            )


def foreign_language(text: str, expected: Language) -> str | None:
    """Return the ISO 639 code of the language of `text`; None if this is `expected`, or if the text is too short.

    For another script, two letters that are neither Latin (with or without marks) nor Hangul are enough.
    """
    letters = sum(map(str.isalpha, text))
    is_latin = latin_share(unicodedata.normalize("NFKD", text)) >= 0.5
    if letters < (_LEAST_LETTERS if is_latin else _LEAST_OF_SCRIPT) or (expected == "ko" and is_korean(text)):
        return None
    ranked = _identifier().rank(text)
    if expected == "en" and dict(ranked)["en"] >= _LEAST_PROBABILITY:
        return None
    return next(str(code) for code, _ in ranked if code != expected)


def find_foreign(texts: Iterable[str], expected: Language) -> Counter[str]:
    """Count the `texts` that look like another language than `expected`, by ISO 639 code."""
    return Counter(code for text in texts if (code := foreign_language(text, expected)) is not None)


@functools.cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # imported here because few runs need it

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
