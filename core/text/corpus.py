"""A dataset as articles, wherever it lies: the bundled sample, files here or on other machines, or the Hub."""

import functools
import itertools
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import CorpusError, RecipeError
from core.models.hub_cache import HUB_FAILURES, is_reachable, is_repository_name, offline_if_unreachable, resolve_commit
from core.names import did_you_mean
from core.text.article_rows import ArticleRows, KnownArticles, changed, read_once, stream
from core.text.data_files import DataFiles, FoundFile, find_files, is_address, is_files
from core.text.files import SUFFIXES, LocatedRow, path_from_anywhere
from core.text.rows import Fields, recognise_fields
from core.types import Article
from core.whole_files import replacing

_SAMPLE = Path(__file__).parents[1] / "sample"
BUNDLED = {"sample": _SAMPLE / "english.jsonl", "sample-ko": _SAMPLE / "korean.jsonl"}
# The study's datasets, and that of sentence compression, under their short names. A revision that is not pinned here
# is looked up when a run is submitted, and recorded with it.
KNOWN_DATASETS = {
    "cnn_dailymail": "abisee/cnn_dailymail:3.0.0",
    "xsum": "EdinburghNLP/xsum",
    # The repository has a script, which `datasets` does not run. The Hub has made Parquet files of its rows there.
    "gigaword": "Harvard/gigaword@refs/convert/parquet",
}
PINNED_REVISIONS = {"abisee/cnn_dailymail": "96df5e686bee6baa90b8bee7c28b81fa3fa6223d"}
_HUB_NAME = re.compile(r"(?P<repository>[\w.-]+/[\w.-]+)(:(?P<config>[\w.-]+))?(@(?P<revision>[\w./-]+))?")


@dataclass(frozen=True, slots=True)
class DatasetSpec:
    """Which articles to read.

    Attributes:
        name: `sample`, `sample-ko`, `cnn_dailymail`, `xsum`, `gigaword`, a file, a folder, a pattern, an address (see
            `core.text.data_files.find_files`), or a Hub id (`organisation/name[:configuration][@revision]`).
        split: of a Hub dataset; files and the bundled samples have one split, `all`.
        streaming: read a Hub dataset row by row instead of downloading it first.
        skip: how many articles to leave out first.
        limit: how many to read at most after these.
        text_field, reference_field, key_field: names of the fields, where the usual ones do not fit.

    Raises:
        RecipeError: a number out of range.
    """

    name: str
    split: str = "test"
    streaming: bool = False
    skip: int = 0
    limit: int | None = None
    text_field: str | None = None
    reference_field: str | None = None
    key_field: str | None = None

    def __post_init__(self) -> None:
        if self.skip < 0:
            raise RecipeError(f"{self.name}: skip is {self.skip}, and must be 0 or more.")
        if self.limit is not None and self.limit < 1:
            raise RecipeError(f"{self.name}: limit is {self.limit}, and must be 1 or more.")


@dataclass(frozen=True, slots=True)
class ReadBefore:
    """What was found when a corpus was opened before, so that its rows need not all be read again.

    Attributes:
        revision: of the dataset then. It counts only where the dataset has this revision still.
        known: the articles, see `KnownArticles.to_bytes`.
    """

    revision: str
    known: bytes


@dataclass(frozen=True, slots=True)
class Corpus:
    """Articles that can be read any number of times, always the same ones in the same order, none twice.

    Reading raises `CorpusError` at the first article that is not what it was when the corpus was opened: it is never
    handed out. (Of a streamed dataset the articles are not known before; the Hub's commit stands for them.)

    Attributes:
        name: the dataset's name as stored with every article.
        pinned_name: the name under which exactly this dataset is opened again.
        revision: a commit of the Hub, or `sha256:…` of the files that the articles were read from.
        size: number of articles. Of a streamed dataset its limit, which it may not reach, or None.
        require_unchanged: raises `CorpusError` if a file is not the one that was opened.
        known: the articles as they were when the corpus was opened; None of a streamed dataset.
    """

    name: str
    pinned_name: str
    split: str
    revision: str
    size: int | None
    read: Callable[[], Iterator[Article]]
    require_unchanged: Callable[[], None]
    known: KnownArticles | None = None

    def __iter__(self) -> Iterator[Article]:
        return self.read()

    @property
    def read_before(self) -> ReadBefore | None:
        """What `open_corpus` needs to open it again without reading it; None of a streamed dataset."""
        return None if self.known is None else ReadBefore(self.revision, self.known.to_bytes())

    def read_part(self, begin: int, end: int) -> ReadBefore:
        """What `open_corpus` needs to open its articles from number `begin` (from 0) to before `end`, unread.

        The revision is that which the corpus of these articles alone has, by `skip` and `limit`. Not of a streamed one.
        """
        assert self.known is not None
        known = self.known.part(begin, end)
        files = known.rows.files
        return ReadBefore(self.revision if files is None else _revision(files), known.to_bytes())

    @property
    def is_of_hub(self) -> bool:
        """Whether its revision is a commit: a file has the SHA-256 of its bytes."""
        return not self.revision.startswith("sha256:")

    @property
    def fewest_references(self) -> int:
        """Of any article that has one, since others fail. A streamed dataset is not read before: it counts as 1."""
        return 1 if self.known is None else self.known.fewest_references


