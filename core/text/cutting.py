"""The result of cutting a text, English or Korean, and the rule by which runs of words become chunks."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

# What a chunk is: what the pipeline of a text's language finds, or each word. Or chunks, and subtrees for policies.
Units: TypeAlias = Literal["chunks", "words", "subtrees"]
MAX_CHUNK_WORDS = 5
# Of English: "50%" is a number; "#MeToo", "@nasa" and DialogSum's "#Person1#" are names, and references write them so.
SIGNS_OF_WORDS = "%#@"
# First word (included) and last (excluded).
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Subtree:
    """Words of a parsed sentence that are kept or left out together.

    Attributes:
        words: their positions in the text, rising.
        head: the index in its sentence of the subtree that it hangs on, or its own if it hangs on none.
        begins: whether a summary may begin with it and leave out what it hangs on.
    """

    words: tuple[int, ...]
    head: int
    begins: bool


@dataclass(frozen=True, slots=True)
class CutText:
    """A text's words, and where its sentences and chunks lie.

    Attributes:
        words: each word of `word_spans` without the punctuation around it, in order.
        sentences: ranges of words in order, which cover every word once.
        chunks: of each sentence, ranges of words inside it, in order and not overlapping.
        subtrees: of each sentence, ordered by their first words; none where they were not asked for.
    """

    words: tuple[str, ...]
    sentences: tuple[Range, ...]
    chunks: tuple[tuple[Range, ...], ...]
    subtrees: tuple[tuple[Subtree, ...], ...] = ()


# From any text, without words too.
Cutter = Callable[[str], CutText]


def into_words(cut: CutText) -> CutText:
    """The same words and sentences, with each word as a chunk."""
    return replace(cut, chunks=tuple(tuple((i, i + 1) for i in range(start, end)) for start, end in cut.sentences))


@dataclass(frozen=True, slots=True)
class WordMark:
    """The role of a word in `runs`: in no chunk (`is_stop`), the first of one (`opens`), the last (`closes`)."""

    is_stop: bool
    opens: bool
    closes: bool


def runs(marks: Sequence[WordMark]) -> Iterator[Range]:
    """Runs of the words of one sentence, ended by stop words, by marks and after `MAX_CHUNK_WORDS`."""
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
