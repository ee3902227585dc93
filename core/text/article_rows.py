"""The distinct articles in the rows of a dataset: read for the first time, read again, or read from a stream.

What makes an article of a row, and its id, is in `core.text.rows` and `core.types.Article`.
"""

import io
import itertools
import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.article_id_set import IdNumbers
from core.errors import CorpusError
from core.text.data_files import DataFiles, FoundFile
from core.text.files import LocatedRow
from core.text.rows import Fields, to_article
from core.types import Article


@dataclass(frozen=True, slots=True)
class ArticleRows:
    """The rows of one dataset, which can be read any number of times.

    Attributes:
        place: where they are, for errors.
        name, split: of the dataset, as in `Article`.
        read: the rows, see `core.text.files.read_rows`, whose `wanted` it takes as bytes.
        recognise: from the names in a row to the fields to read.
        files: the files that hold the rows; None where these are not of files.
    """

    place: str
    name: str
    split: str
    read: Callable[[bytes], Iterator[LocatedRow]]
    recognise: Callable[[Iterable[str]], Fields]
    files: DataFiles | None = None

    def fields(self) -> Fields | None:
        """Those to read, as the first row says; None where there is no row.

        Raises:
            CorpusError: the row has not got them.
        """
        for place, row in self.read(b""):
            return self._fields(place, row)
        return None

    def articles(self, fields: Fields | None = None, wanted: bytes = b"") -> Iterator[Article]:
        """Those in the rows that are wanted; without `fields`, the first row says which these are.

        Raises:
            CorpusError: names the row that holds none.
        """
        for index, (place, row) in zip(_positions(wanted), self.read(wanted), strict=False):
            fields = fields or self._fields(place, row)
            try:
                article = to_article(row, fields, self.name, self.split, index)
            except CorpusError as error:
                raise self._named(place, error) from error
            yield article

    def _fields(self, place: str, row: Mapping[str, object]) -> Fields:
        try:
            return self.recognise(row)
        except CorpusError as error:
            raise self._named(place, error) from error

    def _named(self, place: str, error: CorpusError) -> CorpusError:
        return CorpusError(f"{self.place}, {place}: {error}", settings=error.settings)


def _positions(wanted: bytes) -> Iterator[int]:
    """Of what is wanted, and of all behind."""
    return itertools.compress(itertools.count(), itertools.chain(wanted, itertools.repeat(True)))


