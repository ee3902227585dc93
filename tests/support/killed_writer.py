"""A driver's writer that kills its process, with SIGKILL, at a step of a transaction with texts."""

import os
import signal
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from core.metrics.specs import BY_COLUMN
from core.types import Article, BundleResult, Summary
from jobs.store import RunWriter, run_writer, text_folder

STEPS = (
    "before the file",
    "in the middle of the file",
    "before the file is synced",
    "before it is renamed",
    "before the folder is synced",
    "after the file",
    "before summaries are stored",
    "before the file is named",
    "before the commit",
    "after the commit",
)
ARTICLES = [Article("news", "test", f"a{i}", f"Plan {i} was approved.", (f"Plan {i}.",)) for i in range(20)]
ROWS = len(ARTICLES) * 5


def record(writer: RunWriter) -> None:
    """Store some articles in one transaction."""
    scores = dict.fromkeys(BY_COLUMN, 0.5)
    made = tuple(
        Summary(article.id, "lead", n, f"summary {n} of {article.key} " * 20, n, 0.0, scores)
        for article in ARTICLES
        for n in range(5)
    )
    writer.sweep_texts()  # the folder is there
    writer.record([(ARTICLES, BundleResult(made, ()))])


def arm(step: str) -> None:
    """Be killed at this step; at none of another name."""
    makers: dict[str, tuple[object, str]] = {
        "before the file": (text_folder, "_as_parquet"),
        "before it is renamed": (Path, "rename"),
        "before the folder is synced": (text_folder, "_sync"),
        "after the file": (run_writer, "check_fence"),
        "before summaries are stored": (run_writer, "insert_summaries"),
        "before the file is named": (run_writer, "name_file"),
    }
    if step in makers:
        owner, name = makers[step]
        _kill_in(owner, name)
    elif step == "before the file is synced":
        sync = os.fsync

        def kill_file_only(descriptor: int) -> None:
            if os.readlink(f"/proc/self/fd/{descriptor}").endswith(".part"):
                _kill()
            sync(descriptor)

        os.fsync = kill_file_only
    elif step == "in the middle of the file":
        opened = Path.open

        def open_part(path: Path, *args: Any, **more: Any) -> Any:
            file = opened(path, *args, **more)
            return _Killer(file) if path.suffix == ".part" else file

        Path.open = open_part  # type: ignore[method-assign]
    elif step == "before the commit":
        sa.event.listen(sa.Engine, "commit", lambda connection: _kill_if_it_has_summaries(connection))
    elif step == "after the commit":
        recorded = RunWriter._record

        def killed(*args: Any, **more: Any) -> Any:
            recorded(*args, **more)
            _kill()

        RunWriter._record = killed  # type: ignore[method-assign]


class _Killer:
    """A file that gets half of what is written to it."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def __enter__(self) -> "_Killer":
        self.file.__enter__()
        return self

    def __exit__(self, *error: object) -> object:
        return self.file.__exit__(*error)

    def write(self, content: Any) -> None:
        self.file.write(bytes(content)[: len(content) // 2])
        self.file.flush()
        _kill()


def _kill_if_it_has_summaries(connection: sa.Connection) -> None:
    if connection.exec_driver_sql("select count(*) from summaries").scalar_one():
        _kill()


def _kill_in(owner: object, name: str) -> None:
    setattr(owner, name, lambda *args, **more: _kill())


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
