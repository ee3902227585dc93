"""What core logs while it works, for the run's log: a worker knows no run, and its own log stays on its machine."""

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager

_CORE = "core"


class _Handler(logging.Handler):
    def __init__(self, notes: list[str]) -> None:
        super().__init__(logging.INFO)
        self._notes = notes

    def emit(self, record: logging.LogRecord) -> None:
        self._notes.append(f"{socket.gethostname()}: {record.getMessage()}")


@contextmanager
def noted() -> Iterator[list[str]]:
    """A list of what `core/` logs while the block runs, from level INFO, each behind the machine's name."""
    notes: list[str] = []
    handler, logger = _Handler(notes), logging.getLogger(_CORE)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield notes
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)
