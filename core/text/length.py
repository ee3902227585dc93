"""What a word is, how long a summary is in words or in characters, and how long a text may be.

A run has one of these units. Its summaries have at most n words, or at most n characters, and never a part of a word.

Texts up to the limits take seconds on one CPU core, and longer ones are refused at once. The time for embedding grows
with the words (16 s for 10,000 of them with MiniLM on a busy core), for ranking with the square of the sentences, and
for ROUGE-L with the words of a summary times those of its reference (5 s and 100 MB for 3,000 times 3,000). Systems
that do not embed articles read them at any length. News articles have some hundreds of words, and the longest magazine
reports have ten thousand.
"""

import itertools
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, TypeAlias, TypeVar

from nws.core.article import Article
from nws.core.errors import RecipeError, SegmentationError

LengthUnit: TypeAlias = Literal["words", "characters"]
UNCUT = 0
"""The n of a summary without a given length."""
MAX_WORDS = 10_000
MAX_CHARACTERS = 100_000
MAX_SENTENCES = 3_000
MAX_WORD_CHARACTERS = 500
MAX_SUMMARY_WORDS = 3_000
_LENGTHS = re.compile(r" *([0-9]{1,9})(?:-([0-9]{1,9}))? *")
_MOST_LENGTHS = 1_000
# A token with a letter or digit, in the first group, or any other token as a whole, so that none is searched twice.
_TOKEN = re.compile(r"((?:(?!\s)[\W_])*+[^\W_]\S*)|\S+")
_AROUND = re.compile(r"^[\W_]+|[\W_]+$")
Token = TypeVar("Token", bound=Hashable)


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return the character spans of the words of `text`, in order.

    A word is a whitespace-separated token with at least one letter or digit: "state-of-the-art," is one word,
    "--" is none.
    """
    return [m.span() for m in _TOKEN.finditer(text) if m.lastindex]


def count_words(text: str) -> int:
    return sum(map(bool, _TOKEN.findall(text)))  # the first group of each token, which is empty unless it is a word


def first_words(text: str, n: int) -> str:
    """Return the first `n` words of `text` (all words if it has fewer), joined by single spaces."""
    words = (m.group() for m in _TOKEN.finditer(text) if m.lastindex)
    return " ".join(itertools.islice(words, n))


def bare_words(text: str) -> list[str]:
    """Return the words of `text`, case-folded and without the punctuation around them."""
    return [_AROUND.sub("", text[start:end]).casefold() for start, end in word_spans(text)]


def repeated_word_share(text: str) -> float:
    """Return the share of the words of `text` that occurred earlier in it, in [0, 1); 0 for fewer than two words.

    Words are compared case-folded and without the punctuation around them: "The" repeats "the", and "cat," repeats
    "cat". Stop words count like all others, so compare at equal n, and with a text that is known to be good: a policy
    that is rewarded for keywords tends to repeat them.
    """
    words = bare_words(text)
    return 1 - len(set(words)) / len(words) if words else 0.0


def idf_of(texts: Sequence[AbstractSet[Token]]) -> dict[Token, float]:
    """Return the idf of each token that occurs: ln((N + 1) / (c + 1)) for a token in c of N texts."""
    counts = Counter(token for tokens in texts for token in tokens)
    return {token: math.log((len(texts) + 1) / (count + 1)) for token, count in counts.items()}


def parse_lengths(text: str, setting: str = "n") -> list[int]:
    """Parse lengths as people type them: `7,9,11,13`, or `5-9,13`, where 5-9 is every whole number from 5 to 9.

    Raises:
        RecipeError: the text is not a list of whole numbers. The error refers to `setting`.
    """
    lengths: list[int] = []
    for part in text.split(","):
        match = _LENGTHS.fullmatch(part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last or last - first >= _MOST_LENGTHS:
            raise RecipeError(
                "lengths are whole numbers separated by commas, such as 7,9,11,13, or a range, such as 7-13, not "
                f"{text!r}.",
                settings=(setting,),
            )
        lengths += range(first, last + 1)
    return lengths


def lengths_up_to(longest: int) -> tuple[int, ...]:
    """Return at most 12 lengths from 1 to `longest`, most of them short, where one more word keeps most.

    These are all lengths if `longest` is at most 12. Otherwise they are the odd ones up to 13, and four more in equal
    ratios, rounded, the last of which is `longest`. Up to 21 these are 1, 3, …, 21.
    """
    if longest <= 12:
        return tuple(range(1, longest + 1))
    return tuple(sorted({*range(1, 14, 2), *(round(13 * (longest / 13) ** (step / 4)) for step in range(1, 5))}))


def count_characters(text: str) -> int:
    """Count the Unicode code points of `text` in composed form (NFC), including blanks; "é" is always one."""
    return len(unicodedata.normalize("NFC", text))


def length_of(text: str, unit: LengthUnit) -> int:
    """Return the number of words or characters of a text."""
    return count_words(text) if unit == "words" else count_characters(text)


def cost(word: str, unit: LengthUnit) -> int:
    """Return the part of a summary's `room` that a word takes: 1, or its characters and the blank after it."""
    return 1 if unit == "words" else count_characters(word) + 1


