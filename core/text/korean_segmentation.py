"""Cut a Korean text into sentences and chunks with the morpheme analyser Kiwi.

A word of Korean (an eojeol) is a noun with its particles or a verb with its endings. The last morpheme says how it goes
on: particles (J…) and final and connective endings (EF, EC) end a phrase, while adnominals (ETM, JKG, MM), adverbs and
bare nouns belong to what follows. A chunk is such a phrase: a run of words of one sentence, ended by such a word, by
punctuation, and after `MAX_CHUNK_WORDS` words. An auxiliary verb (VX) or a negated copula (VCN) stays with the word
before it, or a summary could say the opposite ("줄지 않았다", "사실이 아니다"). Stop words, which are in no chunk, are
the conjunctions that begin a sentence (MAJ): 그러나, 하지만, 그리고, 따라서.

The tags are those of the Sejong corpus, as Kiwi extends them.
"""

import bisect
import itertools
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.text.cutting import Cutter, CutText, Range, WordMark, runs
from core.text.korean_analysers import load_kiwi, readable

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


def load_cutter() -> Cutter:
    """What cuts a text with the Kiwi of this process.

    Raises:
        NwsError: Kiwi is not installed.
    """
    kiwi = load_kiwi()
    return lambda text: _cut(text, kiwi)


def _cut(text: str, kiwi: Any) -> CutText:
    words: list[str] = []
    sentences: list[Range] = []
    chunks: list[tuple[Range, ...]] = []
    # Kiwi reads on over a single new line, so that a headline would run into the text.
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
    """The words of each sentence of a line. A word belongs to the sentence in which its first morpheme lies."""
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
    """Of each whitespace token the number of its sentence (None: no morpheme starts in it), and its morphemes' tags.

    Kiwi's offsets count the characters of what it is given, which is not what the article holds: composed, and
    without lone surrogates and NUL. So each token is made readable by itself, and found again by where it starts.
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
    """Where `word` starts and ends without the punctuation around it, but with a bracket of its own: 김한결(45)."""
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
