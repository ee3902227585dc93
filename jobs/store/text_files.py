"""What the database knows of texts beside it: which run has a folder, and which of the files there are its own.

A transaction with new summaries has a file of its own. It is complete and on the disk before the transaction begins,
which names it in the table `text_files`: no row is without its text. A file that is not named there is of a transaction
that has failed, or of a driver that was killed. It is deleted once nobody can name it any more: by the driver itself,
by the next one, or with the run.

Who reads the texts is in `jobs.store.texts`.
"""

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from core.errors import StoreError
from jobs.store.database import Database
from jobs.store.fence import lock_run
from jobs.store.tables import RunRow, SummaryRow, TextFileRow, TextFolderRow
from jobs.store.text_folder import TextFile, TextFolder


def insert_text_folder(connection: Connection, run_id: str, recipe: Mapping[str, Any]) -> None:
    """Note with a new run where its texts go, unless they go to the store.

    Raises:
        StoreError: the recipe does not say where, and there is no file to lie beside.
    """
    if recipe.get("texts") == "parquet":
        folder = recipe.get("texts_folder")
        place(connection, run_id, folder)
        connection.execute(insert(TextFolderRow).values(run_id=run_id, folder=folder))


def require_text_folder(store: Database, run_id: str, recipe: Mapping[str, Any]) -> None:
    """Refuse a run whose texts have no place, or one that cannot be written to, before any work is done for it.

    Args:
        store: where the run is, or will be.
        run_id: which.
        recipe: its own, for one that is not there yet.

    Raises:
        StoreError: says what to do.
    """
    if recipe.get("texts") != "parquet":
        return
    folder = folder_of_run(store, run_id)
    if folder is None:
        with store.reading() as connection:
            folder = place(connection, run_id, recipe.get("texts_folder"))
    folder.require_writable()


def folder_of_run(store: Database, run_id: str) -> TextFolder | None:
    """Where the texts of a run are; None where they are in the store."""

    def attempt() -> TextFolder | None:
        with store.reading() as connection:
            found = connection.execute(select(TextFolderRow.folder).where(TextFolderRow.run_id == run_id)).first()
            return None if found is None else place(connection, run_id, found.folder)

    return store.retried(attempt)


def place(connection: Connection, run_id: str, folder: str | None) -> TextFolder:
    """The folder of a run in the one that its recipe names, or in the one beside the SQLite file.

    Raises:
        StoreError: there is no such file, and none is named.
    """
    if folder is not None:
        return TextFolder(run_id, Path(folder, run_id), is_private=False)
    if connection.dialect.name != "sqlite":
        raise StoreError(
            "with a store in Postgres, a recipe with texts: parquet needs a texts_folder: name one that all drivers "
            "and all readers see under this path"
        )
    (path,) = (path for _, name, path in connection.exec_driver_sql("PRAGMA database_list") if name == "main")
    return TextFolder(run_id, Path(f"{os.path.realpath(path)}.texts", run_id), is_private=True)


def name_file(connection: Connection, run_id: str, file: TextFile) -> None:
    """Store that rows of this transaction have their texts in a file."""
    values = {"id": file.id, "run_id": run_id, "name": file.name, "rows": file.rows}
    connection.execute(insert(TextFileRow).values(values))


def is_named(connection: Connection, file: TextFile) -> bool:
    """Whether a transaction has named a file."""
    return connection.execute(select(TextFileRow.id).where(TextFileRow.id == file.id)).first() is not None


def remove_unless_named(store: Database, folder: TextFolder, file: TextFile) -> None:
    """Delete the file of a transaction that seems to have failed. In doubt it is left to the next driver.

    Perhaps only the answer to the transaction was lost. While it is at work it holds the run's row, and is waited for.
    """
    with contextlib.suppress(StoreError, OSError):
        with store.writing() as connection:
            lock_run(connection, folder.run_id)
            is_in_use = is_named(connection, file)
        if not is_in_use:
            folder.remove(file.name)