def open_corpus(spec: DatasetSpec, before: ReadBefore | None = None) -> Corpus:
    """Find the dataset and check what can be checked: every row, or the first one of a streamed dataset.

    Where the same dataset was read `before`, with the same `spec` and code, no row is read.

    Raises:
        CorpusError: no such dataset, file, split or field, a malformed row (named by file and line), or a file that
            was written to meanwhile.
        HubError: the Hub cannot be reached, or has no such dataset.
    """
    try:
        spec.name.encode()
    except UnicodeEncodeError as error:  # a byte of the command line that was none
        raise CorpusError(f"{spec.name!r} is no UTF-8: rename the file.") from error
    if spec.name in BUNDLED:
        return _open_files(str(BUNDLED[spec.name]), spec.name, spec.name, spec, before)
    if is_address(spec.name):
        return _open_files(spec.name, spec.name.rstrip("/").rpartition("/")[2], spec.name, spec, before)
    if has_splits(spec.name):
        return _open_hub(spec, before)
    path = Path(spec.name)
    return _open_files(spec.name, path.name, str(path_from_anywhere(path)), spec, before)


def has_splits(name: str) -> bool:
    """Whether a dataset is one of the Hub: files and the bundled samples are one split, `all`."""
    return not (name in BUNDLED or is_files(name))


def _open_files(place: str, name: str, pinned_name: str, spec: DatasetSpec, before: ReadBefore | None) -> Corpus:
    choose_fields = _choose_fields(spec)

    def choose(names: Sequence[str]) -> Sequence[str]:
        return choose_fields(names).names

    def rows_in(files: DataFiles) -> ArticleRows:
        return ArticleRows(place, name, "all", functools.partial(files.read, choose), choose_fields, files)

    files = find_files(place)
    known = None if before is None else _known_in(files, before, rows_in)
    if known is None:
        known = read_once(rows_in(files), spec.skip, spec.limit)
    if known is None:
        raise CorpusError(f"{place} holds no article{_after(spec)}.")
    files = known.rows.files or files

    def require_unchanged() -> None:
        if name_of_changed := files.changed(known.holds_article):
            raise changed(place, f"the SHA-256 of {name_of_changed} differs")

    # Hashed before and after: the revision is that of what was read, not of what came to lie there meanwhile.
    require_unchanged()
    return Corpus(name, pinned_name, "all", _revision(files), len(known.ids), known.read, require_unchanged, known)


def _revision(files: DataFiles) -> str:
    return f"sha256:{files.sha256()}"


def _known_in(
    files: DataFiles, before: ReadBefore, rows_in: Callable[[DataFiles], ArticleRows]
) -> KnownArticles | None:
    """The articles in files as they were read before; None where a file has changed that holds any of them."""

    def rows_of(found: Sequence[FoundFile], has_rest: bool) -> ArticleRows | None:
        same = files.with_found(found, are_all=not has_rest)
        return None if same is None else rows_in(same)

    known = KnownArticles.from_bytes(before.known, rows_of)
    if known is None or known.rows.files is None or known.rows.files.changed(known.holds_article):
        return None
    return known


def _open_hub(spec: DatasetSpec, before: ReadBefore | None) -> Corpus:
    match = _HUB_NAME.fullmatch(KNOWN_DATASETS.get(spec.name, spec.name))
    if match is None or not is_repository_name(match["repository"]):
        if "/" in spec.name:
            raise CorpusError(
                f"There is no file {spec.name!r}, and it is no name of a dataset on the Hub (organisation/name)."
            )
        raise CorpusError(
            f"There is no dataset {spec.name!r}: give one of {', '.join([*BUNDLED, *KNOWN_DATASETS])}, an existing "
            f"file ending in {SUFFIXES}, a folder of such files, or a Hub id such as organisation/name:configuration."
            f"{did_you_mean(spec.name, [*BUNDLED, *KNOWN_DATASETS])}"
        )
    repository, config = match["repository"], match["config"]
    pinned = PINNED_REVISIONS.get(repository, "main")
    revision = resolve_commit(repository, match["revision"] or pinned, "dataset")
    rows = load_split(repository, config, spec.split, revision, spec.streaming)
    pinned_name = f"{repository}{':' + config if config else ''}@{revision}"
    return corpus_of_rows(rows, repository, pinned_name, revision, spec, before)


