"""The warnings of a run's pools, as lines of the run's log."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_POOLS = "cluster"


class _Handler(logging.Handler):
    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        self._say(f"Warning: {record.getMessage()}")


@contextmanager
def forward_warnings(say: Callable[[str], None]) -> Iterator[None]:
    """Call `say` with every warning of `cluster/` while the block runs. `cluster/` itself knows no run."""
    handler = _Handler(say)
    logger = logging.getLogger(_POOLS)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