@dataclass(frozen=True, slots=True, eq=False)
class KnownArticles:
    """Articles that have been read once. When they are read again, they are checked to be unchanged.

    Attributes:
        rows: what they are read from.
        fields: of every row.
        holds_article: bool, for each row up to the last that was read: whether it holds one of these articles, and no
            repeat.
        ids: of the articles, in order.
        has_rest: whether more rows may follow, which hold none of these articles.
        repeats: how many of the rows that were read hold the same article as a row before them.
        fewest_references: of any of the articles that have one; 0 where none has.
    """

    rows: ArticleRows
    fields: Fields
    holds_article: NDArray[np.bool_]
    ids: IdNumbers
    has_rest: bool
    repeats: int
    fewest_references: int

    def to_bytes(self) -> bytes:
        """What `from_bytes` makes them of: 8 bytes for each article, a bit for each row, and some for each file.

        NumPy's format for several arrays (`.npz`), not compressed.
        """
        others = {"fields": asdict(self.fields), "has_rest": self.has_rest, "repeats": self.repeats}
        others |= {"rows": len(self.holds_article), "fewest_references": self.fewest_references}
        others |= {"files": self.rows.files.found() if self.rows.files else []}
        about = np.frombuffer(json.dumps(others).encode(), np.uint8)
        file = io.BytesIO()
        np.savez(file, ids=self.ids, holds_article=np.packbits(self.holds_article), about=about)
        return file.getvalue()

    @classmethod
    def from_bytes(
        cls, data: bytes, rows_of: Callable[[Sequence[FoundFile], bool], ArticleRows | None]
    ) -> "KnownArticles | None":
        """The articles in rows that were read once to make `data`, and have not changed since.

        Reading them checks each one, as ever.

        Args:
            data: see `to_bytes`.
            rows_of: the rows, from what was noted of their files, and whether more rows may follow; None where the
                files are others, and so there are no known articles.
        """
        with np.load(io.BytesIO(data)) as arrays:
            about = json.loads(arrays["about"].tobytes())
            rows = rows_of(about.pop("files"), about["has_rest"])
            if rows is None:
                return None
            holds_article = np.unpackbits(arrays["holds_article"], count=about.pop("rows")).astype(np.bool_)
            return cls(rows, Fields(**about.pop("fields")), holds_article, arrays["ids"], **about)

    def part(self, begin: int, end: int) -> "KnownArticles":
        """The articles from number `begin` (from 0) to before `end`, as `read_once` finds them with skip and limit.

        Repeats and references stay those of all of them.
        """
        places = np.flatnonzero(self.holds_article)[begin:end]
        holds_article = np.zeros(places[-1] + 1, np.bool_)
        holds_article[places] = True
        rows = self.rows
        if rows.files is not None:
            rows = replace(rows, files=rows.files.up_to(len(holds_article)))
        return replace(self, rows=rows, holds_article=holds_article, ids=self.ids[begin:end], has_rest=True)

    def read(self, wanted: NDArray[np.bool_] | None = None) -> Iterator[Article]:
        """The articles: all, or those that `wanted` marks. The others are skipped and not checked.

        Raises:
            CorpusError: one is another, is gone, is new, or cannot be read any more.
        """
        rows = self.holds_article.copy()
        if wanted is not None:
            rows[self.holds_article] = wanted
        ids = self.ids if wanted is None else self.ids[wanted]
        numbers = itertools.count() if wanted is None else _positions(wanted.tobytes())
        articles = self.rows.articles(self.fields, rows.tobytes())
        if self.has_rest:
            articles = itertools.islice(articles, len(ids))
        try:
            for (article, known), number in zip(itertools.zip_longest(articles, map(int, ids)), numbers, strict=False):
                if article is None or known is None or int(article.id, 16) != known:
                    raise CorpusError(
                        f"there were {len(self.ids)} articles, and article {number + 1} is not what it was"
                    )
                yield article
        except CorpusError as error:
            raise changed(self.rows.place, str(error)) from error


def changed(place: str, change: str) -> CorpusError:
    """The error for a dataset that has changed."""
    return CorpusError(
        f"{place} was changed while it was in use ({change}). Restore it and resume the run, or submit a new one."
    )


def read_once(rows: ArticleRows, skip: int, limit: int | None) -> KnownArticles | None:
    """Read all rows, or those up to `limit` articles behind the first `skip`; None where there is no such article.

    Meanwhile it holds a set of what it has read, some 80 bytes an article; what it returns has 9.

    Raises:
        CorpusError: a row holds no article.
    """
    fields = rows.fields()
    if fields is None:
        return None
    is_kept, ids, seen, references = bytearray(), array("Q"), set[int](), set[int]()
    for article in rows.articles(fields):
        number = int(article.id, 16)
        is_new = number not in seen  # an exact repeat could not be told apart in the store
        seen.add(number)
        is_kept.append(is_new and len(seen) > skip)
        if is_kept[-1]:
            ids.append(number)
            references.add(len(article.references))
            if len(ids) == limit:
                break
    if not ids:
        return None
    as_numbers = np.frombuffer(ids, np.uint64)
    holds_article = np.frombuffer(is_kept, np.bool_)
    return KnownArticles(
        rows,
        fields,
        holds_article,
        as_numbers,
        has_rest=limit is not None,
        repeats=len(is_kept) - len(seen),
        fewest_references=min(references - {0}, default=0),
    )


def stream(rows: ArticleRows, skip: int, limit: int | None) -> Iterator[Article]:
    """Articles that nobody has read before. It holds a set of those it has read, some 80 bytes each.

    Raises:
        CorpusError: a row holds no article.
    """
    seen = set[int]()
    for article in rows.articles():
        number = int(article.id, 16)
        if number in seen:
            continue
        seen.add(number)
        if len(seen) > skip:
            yield article
        if limit is not None and len(seen) >= skip + limit:
            return
