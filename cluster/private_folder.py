"""A folder for Ray's sockets and logs that only this user can enter."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from core.errors import ClusterError

# Ray's sockets are <its folder>/session_<26 characters>_<pid>/sockets/plasma_store, and the name of a UNIX socket
# holds 107 bytes (unix(7)). Its folder is <where>/nws-<8 characters>/r.
_LONGEST_WHERE = 107 - len("/nws-12345678/r") - len("/session_2026-01-01_00-00-00_000000_4194304/sockets/plasma_store")


@contextlib.contextmanager
def private_folder() -> Iterator[Path]:
    """Make a folder, and remove it at the end; it stays after an error, for Ray's logs.

    It is in RAY_TMPDIR, or else where temporary files are. Ray makes the folder it is given writable for everybody,
    without the sticky bit, so that anybody could put another socket in the place of its own. This one is therefore
    inside of one that is closed to others.

    Raises:
        ClusterError: it cannot be there, or RAY_TMPDIR is too long for the names of sockets.
    """
    try:
        where = _where()
        where.mkdir(parents=True, exist_ok=True)
        closed = Path(tempfile.mkdtemp(prefix="nws-", dir=where))  # mode 0700
        folder = closed / "r"
        folder.mkdir()
    except OSError as error:
        raise ClusterError(
            f"Ray's folder cannot be made: {error}. Name another place for it with RAY_TMPDIR."
        ) from error
    try:
        yield folder
    except Exception:
        raise
    except BaseException:  # an interruption
        _remove(closed)
        raise
    else:
        _remove(closed)


def _where() -> Path:
    asked = os.environ.get("RAY_TMPDIR", "")
    if len(os.fsencode(asked)) > _LONGEST_WHERE:
        raise ClusterError(
            f"RAY_TMPDIR is {asked}, too long for the names of Ray's sockets: name a folder of at most "
            f"{_LONGEST_WHERE} bytes."
        )
    if len(os.fsencode(os.environ.get("TMPDIR", ""))) > _LONGEST_WHERE:
        # The processes of the dashboard have sockets in TMPDIR, too.
        os.environ["TMPDIR"] = "/tmp"
    return Path(asked or os.environ.get("TMPDIR") or "/tmp").absolute()


def _remove(folder: Path) -> None:
    # Ray's last processes may still write to it.
    shutil.rmtree(folder, ignore_errors=True)
