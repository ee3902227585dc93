"""How checks decide: each class looks at rows one by one."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

from nws.core.text.checks.finding import SHOWN, CheckedRow, Context, Found, Look, Part, shortened
from nws.core.text.language import LANGUAGE_NAMES, foreign_language
from nws.core.text.length import bare_words
from nws.core.text.model_outputs import without_thoughts
from nws.core.text.near_copies import plain_words

FEW = 5
"""Fewer rows than that may be alike by chance."""
_OPENING = 3
"""Words: fewer, such as "It was", a twentieth of articles may share by chance."""
_LETTERS, _END_CHARACTERS = 14, 200
"""Three words have some 14 letters. "Share this with" is followed by a blank, a line or nothing in one dataset."""
_LETTER = re.compile(r"[^\W_]")
_BETWEEN, _SPEAKER = re.compile(r"[\W_]+"), re.compile(r"^[#\w]+:\s*")
Find = Callable[[str], str | None]
"""The place in a text that is shown; None where a text is fine."""


class InTexts:
    """Rows of which a text has something."""

    def __init__(self, find: Find, least_share: float, least_count: int, part: Part, context: Context) -> None:
        self.find, self.least, self.part = find, (least_share, least_count), part
        self.count = self.total = 0
        self.example = ""

    def add(self, row: CheckedRow) -> None:
        """Look at a row."""
        places = [self.find(text) for text in row.texts(self.part)]
        self.total += bool(places)
        if (place := next((place for place in places if place is not None), None)) is not None:
            self.count += 1
            self.example = self.example or shortened(place)

    def found(self) -> Iterator[Found]:
        """Where more rows have it than by chance."""
        share, count = self.least
        if self.count >= max(count, share * self.total):
            yield Found(self.count, self.total, self.example)


def in_texts(find: Find, least_share: float = 0.01, least_count: int = 2) -> Callable[[Part, Context], Look]:
    """Look for something that `find` finds in a text."""
    return partial(InTexts, find, least_share, least_count)


class OtherLanguages:
    """Texts in another language than that of the run."""

    def __init__(self, least_share: float, part: Part, context: Context) -> None:
        self.least_share, self.part, self.context = least_share, part, context
        self.index = self.total = 0
        self.codes = Counter[str]()
        self.example = ""

    def add(self, row: CheckedRow) -> None:
        """Look at a row, if it is one of those that are."""
        self.index += 1
        if self.context.language is None or (self.index - 1) % self.context.every:
            return
        for text in row.texts(self.part):
            self.total += 1
            if (code := foreign_language(text, self.context.language)) is not None:
                self.codes[code] += 1
                self.example = self.example or shortened(text)

    def found(self) -> Iterator[Found]:
        """All codes together."""
        if self.context.language and self.codes.total() > self.least_share * self.total:
            codes = ", ".join(code for code, _ in self.codes.most_common())
            detail = f"{LANGUAGE_NAMES[self.context.language]} (ISO 639: {codes})"
            yield Found(self.codes.total(), self.total, self.example, detail)


def other_languages(least_share: float) -> Callable[[Part, Context], Look]:
    """Look for texts in another language than that of the run."""
    return partial(OtherLanguages, least_share)


class Boilerplate:
    """Letters with which many different articles begin or end, whatever stands between them."""

    def __init__(self, part: Part, context: Context) -> None:
        self.part = part
        self.seen = set[int]()
        self.counts, self.examples = Counter[int](), dict[int, tuple[str, str]]()

    def add(self, row: CheckedRow) -> None:
        """Look at both ends of each text, behind the name of a speaker."""
        for text in row.texts(self.part):
            if hash(text) in self.seen:
                continue
            self.seen.add(hash(text))
            first, last = _SPEAKER.sub("", text[:_END_CHARACTERS]), text[-_END_CHARACTERS:]
            begins, ends = (_BETWEEN.sub("", side).casefold() for side in (first, last))
            for verb, letters, example in (
                ("begin", begins[:_LETTERS], first),
                ("end", ends[-_LETTERS:], last[-SHOWN:]),
            ):
                key = hash((verb, letters))
                self.counts[key] += len(letters) == _LETTERS
                if self.counts[key] == 2:
                    self.examples[key] = verb, shortened(example)

    def found(self) -> Iterator[Found]:
        """Each end that a twentieth of the texts have."""
        for key, (verb, example) in self.examples.items():
            if self.counts[key] >= max(FEW, 0.05 * len(self.seen)):
                yield Found(self.counts[key], len(self.seen), example, verb)


class CommonTexts:
    """One text that many different articles have as their reference or prediction, and `of`: which of its words."""

    def __init__(self, of: Find, least_share: float, least_count: int, part: Part, context: Context) -> None:
        self.of, self.least, self.part = of, (least_share, least_count), part
        self.rows, self.articles = set[tuple[int, str]](), set[str]()
        self.counts, self.examples = Counter[int](), dict[int, str]()

    def add(self, row: CheckedRow) -> None:
        """Count a text once for each article."""
        for text in row.texts(self.part):
            self.articles.add(row.id)
            words = self.of(text)
            if words and (key := (hash(words), row.id)) not in self.rows:
                self.rows.add(key)
                self.counts[key[0]] += 1
                if self.counts[key[0]] == 2:
                    self.examples[key[0]] = shortened(words)

    def found(self) -> Iterator[Found]:
        """The most common text."""
        share, least = self.least
        for key, count in self.counts.most_common(1):
            if count >= max(least, share * len(self.articles)):
                yield Found(count, len(self.articles), self.examples[key])


def common_texts(of: Find, least_share: float = 0.1, least_count: int = 3) -> Callable[[Part, Context], Look]:
    """Look for one text of many articles."""
    return partial(CommonTexts, of, least_share, least_count)


class Again:
    """Rows that have what a row before them has."""

    def __init__(self, of: Callable[[CheckedRow], str | None], part: Part, context: Context) -> None:
        self.of, self.part = of, part
        self.ids = dict[int, str]()
        self.count = self.total = 0
        self.example = ""

    def add(self, row: CheckedRow) -> None:
        """Look a row up among those before."""
        if (text := self.of(row)) is None:
            return
        self.total += 1
        if hash(text) in self.ids:
            self.count += 1
            self.example = self.example or f"{self.ids[hash(text)]} and {row.id}"
        self.ids.setdefault(hash(text), row.id)

    def found(self) -> Iterator[Found]:
        """Every one counts."""
        if self.count:
            yield Found(self.count, self.total, self.example)


class Inside:
    """Rows where one text is within another: at its beginning, or anywhere."""

    def __init__(self, is_inside: Callable[[CheckedRow], str | None], part: Part, context: Context) -> None:
        self.is_inside = is_inside
        self.count = self.total = 0
        self.example = ""

    def add(self, row: CheckedRow) -> None:
        """Look at a row with both."""
        self.total += bool(row.article)
        if row.article and (text := self.is_inside(row)):
            self.count += 1
            self.example = self.example or shortened(text)

    def found(self) -> Iterator[Found]:
        """A twentieth, and two of them: one may be meant."""
        if self.count >= max(2, 0.05 * self.total):
            yield Found(self.count, self.total, self.example)


def reference_from_beginning(row: CheckedRow) -> str | None:
    """The reference with which the article begins, or that is the article."""
    for reference in row.references:
        words = plain_words(reference)
        if words and plain_words(row.article[: 2 * len(reference) + 100])[: len(words)] == words:
            return reference
    return None


def repeated_article(row: CheckedRow) -> str | None:
    """The prediction that holds nine tenths of its article, word by word, and is no list of its sentences."""
    if row.prediction is None or len(row.prediction) < 0.8 * len(row.article):
        return None
    words = bare_words(row.article)
    beginning = " ".join(words[: -(-9 * len(words) // 10)])
    return row.prediction if len(words) > FEW and beginning in " ".join(bare_words(row.prediction)) else None


class ShiftedReferences:
    """References that have more words in common with the next article, or the one before, than with their own."""

    def __init__(self, part: Part, context: Context) -> None:
        self.before: tuple[set[str], set[str]] | None = None  # the words of the article, and of the references
        self.total = 0
        self.next, self.previous = 0, 0
        self.example = ""

    def add(self, row: CheckedRow) -> None:
        """Compare a row with the one before."""
        if not (row.article and row.references):
            return
        article, references = set(plain_words(row.article)), set(plain_words(" ".join(row.references)))
        if self.before is not None:
            last_article, last_references = self.before
            self.total += 1
            if len(last_references & article) > len(last_references & last_article):
                self.next += 1
                self.example = self.example or shortened(row.references[0])
            self.previous += len(references & last_article) > len(references & article)
        self.before = article, references

    def found(self) -> Iterator[Found]:
        """A quarter of them: of references of their own hardly any do."""
        count, where = max((self.next, "next"), (self.previous, "previous"))
        if count >= max(FEW, 0.25 * self.total):
            yield Found(count, self.total, "", where)


class Thoughts:
    """Predictions from which thoughts were removed, or which end within their thoughts."""

    def __init__(self, is_cut: bool, part: Part, context: Context) -> None:
        self.is_cut = is_cut
        self.count = self.total = 0
        self.first = ""

    def add(self, row: CheckedRow) -> None:
        """Look at what the model wrote."""
        self.total += row.prediction is not None
        if row.raw is not None and (rest := without_thoughts(row.raw)) != row.raw and (rest is None) == self.is_cut:
            self.count += 1
            self.first = self.first or row.id

    def found(self) -> Iterator[Found]:
        """Every one counts."""
        if self.count:
            yield Found(self.count, self.total, self.first)


class Incomplete:
    """Predictions for only some of the articles."""

    def __init__(self, part: Part, context: Context) -> None:
        self.ids, self.articles = set[str](), context.articles

    def add(self, row: CheckedRow) -> None:
        """Note the article."""
        if row.prediction is not None:
            self.ids.add(row.id)

    def found(self) -> Iterator[Found]:
        """Where some lack one."""
        if self.articles and 0 < len(self.ids) < self.articles:
            yield Found(len(self.ids), self.articles)


class SeveralReferences:
    """Rows with more than one reference."""

    def __init__(self, part: Part, context: Context) -> None:
        self.count = self.total = self.references = 0

    def add(self, row: CheckedRow) -> None:
        """Count them."""
        self.total += bool(row.references)
        self.count += len(row.references) > 1
        self.references += len(row.references)

    def found(self) -> Iterator[Found]:
        """Where the sentences of one reference may be meant."""
        if self.count:
            yield Found(self.count, self.total, "", f"{self.references / self.total:.1f}")


def opening_words(text: str) -> str | None:
    """The first three words of a longer text, or fewer before a colon ("Summary:"); None of a short text."""
    head = text[:200]
    words, label = bare_words(head), bare_words(head.partition(":")[0]) if ":" in head else []
    return " ".join(words[: len(label[:_OPENING]) or _OPENING]) if len(words) > _OPENING else None


def without_words(text: str) -> str | None:
    """A text that has no word."""
    return None if _LETTER.search(text) else text
