"""Datasets as articles, from any place: the bundled samples, files on this or other machines, or the Hub."""

import itertools
import os
import re
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from nws.core.article import Article
from nws.core.article_id_sets import IdNumbers
from nws.core.errors import CorpusError, RecipeError, did_you_mean
from nws.core.models.hub_cache import HUB_FAILURES, is_repository_name, offline_if_unreachable, resolve_commit
from nws.core.text.data_files import REFERENCES, DataFiles, changed, find_files, is_address, is_files
from nws.core.text.length import count_words
from nws.core.text.reader import SUFFIXES, PlacedRow, Row, naming, path_from_anywhere
from nws.core.text.rows import WORD, recognise_fields, to_article
from nws.core.text.rows_of_one_article import key_twice, merge_rows, rows_by_key
from nws.core.text.split_folders import has_splits_inside
from nws.core.text.text_marks import Preparation

_SAMPLE = Path(__file__).parents[1] / "sample"
BUNDLED = {"sample": _SAMPLE / "english.jsonl", "sample-ko": _SAMPLE / "korean.jsonl"}
# Short names of the study's datasets and of the one for sentence compression. A revision that is not pinned here
# is looked up when a run is submitted, and recorded with it.
KNOWN_DATASETS = {
    "cnn_dailymail": "abisee/cnn_dailymail:3.0.0",
    "xsum": "EdinburghNLP/xsum",
    # The repository has a script, which `datasets` does not run. At this revision, the Hub has its rows as Parquet.
    "gigaword": "Harvard/gigaword@refs/convert/parquet",
}
PINNED_REVISIONS = {"abisee/cnn_dailymail": "96df5e686bee6baa90b8bee7c28b81fa3fa6223d"}
_HUB_NAME = re.compile(r"(?P<repository>[\w.-]+/[\w.-]+)(:(?P<config>[\w.-]+))?(@(?P<revision>[\w./-]+))?")


IF_SET: Any = Field(exclude_if=lambda value: not value)
"""Omitted from a stored recipe if it is not set, so that runs of earlier recipes are still found by their hash."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset as a recipe names it, with the articles to read.

    Attributes:
        name: `sample`, `sample-ko`, `cnn_dailymail`, `xsum`, `gigaword`, a file, a folder, a pattern, an address (see
            `nws.core.text.data_files.find_files`), or a Hub id (`organisation/name[:configuration][@revision]`).
        split: the split of a Hub dataset, of a clone of one, or of a saved `DatasetDict`. Any other dataset has the
            single split `all`.
        streaming: read a Hub dataset row by row instead of downloading it first.
        skip: the number of articles to skip at the beginning.
        limit: the maximum number of articles to read.
        text_field: the field with the article, if its name is unusual. `doc.article` is a field inside another.
        reference_field: the field with the reference or references, if its name is unusual.
        key_field: the field with the article's key; default: id, key or fname, or else the row's number.
        references_file: a text file with one reference per line, for the rows of files.
        clean_texts: what to remove from articles, references and predictions: html (tags and entities), marks (such
            as [SEP] between sentences, which become line breaks), ptb (tokens such as -LRB- and n't).
        join_references: whether the references of an article are the sentences of one, and are joined.

    Raises:
        RecipeError: a number is out of range, or `clean_texts` has an unknown name.
    """

    name: str
    split: str = "test"
    streaming: bool = False
    skip: int = 0
    limit: int | None = None
    text_field: str | None = None
    reference_field: str | None = None
    key_field: str | None = None
    references_file: Annotated[str | None, IF_SET] = None
    clean_texts: Annotated[str | tuple[str, ...], IF_SET] = ()
    join_references: Annotated[bool, IF_SET] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "clean_texts", self.preparation.clean_texts)
        if self.skip < 0:
            raise RecipeError(f"{self.name}: skip is {self.skip}, but must be 0 or more.")
        if self.limit is not None and self.limit < 1:
            raise RecipeError(f"{self.name}: limit is {self.limit}, but must be 1 or more.")

    @property
    def preparation(self) -> Preparation:
        """How the texts are changed. The articles' ids, and with them all rows, depend on the changed texts."""
        return Preparation(self.clean_texts, self.join_references)