def sweep(store: Database, folder: TextFolder, epoch: int) -> None:
    """Delete what earlier drivers have left that no transaction has named. The driver of this epoch fences them off.

    Raises:
        StoreError: a file cannot be deleted.
    """
    found = folder.files(before=epoch)
    if not found:
        return

    def named() -> set[str]:
        with store.reading() as connection:
            in_run = select(TextFileRow.name).where(TextFileRow.run_id == folder.run_id)
            return set(connection.execute(in_run).scalars())

    for name in found - store.retried(named):
        try:
            folder.remove(name)
        except OSError as error:
            raise StoreError(
                f"{folder.path / name}, which an earlier driver has left, cannot be deleted: {error.strerror or error}"
            ) from error


def missing_files(store: Database) -> list[Path]:
    """The files that summaries have their texts in and that are not there. Each folder is listed once."""
    with store.reading() as connection:
        query = select(TextFileRow.run_id, TextFolderRow.folder, TextFileRow.name)
        query = query.join(TextFolderRow, TextFolderRow.run_id == TextFileRow.run_id)
        names: dict[TextFolder, set[str]] = {}
        for run_id, folder, name in connection.execute(query):
            names.setdefault(place(connection, run_id, folder), set()).add(name)
    return sorted(folder.path / name for folder, known in names.items() for name in known - folder.files())


def remove_unused(store: Database) -> str | None:
    """Delete the text files of removed runs, but for those that hold texts of copies in other runs.

    It begins with what the database says of them, and ends with deleting that: what one process leaves the next one
    finds. No copy can be made any more, so a file that no copy names now stays unused.

    Returns:
        Where a folder cannot be emptied now, and why. The next removal of any run tries again.
    """
    problem = None
    with store.reading() as connection:
        is_there = select(RunRow.id).where(RunRow.id == TextFolderRow.run_id).exists()
        gone = connection.execute(select(TextFolderRow.run_id, TextFolderRow.folder).where(~is_there)).all()
        folders = [place(connection, run_id, folder) for run_id, folder in gone]
    for folder in folders:
        with store.reading() as connection:
            in_run = select(TextFileRow.id, TextFileRow.name).where(TextFileRow.run_id == folder.run_id)
            named = {number: name for number, name in connection.execute(in_run)}
            kept = _named_by_copies(connection, folder.run_id)
        try:
            _empty(folder, {name for number, name in named.items() if number in kept}, is_known=bool(named))
        except OSError as error:
            problem = f"{folder.path}: {error.strerror or error}"
            continue
        with store.writing() as connection:
            _forget(connection, folder.run_id, [number for number in named if number not in kept], is_all=not kept)
    return problem


def _named_by_copies(connection: Connection, run_id: str) -> set[int | None]:
    """The files of a removed run that hold texts of other runs. Only the rows of runs that have copied are read."""
    copiers = connection.execute(select(RunRow.id).where(RunRow.reused > 0)).scalars().all()
    of_copiers = (SummaryRow.run_id.in_(copiers), SummaryRow.reused_from == run_id)
    return set(connection.execute(select(SummaryRow.text_file).distinct().where(*of_copiers)).scalars())


def _empty(folder: TextFolder, kept: set[str], is_known: bool) -> None:
    """Delete all files of a folder but these, and the folder if nothing is left.

    Raises:
        OSError: the folder cannot be read or written, or, if it is known to have files, cannot be seen from here.
    """
    if is_known and not folder.path.parent.is_dir():
        raise FileNotFoundError(f"there is no {folder.path.parent} here")
    for name in folder.files() - kept:
        folder.remove(name)
    if not kept and folder.path.is_dir() and not os.listdir(folder.path):
        folder.path.rmdir()


def _forget(connection: Connection, run_id: str, numbers: Sequence[int], is_all: bool) -> None:
    for number in numbers:
        connection.execute(delete(TextFileRow).where(TextFileRow.id == number))
    if is_all:
        connection.execute(delete(TextFolderRow).where(TextFolderRow.run_id == run_id))
