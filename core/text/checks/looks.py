"""How checks decide: each class sees rows one by one, and `found` returns what is more than chance."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeAlias

from nws.core.text.checks.finding import SHOWN, CheckedRow, Context, Found, NewAccumulator, Part, shortened
from nws.core.text.language import LANGUAGE_NAMES, foreign_language
from nws.core.text.length import bare_words
from nws.core.text.near_copies import plain_words

FEW = 5
"""Fewer rows than this may be alike by chance."""
_OPENING, _LETTERS, _END_CHARACTERS = 3, 14, 200
"""Words that many texts share by chance are fewer, such as "It was". Three words have some 14 letters."""
_BETWEEN, _SPEAKER = re.compile(r"[\W\d_]+"), re.compile(r"^[#\w]+:\s*")
_LETTER = re.compile(r"[^\W_]")
_AROUND = 15
"""The number of characters shown on both sides of a match."""

Find: TypeAlias = Callable[[str], str | None]
"""Returns the place in a text to show as an example; None if the text is fine."""
RowFind: TypeAlias = Callable[[CheckedRow], str | None]
"""Returns an example from a row: "" if the row is fine, and None if there is nothing to check."""
Key: TypeAlias = Callable[[str], tuple[str, str] | None]
"""Returns what texts may have in common, and how to show it; None to skip a text."""


class Rows:
    """Rows in which `find` finds something."""

    def __init__(self, find: RowFind, least_share: float, least_count: int) -> None:
        self.find, self.least_share, self.least_count = find, least_share, least_count
        self.count = self.total = 0
        self.example = ""

    def add(self, row: CheckedRow) -> None:
        """Check a row."""
        found = self.find(row)
        self.total += found is not None
        if found:
            self.count += 1
            self.example = self.example or shortened(found)

    def found(self) -> Iterator[Found]:
        """Yield the number of rows, if it is large enough."""
        if self.count >= max(self.least_count, self.least_share * self.total):
            yield Found(self.count, self.total, self.example)


def rows(find: RowFind, least_share: float = 0, least_count: int = 1) -> NewAccumulator:
    """Return a check for rows in which `find` finds something."""
    return lambda part, context: Rows(find, least_share, least_count)


def in_texts(find: Find, least_share: float = 0.01, least_count: int = 2) -> NewAccumulator:
    """Return a check for rows with a text in which `find` finds something."""

    def start(part: Part, context: Context) -> Rows:
        def find_in(row: CheckedRow) -> str | None:
            places = [find(text) for text in row.texts(part)]
            return next((place or "(empty)" for place in places if place is not None), "") if places else None

        return Rows(find_in, least_share, least_count)

    return start


def around(find: Callable[[str], re.Match[str] | None]) -> Find:
    """Return a function that returns a match with some characters on both sides."""

    def place(text: str) -> str | None:
        found = find(text)
        return None if found is None else text[max(0, found.start() - _AROUND) : found.end() + _AROUND]

    return place


def without_words(text: str) -> str | None:
    """Return a text that has neither letters nor digits; None for any other."""
    return None if _LETTER.search(text) else text


class CommonTexts:
    """Something that the texts of many different articles have in common. Rows with the same article count once."""

    def __init__(self, key: Key, least_share: float, least_count: int, part: Part) -> None:
        self.key, self.least_share, self.least_count, self.part = key, least_share, least_count, part
        self.seen, self.articles = set[int](), set[int]()
        self.counts, self.examples = Counter[int](), dict[int, str]()

    def add(self, row: CheckedRow) -> None:
        """Count the key of each text, once per article."""
        article = hash(row.article or row.id)
        for text in row.texts(self.part):
            self.articles.add(article)
            if (found := self.key(text)) is None or (pair := hash((found[0], article))) in self.seen:
                continue
            self.seen.add(pair)
            key = hash(found[0])
            self.counts[key] += 1
            if self.counts[key] == 2:
                self.examples[key] = shortened(found[1])

    def found(self) -> Iterator[Found]:
        """Yield each key that enough articles have."""
        for key, example in self.examples.items():
            if self.counts[key] >= max(self.least_count, self.least_share * len(self.articles)):
                yield Found(self.counts[key], len(self.articles), example)


def common_texts(key: Key, least_share: float = 0.1, least_count: int = FEW) -> NewAccumulator:
    """Return a check for something that the texts of many articles have in common."""
    return lambda part, context: CommonTexts(key, least_share, least_count, part)


def whole(text: str) -> tuple[str, str] | None:
    """Return the text itself; None if it has no word."""
    return None if without_words(text) is not None else (text, text)


def opening_words(text: str) -> tuple[str, str] | None:
    """Return the first three words of a longer text, or fewer before a colon ("Summary:"); None for a short text."""
    head = text[:_END_CHARACTERS]
    words, label = bare_words(head), bare_words(head.partition(":")[0]) if ":" in head else []
    opening = " ".join(words[: len(label[:_OPENING]) or _OPENING])
    return (opening, opening) if len(words) > _OPENING else None


def first_letters(text: str) -> tuple[str, str] | None:
    """Return the first letters after a speaker's name, ignoring everything between them.

    In the articles of one dataset, "Share this with" is followed by a blank, a line break or nothing.
    """
    head = _SPEAKER.sub("", text[:_END_CHARACTERS])
    letters = _BETWEEN.sub("", head).casefold()[:_LETTERS]
    return (letters, head) if len(letters) == _LETTERS else None


def last_letters(text: str) -> tuple[str, str] | None:
    """Return the last letters, ignoring everything between them."""
    letters = _BETWEEN.sub("", text[-_END_CHARACTERS:]).casefold()[-_LETTERS:]
    return (letters, text[-SHOWN:]) if len(letters) == _LETTERS else None


def repeated(value: RowFind) -> NewAccumulator:
    """Return a check for rows that have the same value as an earlier row."""

    def start(part: Part, context: Context) -> Rows:
        ids = dict[int, str]()

        def find(row: CheckedRow) -> str | None:
            if not (text := value(row)):
                return None
            if (first := ids.get(hash(text))) is not None:
                return f"{first} and {row.id}"
            ids[hash(text)] = row.id
            return ""

        return Rows(find, 0, 1)

    return start


class OtherLanguages:
    """Texts in another language than the run's."""

    def __init__(self, least_share: float, part: Part, context: Context) -> None:
        self.least_share, self.part, self.context = least_share, part, context
        self.index, self.example = 0, ""
        self.codes = Counter[str]()
        """The number of texts that look like each language, by ISO 639 code."""

    def add(self, row: CheckedRow) -> None:
        """Check a row, if it is one of those that are checked."""
        self.index += 1
        if self.context.language is None or (self.index - 1) % self.context.every:
            return
        for text in row.texts(self.part):
            code = foreign_language(text, self.context.language)
            self.codes[code or self.context.language] += 1
            self.example = self.example or (shortened(text) if code else "")

    def found(self) -> Iterator[Found]:
        """Yield the number of texts in all other languages together."""
        others = [code for code, _ in self.codes.most_common() if code != self.context.language]
        count, total = sum(self.codes[code] for code in others), self.codes.total()
        if self.context.language and count > self.least_share * total:
            detail = f"{LANGUAGE_NAMES[self.context.language]} (ISO 639: {', '.join(others)})"
            yield Found(count, total, self.example, detail)


class ShiftedReferences:
    """References with more words in common with the next or the previous article than with their own."""

    def __init__(self, part: Part, context: Context) -> None:
        self.before: tuple[set[str], set[str]] | None = None  # the words of the previous article and of its references
        self.counts, self.total = {"next": 0, "previous": 0}, 0

    def add(self, row: CheckedRow) -> None:
        """Compare a row with the previous one."""
        if not (row.article and row.references):
            return
        article, references = set(plain_words(row.article)), set(plain_words(" ".join(row.references)))
        if self.before is not None:
            last_article, last_references = self.before
            self.total += 1
            self.counts["next"] += len(last_references & article) > len(last_references & last_article)
            self.counts["previous"] += len(references & last_article) > len(references & article)
        self.before = article, references

    def found(self) -> Iterator[Found]:
        """Yield the number of references, if it is a quarter. Hardly any reference in its own row is like this."""
        where = max(self.counts, key=self.counts.__getitem__)
        if self.counts[where] >= max(FEW, 0.25 * self.total):
            yield Found(self.counts[where], self.total, "", where)