@dataclass(frozen=True, slots=True, eq=False)
class OpenDataset:
    """Articles that can be read any number of times: always the same ones, in the same order, without repeats.

    Reading raises `CorpusError` at the first article that has changed since the dataset was opened, and never returns
    it. (The articles of a streamed dataset are not known before; its Hub commit identifies them.)

    Attributes:
        dataset: the dataset as a recipe names it.
        name: the name that is stored with every article.
        pinned_name: the name that opens exactly this dataset again.
        split: the split that is stored with every article.
        revision: a Hub commit, or `sha256:…` of the files from which the articles were read.
        rows: a function that reads all rows, given the names of the fields that are needed.
        files: the files with the rows; None if the rows do not come from files.
        fields: the fields of every row, see `recognise_fields`.
        ids: the ids of the articles when the dataset was opened, in order; None for a streamed dataset.
        positions: the row number of each article, from 0 (int64).
        repeats: how many of the rows that were read have the same article as an earlier row.
        fewest_references: the smallest number of references of an article that has any, since the others fail; 0 if
            none has. It is 1 for a streamed dataset, which is not read before.
        reference_words: the median length of the references, rounded down; 0 if there are none. None for a streamed
            dataset.
    """

    dataset: Dataset
    name: str
    pinned_name: str
    split: str
    revision: str
    rows: Callable[[Collection[str]], Iterator[PlacedRow]]
    files: DataFiles | None = None
    fields: tuple[str, str | None, str | None] = ("", None, None)
    ids: IdNumbers | None = None
    positions: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    repeats: int = 0
    fewest_references: int = 1
    reference_words: int | None = None

    @property
    def size(self) -> int | None:
        """The number of articles. For a streamed dataset, its limit, which it may not reach, or None."""
        return self.dataset.limit if self.ids is None else len(self.ids)

    @property
    def is_of_hub(self) -> bool:
        """Whether the revision is a Hub commit. Files have a SHA-256 instead."""
        return not self.revision.startswith("sha256:")

    def __iter__(self) -> Iterator[Article]:
        return self.read()

    def read(self, chosen: NDArray[np.bool_] | None = None) -> Iterator[Article]:
        """Yield all articles, or those that `chosen` marks. The others are not checked.

        Raises:
            CorpusError: an article has changed, is missing, or cannot be read any more.
        """
        if self.ids is None:
            yield from (article for _, article in self.distinct(self.rows(self.columns)) if article is not None)
            return
        numbers = range(len(self.ids)) if chosen is None else np.flatnonzero(chosen)
        groups = rows_by_key(self.rows(self.columns), self.fields[2], self.place)
        try:
            for number in numbers:
                position = self.positions[number]
                group = next((group for group in groups if group[0][0] == position), None)
                article = None if group is None else merge_rows(group, self._article, self.place)[0]
                if article is None or int(article.id, 16) != self.ids[number]:
                    raise CorpusError(f"article {number + 1} of {len(self.ids)} is different now")
                yield article
        except CorpusError as error:
            raise changed(self.place, str(error)) from error

    def distinct(self, rows: Iterable[PlacedRow]) -> Iterator[tuple[int, Article | None]]:
        """Yield the articles after `skip`, up to `limit`, each with the number of its row, from 0; None for a repeat.

        Memory: two hashes per article, of its key (or its texts, if it has none) and of its texts, some 170 bytes.

        Raises:
            CorpusError: a row has no article, or has the key of another article.
        """
        skip, limit = self.dataset.skip, self.dataset.limit
        seen = dict[int, int]()
        for group in rows_by_key(rows, self.fields[2], self.place):
            article, repeats = merge_rows(group, self._article, self.place)
            index, (place, _) = group[0]
            content = int(article.content_hash[:16], 16)
            name = content if self.fields[2] is None else hash(article.key)
            known = seen.get(name)
            if known not in (None, content):
                with naming(self.place, place):
                    raise key_twice(article.key)
            seen[name] = content
            yield from [(index, None)] * (repeats + (known is not None))
            if known is None and len(seen) > skip:
                yield index, article
            if limit is not None and len(seen) >= skip + limit:
                return

    def require_unchanged(self) -> None:
        """Raise `CorpusError` if a file has changed since it was opened. A Hub commit cannot change."""
        if self.files is not None:
            self.files.require_unchanged()

    def part_revision(self, end: int) -> str:
        """Return the revision of the dataset if its limit ends it before article number `end` (from 0)."""
        return self.revision if self.files is None else self.files.revision(int(self.positions[end - 1]) + 1)

    @property
    def place(self) -> str:
        """The name of the dataset for errors."""
        return self.name if self.files is None else self.files.place

    @property
    def columns(self) -> list[str]:
        """The names of the fields to read."""
        return [name for name in self.fields if name is not None]

    def _article(self, index: int, place: str, row: Row) -> Article:
        with naming(self.place, place):
            article = to_article(row, self.fields, self.name, self.split, index)
            return self.dataset.preparation.article(article)


