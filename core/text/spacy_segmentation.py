"""Segmenting an English text into sentences and chunks with spaCy.

There are two ways:

* a trained pipeline (`en_core_web_sm`): its sentences, its noun chunks, and verb chunks (words with a verb between noun
  chunks, with their auxiliaries, particles and adverbs);
* no trained pipeline (`blank`): `spacy.blank("en")` with the sentencizer, and chunks of at most `MAX_CHUNK_WORDS`
  words, which end at stop words and punctuation.
"""

import functools
import re
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Token

from nws.core.errors import SegmentationError
from nws.core.text.cutting import SIGNS_OF_WORDS, Cutter, CutText, Range, WordMark, runs
from nws.core.text.length import word_spans
from nws.core.text.subtrees import subtrees

# Stop words in spaCy, but a summary without them says the opposite.
_NEGATIONS = frozenset({"no", "not", "n't", "n’t", "never", "cannot"})
_SURROGATE = re.compile("[\ud800-\udfff]")
_VERB_CHUNK_POS = frozenset({"VERB", "AUX", "PART", "ADV"})


@dataclass(frozen=True, slots=True)
class _SpacyWord:
    """A word between blanks: its core, without outer punctuation, and what a chunker needs to know about it."""

    text: str
    span: tuple[int, int]  # the characters of the whole word
    tokens: tuple[Token, ...]  # the tokens of the core
    opens: bool  # whether there is punctuation before the core
    closes: bool  # whether there is punctuation after it

    @property
    def is_stop(self) -> bool:
        return all(_is_stop(token) for token in self.tokens)


def _is_stop(token: Token) -> bool:
    return (token.is_stop and token.lower_ not in _NEGATIONS and not token.like_num) or token.is_punct


# Turns the words of one sentence into (start, end) ranges of these words.
Chunker = Callable[[list[_SpacyWord]], Iterator[Range]]


@functools.cache  # spaCy takes 0.2 to 1 s to load, and a process may need several segmenters
def load_cutter(pipeline: str, with_subtrees: bool = False) -> Cutter:
    """Return this process's cutter for `blank` or an installed trained pipeline.

    Args:
        pipeline: `blank`, or the name of a trained pipeline, which subtrees need.
        with_subtrees: whether to find subtrees (`nws.core.text.subtrees`), too.

    Raises:
        SegmentationError: the pipeline's files are damaged, or it does not parse, but subtrees are requested.
    """
    chunker: Chunker
    if pipeline == "blank":
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
        chunker = stop_word_chunks
    else:
        nlp = load_trained(pipeline, exclude=("ner", "lemmatizer"))
        chunker = parsed_chunks
        if with_subtrees and "parser" not in nlp.pipe_names:
            raise SegmentationError(
                f"The spaCy pipeline {pipeline!r} has no parser, but subtrees need one. Name another pipeline."
            )
    nlp.add_pipe("line_breaks", first=True)
    nlp.max_length = sys.maxsize  # of texts: whoever uses a trained pipeline for novels has gigabytes of memory
    # spaCy fails on half of a surrogate pair.
    return lambda text: cut_doc(nlp(_SURROGATE.sub("\ufffd", text)), chunker, with_subtrees)


def load_trained(pipeline: str, exclude: Collection[str]) -> Language:
    """Load an installed trained pipeline without some of its components.

    Raises:
        SegmentationError: its files are damaged.
    """
    try:
        return spacy.load(pipeline, exclude=list(exclude))
    # The errors that spaCy raised when one bit of one of its files was flipped.
    except (AttributeError, LookupError, OSError, TypeError, ValueError, re.error) as error:
        raise SegmentationError(
            f"The spaCy pipeline {pipeline!r} cannot be loaded ({type(error).__name__}: {error}): its files are "
            "damaged, or for another version of spaCy. Install it again with `pip install --force-reinstall --no-deps`."
        ) from error


@Language.component("line_breaks")
def line_breaks(doc: Doc) -> Doc:
    """Start a sentence at each new line, since headlines and paragraphs often lack the full stop."""
    starts = np.zeros(len(doc), np.uint64)
    for i in np.flatnonzero(doc.to_array("IS_SPACE")[:-1]).tolist():
        starts[i + 1] = "\n" in doc[i].text
    return doc.from_array(["SENT_START"], cast(Any, starts))  # all at once, since each call goes through all tokens


