"""Korean: three morpheme analysers, each loaded when first used, and sentences and chunks by one of them, Kiwi.

A Korean word (an eojeol) is a noun with its particles or a verb with its endings. The last morpheme says whether a
phrase ends: particles (J…) and final and connective endings (EF, EC) end it, while adnominals (ETM, JKG, MM), adverbs
and bare nouns belong to what follows. A chunk is such a phrase: a run of words of a sentence, which ends with such a
word, at punctuation, or after `MAX_CHUNK_WORDS` words. An auxiliary verb (VX) or a negated copula (VCN) stays with the
word before it, or a summary could say the opposite ("줄지 않았다", "사실이 아니다"). Stop words, which are in no chunk,
are the conjunctions that begin a sentence (MAJ): 그러나, 하지만, 그리고, 따라서.

The tags are those of the Sejong corpus with Kiwi's extensions.
"""

import bisect
import functools
import importlib
import importlib.metadata
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from nws.core.errors import NwsError
from nws.core.text.cutting import Cutter, CutText, Range, WordMark, runs

INSTALL = "pip install kiwipiepy konlpy python-mecab-ko"
# The packages whose versions determine the output of an analyser.
PACKAGES = {
    "kiwi": ("kiwipiepy", "kiwipiepy_model"),
    "mecab": ("python-mecab-ko", "python-mecab-ko-dic"),
    "okt": ("konlpy",),
}
DATA = {"kiwi": "kiwipiepy_model", "mecab": "mecab_ko_dic", "okt": "konlpy"}
"""The module with an analyser's model or dictionary."""
NOUNS_AND_ADJECTIVES = ("NNG", "NNP", "VA", "XR")
"""Kiwi's tags of common nouns, names, adjectives, and the roots of derived ones."""
_SPACE = re.compile(r"[^\S\n]|\0")
Morphs = Callable[[str], list[str]]


@functools.cache
def analyser(name: str) -> Morphs:
    """Return the analyser `name` of `PACKAGES`, which splits any Unicode string into morphemes.

    Raises:
        NwsError: its package or Java is missing.
    """
    morphs = _LOADERS[name]()
    return lambda text: [morpheme for morpheme in morphs(readable(text)) if not morpheme.isspace()]


def versions(name: str) -> str:
    """Return the packages of the analyser `name` with their versions, e.g. `konlpy-0.6.0`.

    Raises:
        NwsError: one of them is missing.
    """
    try:
        return ",".join(f"{package}-{importlib.metadata.version(package)}" for package in PACKAGES[name])
    except importlib.metadata.PackageNotFoundError as error:
        raise _missing(name, str(error.name)) from error


def readable(text: str) -> str:
    """Return `text` in a form that every analyser can read.

    It is composed (NFC), since the dictionaries have no decomposed Hangul. Lone surrogates, which no analyser accepts,
    become U+FFFD. NUL, at which MeCab stops reading, becomes a plain space. So does all white space except newlines,
    since some of it makes Okt drop the next word.
    """
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text))


@functools.cache
def load_kiwi() -> Any:
    """Return this process's only `kiwipiepy.Kiwi`, with one thread, for morphemes and for sentences.

    Raises:
        NwsError: its package is missing.
    """
    kiwi = _module("kiwi", "kiwipiepy")
    return kiwi.Kiwi(num_workers=1)


def nouns_and_adjectives(text: str) -> list[str]:
    """Return the morphemes of `text`, in order, that Kiwi tags with one of `NOUNS_AND_ADJECTIVES`.

    Raises:
        NwsError: its package is missing.
    """
    tokens = load_kiwi().tokenize(readable(text))
    # VA-I is an irregular adjective.
    return [token.form for token in tokens if token.tag.partition("-")[0] in NOUNS_AND_ADJECTIVES]


def _load_kiwi() -> Morphs:
    kiwi = load_kiwi()
    return lambda text: [token.form for token in kiwi.tokenize(text)]


def _load_mecab() -> Morphs:
    mecab = _module("mecab", "mecab")
    morphs: Morphs = mecab.MeCab().morphs
    return morphs


def _load_okt() -> Morphs:
    jpype: Any = _module("okt", "jpype")
    jars = Path(str(_module("okt", "konlpy").__file__)).parent / "java"
    if not jpype.isJVMStarted():
        try:
            # KoNLPy would start it, too, but not headless, and it would take Ctrl-C and other signals from Python.
            jpype.startJVM(
                "-Djava.awt.headless=true",
                "-Dfile.encoding=UTF8",
                "-Xmx1024m",
                "-Xrs",
                classpath=[str(jars / "bin"), str(jars / "*")],
                convertStrings=True,
                interrupt=False,
            )
        except (jpype.JVMNotFoundException, OSError, RuntimeError) as error:
            raise NwsError(
                f"The tokenizer 'okt' needs Java, which cannot be started ({error}). Install it "
                "(Debian, Ubuntu: `apt install default-jre-headless`), set JAVA_HOME if it is in an unusual place, "
                "or choose the tokenizer `kiwi`, which does not need it.",
                settings=("tokenizer",),
            ) from error
    morphs: Morphs = _module("okt", "konlpy.tag").Okt().morphs
    return morphs


_LOADERS: dict[str, Callable[[], Morphs]] = {"kiwi": _load_kiwi, "mecab": _load_mecab, "okt": _load_okt}


