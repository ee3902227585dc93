"""Tokenizers: `rouge_score` (English), Korean morphemes, Unicode, or characters."""

import functools
import importlib.metadata
import re
import sys
import unicodedata
from dataclasses import dataclass
from typing import Any, Protocol

from rouge_score.tokenize import tokenize

from nws.core.errors import RecipeError
from nws.core.text.korean import PACKAGES, analyser, readable, versions

TOKENIZERS = ("rouge_score", *PACKAGES, "unicode", "char")
# Scripts without blanks between words: Thai and Lao, Burmese, Khmer, kana, and Chinese characters.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u312f\u31f0-\u9fff\uf900-\ufaff\uff66-\uff9f"
DEFAULT_TOKENIZERS = {"en": "rouge_score", "ko": "kiwi"}


class Tokenizer(Protocol):
    """An object that splits any Unicode string into tokens, always in the same way."""

    @property
    def signature(self) -> str:
        """The tokenizer's part of a metric's signature: `tok:…|stem:…`, with package versions."""

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of `text`, in order; none for an empty text."""


@dataclass(frozen=True, slots=True)
class EnglishTokenizer:
    """The tokenizer of `rouge_score`: lower-cased runs of a-z and 0-9, without any other letters (`check_language`).

    Attributes:
        stemmer: whether to reduce words of more than three letters to their stem with NLTK's Porter stemmer.
    """

    stemmer: bool = False

    @property
    def signature(self) -> str:
        stem = f"porter-nltk-{importlib.metadata.version('nltk')}" if self.stemmer else "no"
        return f"tok:rouge_score-{importlib.metadata.version('rouge_score')}|stem:{stem}"

    def tokenize(self, text: str) -> list[str]:
        tokens: list[str] = tokenize(text, _porter() if self.stemmer else None)
        return tokens


@functools.cache
def _porter() -> Any:
    from nltk.stem.porter import PorterStemmer  # imported here because it loads much of SciPy

    return PorterStemmer()


@dataclass(frozen=True, slots=True)
class KoreanTokenizer:
    """A morpheme analyser: `kiwi` (kiwipiepy), `mecab` (python-mecab-ko) or `okt` (`Okt.morphs` of KoNLPy).

    Words in other scripts stay whole, and case is kept. Kiwi gives morphemes in their dictionary spelling, and MeCab
    and Okt as they are in the text. The analyser is loaded with the first text. Okt's time grows with the square of the
    longest stretch without a space: a minute for 1,000 syllables.
    """

    name: str

    @property
    def signature(self) -> str:
        return f"tok:{self.name},{versions(self.name)},nfc|stem:no"

    def tokenize(self, text: str) -> list[str]:
        return analyser(self.name)(text)


@dataclass(frozen=True, slots=True)
class UnicodeTokenizer:
    """Runs of letters and digits of any script, with their combining marks and ignoring case (after NFC).

    In scripts without blanks between words, each character is a token. For ASCII, the tokens are those of
    `rouge_score`. For other letters, they depend on the Unicode data of Python's version.
    """

    @property
    def signature(self) -> str:
        return f"tok:unicode-{unicodedata.unidata_version},nfc,casefold|stem:no"

    def tokenize(self, text: str) -> list[str]:
        folded = _JOINERS.sub("", readable(text)).casefold().replace("i\u0307", "i")  # the small form of Turkish İ
        return _unicode_token().findall(unicodedata.normalize("NFC", folded))


# Soft hyphens, and characters that join or separate letters only in print.
_JOINERS = re.compile("[\u00ad\u200c\u200d]")


@functools.cache
def _unicode_token() -> re.Pattern[str]:
    marks = "".join(char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(char)[0] == "M")
    return re.compile(f"(?=[{_UNSPACED}])[^\\W_][{marks}]*|(?:(?![{_UNSPACED}])[^\\W_][{marks}]*)+")


@dataclass(frozen=True, slots=True)
class CharTokenizer:
    """A token per character except spaces (after NFC, so that a Hangul syllable is one), for any language."""

    @property
    def signature(self) -> str:
        return "tok:char,nfc|stem:no"

    def tokenize(self, text: str) -> list[str]:
        return [char for char in readable(text) if not char.isspace()]


def named_tokenizer(name: str, stemmer: bool = False) -> Tokenizer:
    """Return the tokenizer `name` of `TOKENIZERS`, ready for use.

    Raises:
        RecipeError: there is no such tokenizer, or another tokenizer than rouge_score was given a stemmer.
        NwsError: a package that the tokenizer needs, or Java, is missing.
    """
    if name not in TOKENIZERS:
        raise RecipeError(f"There is no tokenizer {name!r}. Give one of {', '.join(TOKENIZERS)}.")
    if name == "rouge_score":
        return EnglishTokenizer(stemmer)
    if stemmer:
        raise RecipeError(
            f"The Porter stemmer is for English, and works only with the tokenizer rouge_score, not with {name!r}. "
            "Leave the stemmer out.",
            settings=("stemmer",),
        )
    if name in ("char", "unicode"):
        return CharTokenizer() if name == "char" else UnicodeTokenizer()
    versions(name)
    analyser(name)
    return KoreanTokenizer(name)
