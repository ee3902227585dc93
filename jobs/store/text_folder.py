"""The folder of a run's texts, if these lie beside the database: how its Parquet files are written, found and deleted.

What the database knows of them is in `jobs.store.text_files`.
"""

import contextlib
import os
import re
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import StoreError
from core.types import DRAWS, Summary

ROWS_OF_GROUP = 1_000
"""Who reads a single article unpacks as many texts, or twice as many."""
_WRITTEN = re.compile(r"([0-9]+)-[0-9a-f]{16}\.parquet(\.part)?")


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file of texts: its number, its name in the folder of its run, and how many texts are in it.

    The number is drawn, of 63 bits: it is known before the transaction, and never used again.
    """

    id: int
    name: str
    rows: int


@dataclass(frozen=True, slots=True)
class TextFolder:
    """The folder of a run's text files.

    Attributes:
        run_id: whose.
        path: where; its last part is the run's id.
        is_private: whether it is for its owner alone, as the SQLite file beside which it lies.
    """

    run_id: str
    path: Path
    is_private: bool

    def make(self) -> None:
        """Make it, if it is not there.

        Raises:
            StoreError: it cannot be made.
        """
        try:
            self._make(self.path)
        except OSError as error:
            raise self._refusal(error) from error

    def require_writable(self) -> None:
        """Refuse a place in which the folder cannot be made, before any work is done for the run.

        Raises:
            StoreError: the folder around it cannot be made, or not be written to.
        """
        around = self.path.parent
        tried = around / f".{secrets.token_hex(8)}.tried"
        try:
            self._make(around)
            tried.touch()
            tried.unlink()
        except OSError as error:
            raise StoreError(
                f"the texts of a run were to go to {around}, which cannot be written to: {error.strerror or error}. "
                "Let it be written to, or name another folder as texts_folder in the recipe of a new run"
            ) from error

    def _make(self, path: Path) -> None:
        for folder in (*reversed(path.parents), path):
            if not folder.exists():
                folder.mkdir(0o700 if self.is_private else 0o777, exist_ok=True)
                _sync(folder.parent)

    def write(self, epoch: int, summaries: Collection[Summary], content_hashes: Mapping[str, str]) -> TextFile:
        """Write the texts and draws of summaries to a new file. It is complete, and on the disk, when this returns.

        Args:
            epoch: of the driver, which is in the file's name.
            summaries: no two of the same article, system and n.
            content_hashes: of their articles, by id. A copy in another run may be of an article of the same content
                with another id.

        Raises:
            StoreError: it cannot be written; then nothing of it is there.
        """
        number = secrets.randbits(63)
        name = f"{epoch}-{number:016x}.parquet"
        part = self.path / f"{name}.part"
        content = _as_parquet(summaries, content_hashes)
        try:
            with part.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            part.rename(self.path / name)
            _sync(self.path)
        except BaseException as error:
            with contextlib.suppress(OSError):
                self.remove(part.name)
                self.remove(name)
            if isinstance(error, OSError):
                raise self._refusal(error) from error
            raise
        return TextFile(number, name, len(summaries))

    def remove(self, name: str) -> None:
        """Delete a file, if it is there."""
        (self.path / name).unlink(missing_ok=True)

    def files(self, before: int | None = None) -> set[str]:
        """The names of the files that drivers have written, finished or not; of drivers with epochs `before` this."""
        if not self.path.is_dir():
            return set()
        found = ((name, _WRITTEN.fullmatch(name)) for name in os.listdir(self.path))
        return {name for name, written in found if written and (before is None or int(written[1]) < before)}

    def _refusal(self, error: OSError) -> StoreError:
        return StoreError(
            f"the texts of run {self.run_id!r} cannot be written to {self.path}: {error.strerror or error}. What was "
            f"stored before is kept. Make room there, or let it be written to, and then: nws resume {self.run_id}"
        )


def _as_parquet(summaries: Collection[Summary], content_hashes: Mapping[str, str]) -> Any:
    """The bytes of a file. Its rows are by article, so that its row groups tell which articles they have."""
    import pyarrow as pa  # which a run whose texts are in the store need not wait for
    import pyarrow.parquet

    rows = sorted(summaries, key=lambda summary: summary.article_id)
    table = pa.table(
        {
            "article_id": pa.array([row.article_id for row in rows], pa.string()),
            "content_hash": pa.array([content_hashes[row.article_id] for row in rows], pa.string()),
            "system": pa.array([row.system for row in rows], pa.string()),
            "n": pa.array([row.n for row in rows], pa.int32()),
            "text": pa.array([row.text for row in rows], pa.string()),
            "draws": pa.array([_draws(row) for row in rows], pa.list_(pa.string())),
        }
    )
    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(
        table,
        sink,
        row_group_size=ROWS_OF_GROUP,
        compression="zstd",
        use_dictionary=["article_id", "content_hash", "system"],
        write_statistics=["article_id"],
        write_page_checksum=True,
        store_schema=False,
    )
    return sink.getvalue()


def _draws(summary: Summary) -> tuple[str, ...] | None:
    draws = summary.extra.get(DRAWS)
    return draws if isinstance(draws, tuple) else None


def _sync(folder: Path) -> None:
    """Keep the names in a folder through a loss of power, too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
