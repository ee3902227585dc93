"""The result of segmenting a text, English or Korean, and the rule that turns runs of words into chunks."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

# What a chunk is: what the pipeline finds, or each word. `subtrees` are chunks, with subtrees for policies.
Units: TypeAlias = Literal["chunks", "words", "subtrees"]
MAX_CHUNK_WORDS = 5
# In English, "50%" is a number, and "#MeToo", "@nasa" and DialogSum's "#Person1#" are names in references, too.
SIGNS_OF_WORDS = "%#@"
# The first word, and the word after the last.
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Subtree:
    """Words of a parsed sentence that can only be kept or left out together.

    Attributes:
        words: their positions in the text, in order.
        head: the index, in the sentence, of the subtree that this one depends on; its own index if there is none.
        begins: whether a summary may begin with it without what it depends on.
    """

    words: tuple[int, ...]
    head: int
    begins: bool


@dataclass(frozen=True, slots=True)
class CutText:
    """A text's words, and the ranges of its sentences and chunks.

    Attributes:
        words: each word of `word_spans` without the punctuation around it, in order.
        sentences: ranges of words, in order, which cover every word once.
        chunks: for each sentence, ranges of words inside it, in order and not overlapping.
        subtrees: for each sentence, ordered by their first words; none if they were not requested.
    """

    words: tuple[str, ...]
    sentences: tuple[Range, ...]
    chunks: tuple[tuple[Range, ...], ...]
    subtrees: tuple[tuple[Subtree, ...], ...] = ()


# Segments any text, even one without words.
Cutter = Callable[[str], CutText]


def into_words(cut: CutText) -> CutText:
    """Return the same words and sentences, with each word as a chunk."""
    return replace(cut, chunks=tuple(tuple((i, i + 1) for i in range(start, end)) for start, end in cut.sentences))


@dataclass(frozen=True, slots=True)
class WordMark:
    """The role of a word in `runs`: it is in no chunk (`is_stop`), begins one (`opens`), or ends one (`closes`)."""

    is_stop: bool
    opens: bool
    closes: bool


def runs(marks: Sequence[WordMark]) -> Iterator[Range]:
    """Yield the runs of words of a sentence, which end at stop words, at marks, and after `MAX_CHUNK_WORDS`."""
    start = 0
    for i, mark in enumerate(marks):
        if mark.is_stop or mark.opens or i - start == MAX_CHUNK_WORDS:
            if i > start:
                yield start, i
            start = i + 1 if mark.is_stop else i
        if mark.closes and not mark.is_stop:
            yield start, i + 1
            start = i + 1
    if start < len(marks):
        yield start, len(marks)