def corpus_of_rows(
    rows: Iterable[Mapping[str, object]],
    name: str,
    pinned_name: str,
    revision: str,
    spec: DatasetSpec,
    before: ReadBefore | None = None,
) -> Corpus:
    """The corpus in `rows` (e.g. a `datasets` object), which must give the same rows each time it is iterated.

    All of them are read here, unless they are streamed, or were read `before`.
    """

    def read(wanted: bytes) -> Iterator[LocatedRow]:
        asked = itertools.chain(wanted, itertools.repeat(True))
        return ((f"row {n}", dict(row)) for n, row in itertools.compress(enumerate(rows, start=1), asked))

    source = ArticleRows(name, name, spec.split, read, _choose_fields(spec))
    empty = CorpusError(f"{name} (split {spec.split}) holds no article{_after(spec)}.")
    if spec.streaming:
        read_stream = functools.partial(stream, source, spec.skip, spec.limit)
        if next(read_stream(), None) is None:
            raise empty
        return Corpus(name, pinned_name, spec.split, revision, spec.limit, read_stream, _pinned_by_commit)
    known = None
    if before is not None and before.revision == revision:
        known = KnownArticles.from_bytes(before.known, lambda files, has_rest: source)
    known = known or read_once(source, spec.skip, spec.limit)
    if known is None:
        raise empty
    return Corpus(name, pinned_name, spec.split, revision, len(known.ids), known.read, _pinned_by_commit, known)


def _pinned_by_commit() -> None:
    """A commit of the Hub does not change."""


def _choose_fields(spec: DatasetSpec) -> Callable[[Iterable[str]], Fields]:
    return functools.partial(recognise_fields, text=spec.text_field, reference=spec.reference_field, key=spec.key_field)


def _after(spec: DatasetSpec) -> str:
    return f" after the first {spec.skip}, which are skipped" if spec.skip else ""


def load_split(repository: str, config: str | None, split: str, revision: str | None, streaming: bool) -> Any:
    """One split of a Hub dataset (or of a local folder in the Hub's layout) as a `datasets` object of rows.

    `datasets` prefers a folder of the repository's name, and without the Hub it takes the newest that it has in its
    cache, whatever commit that is of. Where a `revision` is given, neither is taken for it.

    Raises:
        CorpusError: the dataset, configuration or split cannot be had, or it would be another revision.
    """
    import datasets  # with pandas and pyarrow, which a file need not wait for

    try:
        with offline_if_unreachable(datasets.config):
            builder = datasets.load_dataset_builder(repository, config, revision=revision)
        if revision in (None, builder.hash):
            if streaming:
                return builder.as_streaming_dataset(split=split)
            builder.download_and_prepare()
            return builder.as_dataset(split=split)
    # RuntimeError: the repository has a script, which `datasets` no longer runs. NotImplementedError is one, too.
    except (*HUB_FAILURES, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        if not os.path.isdir(repository) and not is_reachable():
            raise CorpusError(
                f"The Hub cannot be reached, and the dataset {repository} (configuration {config}, split {split}, "
                f"revision {revision}) is not in the local cache. Download it on a machine with network, or name a "
                "file."
            ) from error
        raise CorpusError(
            f"The Hub dataset {repository} (configuration {config}, split {split}, revision {revision}) "
            f"cannot be loaded: {error}"
        ) from error
    if os.path.isdir(repository):
        raise CorpusError(
            f"The folder {os.path.abspath(repository)} would be read in place of the Hub's dataset {repository}: "
            "start NWS in another folder, or name a file of it."
        )
    raise CorpusError(
        f"The Hub cannot be reached, and the newest of {repository} in the cache is commit {builder.hash}, not "
        f"{revision}. Try again with a network, or name the commit that is there: {repository}@{builder.hash}"
    )


def write_articles(corpus: Corpus, path: Path) -> int:
    """Write a JSON line for each article, with its `id`, `article` and `references`; returns how many there were.

    The file takes the place of `path` at the end, whole, or not at all.

    Raises:
        CorpusError: a row holds no article.
        OSError: `path` cannot be written.
    """
    count = 0
    with replacing(path) as unfinished, unfinished.open("w", encoding="utf-8") as file:
        for article in corpus:
            row = {"id": article.key, "article": article.text, "references": list(article.references)}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count