def cut_doc(doc: Doc, chunker: Chunker, with_subtrees: bool = False) -> CutText:
    """Return the words, sentences and chunks of `doc`, and with `with_subtrees`, for a parsed one, its subtrees."""
    words = _words(doc)
    sentences = tuple(_sentence_ranges(doc, words))
    chunks = tuple(
        tuple((start + first, start + last) for first, last in chunker(words[start:end])) for start, end in sentences
    )
    cut = CutText(tuple(word.text for word in words), sentences, chunks)
    if not with_subtrees:
        return cut
    found = (subtrees([word.tokens for word in words[start:end]], start) for start, end in sentences)
    return replace(cut, subtrees=tuple(found))


def _words(doc: Doc) -> list[_SpacyWord]:
    words = []
    tokens = list(doc)  # kept, as is the text, since spaCy creates them again at each access
    text = doc.text
    starts = doc.to_array("IDX").astype(np.int64)
    ends = (starts + doc.to_array("LENGTH").astype(np.int64)).tolist()
    starts = starts.tolist()
    first = 0  # the first token that may overlap with the next word
    for start, end in word_spans(text):
        while ends[first] <= start:
            first += 1
        last = first
        while last < len(tokens) and starts[last] < end:
            last += 1
        words.append(_word(text, (start, end), tokens[first:last]))
        first = last - 1
    return words


def _word(text: str, span: tuple[int, int], tokens: list[Token]) -> _SpacyWord:
    content = [i for i, token in enumerate(tokens) if not token.is_punct or token.text in SIGNS_OF_WORDS]
    core = tokens[content[0] : content[-1] + 1] if content else tokens
    word = text[core[0].idx : core[-1].idx + len(core[-1])] if core else ""
    if not any(char.isalnum() for char in word):  # an odd tokenisation, e.g. of "%)5": keep the whole word
        core, word = tokens, text[span[0] : span[1]]
    return _SpacyWord(word, span, tuple(core), core[0].i > tokens[0].i, core[-1].i < tokens[-1].i)


def _sentence_ranges(doc: Doc, words: list[_SpacyWord]) -> Iterator[Range]:
    """Yield the word ranges of the sentences. A word belongs to the sentence in which its core starts."""
    start = 0
    for sentence in doc.sents:
        end = start
        while end < len(words) and words[end].tokens[0].i < sentence.end:
            end += 1
        if end > start:
            yield start, end
        start = end


def stop_word_chunks(words: list[_SpacyWord]) -> Iterator[Range]:
    """Yield the runs of content words of a sentence, which end at stop words, punctuation and `MAX_CHUNK_WORDS`."""
    return runs([WordMark(word.is_stop, word.opens, word.closes) for word in words])


def parsed_chunks(words: list[_SpacyWord]) -> Iterator[Range]:
    """Yield the parser's noun chunks of a sentence and the verb chunks between them; none with only stop words."""
    sentence = words[0].tokens[0].doc[words[0].tokens[0].i : words[-1].tokens[-1].i + 1]
    noun_tokens = {token.i: chunk.start for chunk in sentence.noun_chunks for token in chunk}
    kinds = [_chunk_kind(word, noun_tokens) for word in words]
    start = 0
    for i in range(1, len(words) + 1):
        if i < len(words) and kinds[i] == kinds[start] and not words[i].opens and not words[i - 1].closes:
            continue
        run = words[start:i]
        if kinds[start] is not None and not all(word.is_stop for word in run) and _holds_noun_or_verb(run, noun_tokens):
            yield start, i
        start = i


def _chunk_kind(word: _SpacyWord, noun_tokens: dict[int, int]) -> str | int | None:
    """Return the word's noun chunk (as the number of its first token), "verb", or None if it is in no chunk."""
    for token in word.tokens:
        if token.i in noun_tokens:
            return noun_tokens[token.i]
    return "verb" if all(token.pos_ in _VERB_CHUNK_POS for token in word.tokens) else None


def _holds_noun_or_verb(run: list[_SpacyWord], noun_tokens: dict[int, int]) -> bool:
    return any(token.i in noun_tokens or token.pos_ in {"VERB", "AUX"} for word in run for token in word.tokens)