def room(n: int, unit: LengthUnit) -> int:
    """Return the room of a summary of `n` words or characters. No blank follows its last word."""
    return n if unit == "words" else n + 1


def fitting(words: Iterable[str], left: int, unit: LengthUnit) -> int:
    """Return how many of the first `words` fit into the room that is left."""
    used = itertools.accumulate(cost(word, unit) for word in words)
    return sum(1 for _ in itertools.takewhile(lambda total: total <= left, used))


def cut(text: str, n: int, unit: LengthUnit) -> str:
    """Return the first words of `text` that fit into `n` words or characters, joined by single spaces; may be ""."""
    if unit == "words":
        return first_words(text, n)
    words = [text[start:end] for start, end in itertools.islice(word_spans(text), n)]  # each takes at least 1 character
    return " ".join(words[: fitting(words, room(n, unit), unit)])


def kept_to(text: str, n: int, unit: LengthUnit) -> str:
    """Return `text` unchanged if it fits into `n` words or characters, and otherwise `cut` it."""
    return text if length_of(text, unit) <= n else cut(text, n, unit)


def require_length(article: Article, embedder: str | None = None, sentences: int = 0) -> None:
    """Refuse an article that would take minutes.

    Args:
        article: the article.
        embedder: the model that must embed it, if any.
        sentences: the number of its sentences.

    Raises:
        SegmentationError: a word is longer than allowed (a summary would have all its characters), or the article has
            more characters, words or sentences than can be embedded.
    """
    longest = max(map(len, article.text.split()), default=0)
    limits = [(longest, "characters without a blank", MAX_WORD_CHARACTERS, "a word has", "Put blanks between words.")]
    if embedder is not None:
        takes = f"{embedder}, which must embed it, takes"
        cure = "Split it, or use only systems that do not embed articles: lead, random, generators, predictions."
        limits += [(len(article.text), "characters", MAX_CHARACTERS, takes, cure)]
        limits += [(count_words(article.text), "words", MAX_WORDS, takes, cure)]
        limits += [(sentences, "sentences", MAX_SENTENCES, takes, cure)]
    for size, unit, most, takes, cure in limits:
        if size > most:
            about = f"Article {article.key!r} of {article.dataset}"
            raise SegmentationError(f"{about} has {size} {unit}; {takes} at most {most}. {cure}")


def require_summary_length(text: str) -> None:
    """Refuse a reference, or a summary from outside, that would take minutes to score.

    Raises:
        SegmentationError: it has more words or characters than can be scored.
    """
    if len(text) > MAX_CHARACTERS:
        raise SegmentationError(f"A summary has {len(text)} characters; at most {MAX_CHARACTERS} can be scored.")
    if (words := count_words(text)) > MAX_SUMMARY_WORDS:
        raise SegmentationError(f"A summary has {words} words; at most {MAX_SUMMARY_WORDS} can be scored.")