def _module(name: str, module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise _missing(name, module) from error


def _missing(name: str, package: str) -> NwsError:
    return NwsError(f"The tokenizer {name!r} needs the package {package}. Install it with `{INSTALL}`.")


_PUNCTUATION_TAGS = frozenset({"SF", "SP", "SS", "SSO", "SSC", "SE", "SO"})
_CLOSING_TAGS = frozenset({"EF", "EC", "JKS", "JKC", "JKO", "JKB", "JKV", "JKQ", "JX", "JC"})
_JOINING_TAGS = frozenset({"VX", "VCN"})
_STOP_TAG = "MAJ"
# Unicode calls these symbols, but news puts them around words: 〈…〉 typed as <…>, and the bullets of headlines.
_BULLETS = frozenset("<>＜＞~∼`") | frozenset(map(chr, range(0x25A0, 0x2600)))
_PARTS_OF_WORDS = frozenset("%％‰_")
_BRACKETS = {")": "(", "]": "[", "）": "（"}


@dataclass(frozen=True, slots=True)
class _KoreanWord:
    text: str
    tags: tuple[str, ...]  # of its morphemes but punctuation
    opens: bool  # punctuation stands before it
    closes: bool  # punctuation stands after it

    @property
    def is_stop(self) -> bool:
        return bool(self.tags) and all(tag == _STOP_TAG for tag in self.tags)

    @property
    def ends_phrase(self) -> bool:
        return bool(self.tags) and self.tags[-1] in _CLOSING_TAGS

    @property
    def joins(self) -> bool:
        return bool(self.tags) and self.tags[0] in _JOINING_TAGS and not self.opens


def load_korean_cutter() -> Cutter:
    """The cutter that uses the Kiwi of this process.

    Raises:
        NwsError: Kiwi is not installed.
    """
    kiwi = load_kiwi()
    return lambda text: _cut(text, kiwi)


def _cut(text: str, kiwi: Any) -> CutText:
    words: list[str] = []
    sentences: list[Range] = []
    chunks: list[tuple[Range, ...]] = []
    # Kiwi ignores single line breaks, so that a headline would run into the text.
    for sentence in itertools.chain.from_iterable(_sentences(line, kiwi) for line in text.split("\n")):
        start = len(words)
        words += [word.text for word in sentence]
        sentences.append((start, len(words)))
        chunks.append(tuple((start + first, start + last) for first, last in runs(_marks(sentence))))
    return CutText(tuple(words), tuple(sentences), tuple(chunks))


def _marks(words: list[_KoreanWord]) -> list[WordMark]:
    joined = [*(word.joins for word in words[1:]), False]
    return [
        WordMark(word.is_stop, word.opens, word.closes or (word.ends_phrase and not is_joined))
        for word, is_joined in zip(words, joined, strict=True)
    ]


def _sentences(line: str, kiwi: Any) -> Iterator[list[_KoreanWord]]:
    """Yield the words of each sentence of a line. A word belongs to the sentence of its first morpheme."""
    tokens = line.split()
    if not any(map(_is_word, tokens)):
        return
    sentence: list[_KoreanWord] = []
    current = 0
    opens = False
    for token, (number, tags) in zip(tokens, _morphemes(tokens, kiwi), strict=True):
        if not _is_word(token):
            opens = True
            continue
        if number is not None and number > current:
            if sentence:
                yield sentence
            sentence, current = [], number
        start, end = _core(token)
        sentence.append(_KoreanWord(token[start:end], tags, opens or start > 0, end < len(token)))
        opens = False
    yield sentence


def _morphemes(tokens: list[str], kiwi: Any) -> list[tuple[int | None, tuple[str, ...]]]:
    """Return the sentence number of each whitespace token (None: no morpheme starts in it), and its morphemes' tags.

    Kiwi's offsets refer to the text that it gets, which differs from the article's: it is composed, and has no lone
    surrogates or NUL. So each token is made readable separately, and found again by its start.
    """
    readable_tokens = [readable(token) for token in tokens]
    starts = list(itertools.accumulate((len(token) + 1 for token in readable_tokens[:-1]), initial=0))
    tags: list[list[str]] = [[] for _ in tokens]
    numbers: list[int | None] = [None] * len(tokens)
    sentences = kiwi.split_into_sents(" ".join(readable_tokens), return_tokens=True, return_sub_sents=False)
    for number, sentence in enumerate(sentences):
        for morpheme in sentence.tokens:
            if morpheme.tag not in _PUNCTUATION_TAGS:
                token = bisect.bisect_right(starts, morpheme.start) - 1
                tags[token].append(morpheme.tag.partition("-")[0])  # VV-I is an irregular VV
                if numbers[token] is None:
                    numbers[token] = number
    return [(number, tuple(token_tags)) for number, token_tags in zip(numbers, tags, strict=True)]


def _is_word(token: str) -> bool:
    return any(char.isalnum() for char in token)


def _core(word: str) -> tuple[int, int]:
    """Return the start and end of `word` without the punctuation around it, but with its own brackets: 김한결(45)."""
    start, end = 0, len(word)
    while _is_punctuation(word[start]):
        start += 1
    while _is_punctuation(word[end - 1]):
        end -= 1
    if end < len(word) and word[end] in _BRACKETS:
        is_open = word.count(_BRACKETS[word[end]], start, end) > word.count(word[end], start, end)
        end += is_open
    return start, end


def _is_punctuation(char: str) -> bool:
    return char in _BULLETS or (unicodedata.category(char).startswith("P") and char not in _PARTS_OF_WORDS)