def open_dataset(dataset: Dataset, needs_reference: bool = True) -> OpenDataset:
    """Find a dataset and check every row, or only the first row if it is streamed.

    Without `needs_reference`, the rows of files may lack the field with references.

    Raises:
        CorpusError: the dataset, a file, the split or a field does not exist, a row is malformed (the error names its
            file and line), or a file was written at the same time.
        HubError: the Hub cannot be reached, or has no such dataset.
    """
    name = dataset.name
    try:
        name.encode()
    except UnicodeEncodeError as error:  # a byte on the command line that is not UTF-8
        raise CorpusError(f"The name {name!r} is not valid UTF-8. Rename the file.") from error
    if name in BUNDLED:
        return _open_files(dataset, str(BUNDLED[name]), name, name, needs_reference)
    if is_address(name):
        return _open_files(dataset, name, name.rstrip("/").rpartition("/")[2], name, needs_reference)
    if not is_files(name):
        return _open_hub(dataset)
    path = Path(name)
    return _open_files(dataset, name, path.name, str(path_from_anywhere(path)), needs_reference)


def has_splits(name: str) -> bool:
    """Return whether a dataset has splits, as Hub datasets and some folders do. Others have the single split `all`."""
    return name not in BUNDLED and (not is_files(name) or (os.path.isdir(name) and has_splits_inside(name)))


def _open_files(dataset: Dataset, place: str, name: str, pinned_name: str, needs_reference: bool) -> OpenDataset:
    split = dataset.split if has_splits(dataset.name) else "all"
    files = find_files(place, split)
    if dataset.references_file is not None:
        files = files.with_references(dataset.references_file)
        dataset = replace(dataset, reference_field=REFERENCES)
    opened = _read_once(OpenDataset(dataset, name, pinned_name, split, "", files.rows, files), needs_reference)
    # The files are hashed before and after, so that the revision is that of the rows that were read.
    files.require_unchanged()
    if dataset.limit is not None and opened.size == dataset.limit:  # a row after the last article may have been read
        return replace(opened, revision=opened.part_revision(dataset.limit))
    return replace(opened, revision=files.revision())


def _open_hub(dataset: Dataset) -> OpenDataset:
    match = _HUB_NAME.fullmatch(KNOWN_DATASETS.get(dataset.name, dataset.name))
    if match is None or not is_repository_name(match["repository"]):
        raise CorpusError(
            f"There is no dataset {dataset.name!r}. Give one of {', '.join([*BUNDLED, *KNOWN_DATASETS])}, an existing "
            f"file ending in {SUFFIXES}, a folder of such files, or a Hub id such as organisation/name:configuration."
            f"{did_you_mean(dataset.name, [*BUNDLED, *KNOWN_DATASETS])}"
        )
    if dataset.references_file is not None:
        raise CorpusError(f"{dataset.name} has its own references. A references file is only for articles in files.")
    repository, config = match["repository"], match["config"]
    if os.path.isdir(repository):  # `datasets` would prefer it to the Hub's dataset
        raise CorpusError(
            f"The folder {os.path.abspath(repository)} would be read instead of the Hub dataset {repository}. Write "
            f"./{repository} for the folder, or start NWS in another folder."
        )
    pinned = PINNED_REVISIONS.get(repository, "main")
    revision = resolve_commit(repository, match["revision"] or pinned, "dataset")
    rows = load_split(repository, config, dataset.split, revision, dataset.streaming)
    pinned_name = f"{repository}{':' + config if config else ''}@{revision}"
    return open_rows(rows, repository, pinned_name, revision, dataset)


