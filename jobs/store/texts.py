"""Texts of summaries, wherever they lie: in their rows, or in Parquet files beside the database.

This alone reads them from files. A file is never changed, so what is known of its row groups holds for good.
"""

import functools
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from sqlalchemy import Connection, select

from core.errors import StoreError
from core.types import DRAWS
from jobs.store.new_summaries import IDS_AT_ONCE
from jobs.store.tables import ArticleRow, TextFileRow, TextFolderRow
from jobs.store.text_files import place

_FILES_KNOWN = 1_000
"""Of that many files the row groups are remembered, some 10 kB each."""
Place = tuple[str, str, int]
"""Article, or its content, system and n."""
Written = tuple[str, list[str] | None]
"""A text, and all draws where it is the first of several."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file of texts, and what to say of it."""

    id: int
    run_id: str
    path: Path

    def refuse(self, problem: object) -> NoReturn:
        """Raise the error for a file that does not hold what it should."""
        raise StoreError(
            f"texts of run {self.run_id!r} are in {self.path}, and {problem}. Put back that file, from a backup or by "
            "mounting its folder. If it is lost, its texts can be computed again: delete the rows of the table "
            f"summaries with text_file = {self.id}, and resume the runs that they were of with nws resume"
        )


def texts_of(connection: Connection, rows: Sequence[Any]) -> list[str]:
    """The text of each of these rows of `summaries`, which have text, text_file, article_id, system and n.

    Raises:
        StoreError: a file is missing or damaged, or lacks a text.
    """
    texts: list[str | None] = [row.text for row in rows]
    for index, (text, _) in _from_files(connection, rows, ("text",)):
        texts[index] = text
    return texts  # type: ignore[return-value]  # there is none left


def texts_and_extras(connection: Connection, rows: Sequence[Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The same, with the `extra` of each row, of which draws lie where the text does.

    Raises:
        StoreError: as `texts_of`.
    """
    found: list[tuple[str, Mapping[str, Any]]] = [(row.text, row.extra) for row in rows]
    for index, (text, draws) in _from_files(connection, rows, ("text", "draws")):
        extra = rows[index].extra
        found[index] = text, extra if draws is None else {**extra, DRAWS: draws}
    return found


def _from_files(connection: Connection, rows: Sequence[Any], columns: Sequence[str]) -> Iterator[tuple[int, Written]]:
    """Of the rows whose text is in a file, the place among them, and what is written there."""
    by_file: dict[int, list[int]] = {}
    for index, row in enumerate(rows):
        if row.text is None:
            by_file.setdefault(row.text_file, []).append(index)
    files = _files(connection, list(by_file))
    for number, indices in by_file.items():
        if number not in files:
            raise StoreError(f"the table text_files has no file {number}, in which texts of summaries are said to be")
        places = [(rows[index].article_id, rows[index].system, rows[index].n) for index in indices]
        yield from zip(indices, _written(connection, files[number], places, columns), strict=True)


def _files(connection: Connection, numbers: Sequence[int]) -> dict[int, _File]:
    files = {}
    for start in range(0, len(numbers), IDS_AT_ONCE):
        query = (
            select(TextFileRow.id, TextFileRow.run_id, TextFileRow.name, TextFolderRow.folder)
            .join(TextFolderRow, TextFolderRow.run_id == TextFileRow.run_id)
            .where(TextFileRow.id.in_(numbers[start : start + IDS_AT_ONCE]))
        )
        for number, run_id, name, folder in connection.execute(query):
            files[number] = _File(number, run_id, place(connection, run_id, folder).path / name)
    return files


def _written(connection: Connection, file: _File, places: Sequence[Place], columns: Sequence[str]) -> list[Written]:
    """What a file has at these places.

    A copy of a summary may be of another article, which has the same content: it is found by that.
    """
    found = _read(file, "article_id", {article_id for article_id, _, _ in places}, columns)
    lacking = {article_id for article_id, system, n in places if (article_id, system, n) not in found}
    if lacking:
        query = select(ArticleRow.id, ArticleRow.content_hash).where(ArticleRow.id.in_(lacking))
        content = {article_id: content_hash for article_id, content_hash in connection.execute(query)}
        by_content = _read(file, "content_hash", set(content.values()), columns)
        for article_id, system, n in places:
            key = (content.get(article_id, ""), system, n)
            if article_id in lacking and key in by_content:
                found.setdefault((article_id, system, n), by_content[key])
    for one in places:
        if one not in found:
            file.refuse(f"it has none of article {one[0]} by {one[1]!r} at n={one[2]}")
    return [found[one] for one in places]


def _read(file: _File, by: str, wanted: Collection[str], columns: Sequence[str]) -> dict[Place, Written]:
    """What is written of the articles whose column `by` has one of these values: the text, and None or all draws."""
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.parquet

    try:
        metadata, ranges = _footer(file.path)
        is_by_id = by == "article_id"  # by which the file is sorted
        groups = [
            number
            for number, (first, last) in enumerate(ranges)
            if not is_by_id or any(first <= one <= last for one in wanted)
        ]
        if not groups:
            return {}
        with pyarrow.parquet.ParquetFile(file.path, metadata=metadata, page_checksum_verification=True) as opened:
            table = opened.read_row_groups(groups, [by, "system", "n", *columns], use_threads=False)
        table = table.filter(pyarrow.compute.is_in(table[by], pa.array(wanted, pa.string())))
        places = zip(*(table[name].to_pylist() for name in (by, "system", "n")), strict=True)
        draws = table["draws"].to_pylist() if "draws" in columns else itertools.repeat(None, len(table))
        return dict(zip(places, zip(table["text"].to_pylist(), draws, strict=True), strict=True))
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        file.refuse(f"it cannot be read ({reason})")


@functools.lru_cache(maxsize=_FILES_KNOWN)
def _footer(path: Path) -> tuple[Any, list[tuple[str, str]]]:
    """What a file says of itself, and the first and last article of each row group."""
    import pyarrow.parquet

    metadata = pyarrow.parquet.read_metadata(path)
    groups = (metadata.row_group(number).column(0).statistics for number in range(metadata.num_row_groups))
    return metadata, [(group.min, group.max) for group in groups]
