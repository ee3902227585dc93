"""Rows of one article: rows in sequence with the same key and text, and with different references."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from nws.core.article import Article
from nws.core.errors import CorpusError
from nws.core.text.reader import PlacedRow, Row, naming
from nws.core.text.rows import key_of


def rows_by_key(rows: Iterable[PlacedRow], key_field: str | None, place: str) -> Iterator[list[tuple[int, PlacedRow]]]:
    """Group rows in sequence that have the same key, each with its number, from 0.

    Raises:
        CorpusError: a row has no key, although there is a field for keys.
    """

    def key(numbered: tuple[int, PlacedRow]) -> str:
        with naming(place, numbered[1][0]):
            return key_of(numbered[1][1], key_field or "")

    if key_field is None:  # reads no row before it is needed
        return ([row] for row in enumerate(rows))
    return (list(group) for _, group in itertools.groupby(enumerate(rows), key))


def merge_rows(
    rows: Sequence[tuple[int, PlacedRow]], to_article: Callable[[int, str, Row], Article], place: str
) -> tuple[Article, int]:
    """Return the article in rows of one key, with the references of all, and the number of rows without a new one.

    Raises:
        CorpusError: a row has no article, or another text than the first row.
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
    """Return the error for a key of two articles."""
    return CorpusError(
        f"an earlier row has the id {key!r}, too, with another text, or with another reference and rows in between. "
        "Give each article its own id, and put the rows of one article one after another.",
        settings=("key_field",),
    )
