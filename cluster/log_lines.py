"""What a part of NWS logs, for the log of a run: who logs knows no run, and a worker's own log stays on its machine."""

import contextlib
import logging
import socket
from collections.abc import Callable, Iterator


class _Handler(logging.Handler):
    def __init__(self, level: int, tell: Callable[[str], None]) -> None:
        super().__init__(level)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        self._tell(record.getMessage())


@contextlib.contextmanager
def log_to(tell: Callable[[str], None], package: str, level: int) -> Iterator[None]:
    """Call `tell` with every message that a package logs from this level on, while the block runs."""
    handler, logger = _Handler(level, tell), logging.getLogger(package)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(min(level, logger.getEffectiveLevel()))
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)


@contextlib.contextmanager
def core_notes() -> Iterator[list[str]]:
    """A list of what `core/` logs while the block runs, from level INFO, each behind the machine's name."""
    notes: list[str] = []
    with log_to(lambda text: notes.append(f"{socket.gethostname()}: {text}"), "core", logging.INFO):
        yield notes


def pool_warnings(say: Callable[[str], None]) -> contextlib.AbstractContextManager[None]:
    """Call `say` with every warning of `cluster/` while the block runs."""
    return log_to(lambda text: say(f"Warning: {text}"), "cluster", logging.WARNING)