def open_rows(
    rows: Iterable[Mapping[str, object]], name: str, pinned_name: str, revision: str, dataset: Dataset
) -> OpenDataset:
    """Open the dataset in `rows` (e.g. a `datasets` object), which must give the same rows each time it is iterated.

    This reads all rows, unless they are streamed.
    """

    def located(columns: Collection[str]) -> Iterator[PlacedRow]:
        return ((f"row {n}", dict(row)) for n, row in enumerate(rows, start=1))

    return _read_once(OpenDataset(dataset, name, pinned_name, dataset.split, revision, located))


def _read_once(opened: OpenDataset, needs_reference: bool = True) -> OpenDataset:
    """Read all rows, or those up to the limit, and return the dataset with what they tell. Only begin a stream."""
    dataset = opened.dataset
    where = opened.place if opened.files else f"{opened.name} (split {opened.split})"
    after = f" after the first {dataset.skip}, which are skipped" if dataset.skip else ""
    nothing = CorpusError(f"{where} has no article{after}.")
    rows = opened.rows(())
    first = next(rows, None)
    if first is None:
        raise nothing
    place, row = first
    field_names = dataset.text_field, dataset.reference_field, dataset.key_field
    with naming(opened.place, place):
        opened = replace(opened, fields=recognise_fields(row, *field_names, needs_reference))
    # Only files can be read again for other columns. A stream is not begun twice.
    rows = opened.rows(opened.columns) if opened.files else itertools.chain([first], rows)
    if dataset.streaming and opened.files is None:
        if all(article is None for _, article in opened.distinct(rows)):
            raise nothing
        return opened
    ids, positions, references, words = array("Q"), array("q"), set[int](), array("q")
    repeats = filled = shorter = 0
    for index, article in opened.distinct(rows):
        if article is None:
            repeats += 1
        else:
            ids.append(int(article.id, 16))
            positions.append(index)
            references.add(len(article.references))
            words.extend(map(count_words, article.references))
            if article.references and WORD.search(article.text):
                filled += 1
                shorter += article.text.count(" ") < min(text.count(" ") for text in article.references)
    if not ids:
        raise nothing
    if 2 * shorter > filled and not (dataset.references_file or (dataset.text_field and dataset.reference_field)):
        raise CorpusError(
            f"{where}: {shorter} of {filled} articles are shorter than their references. Articles were taken from the "
            f"field {opened.fields[0]!r} and references from {opened.fields[1]!r}. Name both fields.",
            settings=("text_field", "reference_field"),
        )
    return replace(
        opened,
        ids=np.frombuffer(ids, np.uint64),
        positions=np.frombuffer(positions, np.int64),
        repeats=repeats,
        fewest_references=min(references - {0}, default=0),
        reference_words=int(np.median(words)) if words else 0,
    )


def load_split(repository: str, config: str | None, split: str, revision: str | None, streaming: bool) -> Any:
    """Return a split of a Hub dataset (or of a local folder in the Hub's layout) as a `datasets` object of rows.

    If the Hub cannot be reached, `datasets` takes the newest commit in its cache. If this is not the given `revision`,
    it is refused.

    Raises:
        CorpusError: the dataset, configuration or split cannot be loaded, or it would be another revision.
    """
    import datasets  # imported here because pandas and pyarrow load slowly, and a file does not need them

    dataset = f"{repository} (configuration {config}, split {split}, revision {revision})"
    try:
        with offline_if_unreachable(datasets.config):
            builder = datasets.load_dataset_builder(repository, config, revision=revision)
        if revision not in (None, builder.hash):
            raise CorpusError(
                f"The Hub cannot be reached, and the newest commit of {repository} in the cache is {builder.hash}, not "
                f"{revision}. Try again with a network, or name the commit in the cache: {repository}@{builder.hash}"
            )
        if streaming:
            return builder.as_streaming_dataset(split=split)
        builder.download_and_prepare()
        return builder.as_dataset(split=split)
    # RuntimeError: the repository has a script, which `datasets` no longer runs. It covers NotImplementedError, too.
    except (*HUB_FAILURES, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        raise CorpusError(
            f"The Hub dataset {dataset} cannot be loaded: {error}. If the Hub cannot be reached, download it on a "
            "machine with a network, or name a file."
        ) from error


def article_rows(dataset: OpenDataset) -> Iterator[dict[str, object]]:
    """Yield each article as a row for a file that can be read as a dataset."""
    for article in dataset:
        yield {"id": article.key, "article": article.text, "references": list(article.references)}
