"""Rows of one article: those that follow each other with one key and one text, each with other references."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from nws.core.article import Article
from nws.core.errors import CorpusError
from nws.core.text.reader import PlacedRow, Row, naming
from nws.core.text.rows import key_of


def rows_by_key(rows: Iterable[PlacedRow], key_field: str | None, place: str) -> Iterator[list[tuple[int, PlacedRow]]]:
    """The rows with their numbers, from 0: those together that follow each other and have one key.

    Raises:
        CorpusError: a row has no key, though there is a field for it.
    """

    def key(numbered: tuple[int, PlacedRow]) -> str:
        with naming(place, numbered[1][0]):
            return key_of(numbered[1][1], key_field or "")

    if key_field is None:  # and read no further than is asked for
        return ([row] for row in enumerate(rows))
    return (list(group) for _, group in itertools.groupby(enumerate(rows), key))


def merge_rows(
    rows: Sequence[tuple[int, PlacedRow]], to_article: Callable[[int, str, Row], Article], place: str
) -> tuple[Article, int]:
    """The article in rows of one key, with the references of all, and how many rows add none.

    Raises:
        CorpusError: a row holds no article, or another text than the first one.
    """
    article, *others = (to_article(number, *row) for number, row in rows)
    repeats = 0
    for other, (_, (where, _)) in zip(others, rows[1:], strict=True):
        if other.text != article.text:
            with naming(place, where):
                raise key_twice(article.key)
        more = [reference for reference in other.references if reference not in article.references]
        article = replace(article, references=(*article.references, *more)) if more else article
        repeats += not more
    return article, repeats


def key_twice(key: str) -> CorpusError:
    """The error for a key of two articles."""
    return CorpusError(
        f"the id {key!r} is that of an earlier row with another text, or with another reference and rows in between. "
        "Give each article an id of its own, and put the rows of one article one after another.",
        settings=("key_field",),
    )
