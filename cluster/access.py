"""Who reaches a Ray: the token that it asks its clients for, and a folder for its sockets and logs."""

import contextlib
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from core.errors import ClusterError

# Ray's sockets are <its folder>/session_<26 characters>_<pid>/sockets/plasma_store, and the name of a UNIX socket
# holds 107 bytes (unix(7)). Its folder is <where>/nws-<8 characters>/r.
LONGEST_TMPDIR = 107 - len("/nws-12345678/r/session_2026-01-01_00-00-00_000000_4194304/sockets/plasma_store")


def private_token() -> Path | None:
    """The file of Ray's token, made if it is missing; None where Ray needs no file.

    It is readable by its owner alone: Ray itself would write it readable by everybody.

    Raises:
        ClusterError: it cannot be kept there.
    """
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    if not _in_a_file():
        return None
    path = _token_path()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.touch(mode=0o600, exist_ok=False)
        draft.write_text(secrets.token_hex(32))
        try:
            # Unlike a rename, this leaves the token of a session that was faster by a moment.
            path.hardlink_to(draft)
        except FileExistsError:
            path.chmod(0o600)
        finally:
            draft.unlink()
    except OSError as error:
        raise ClusterError(
            f"The token of the Ray dashboard cannot be kept in {path}: {error}. "
            "Name another file with RAY_AUTH_TOKEN_PATH."
        ) from error
    return path


def known_token() -> Path | None:
    """The file of the token to show a cluster that somebody else started; None where Ray needs no file.

    As for `ray start`, a token is used where there is one, unless RAY_AUTH_MODE says otherwise. Ray refuses to go on
    without one where it asks for one.
    """
    path = _token_path()
    if "RAY_AUTH_TOKEN" in os.environ or path.is_file():
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    return path if "RAY_AUTH_MODE" in os.environ and _in_a_file() else None


def _token_path() -> Path:
    return Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token")


def _in_a_file() -> bool:
    return os.environ["RAY_AUTH_MODE"].lower() == "token" and "RAY_AUTH_TOKEN" not in os.environ


@contextlib.contextmanager
def private_folder() -> Iterator[Path]:
    """Make a folder, and remove it at the end; it stays after an error, for Ray's logs.

    It is in RAY_TMPDIR, or else where temporary files are. Ray makes the folder it is given writable for everybody,
    without the sticky bit, so that anybody could put another socket in the place of its own. This one is therefore
    inside of one that is closed to others. A RAY_TMPDIR that is too long for the names of sockets is refused by Ray.

    Raises:
        ClusterError: it cannot be there.
    """
    if len(os.fsencode(os.environ.get("TMPDIR", ""))) > LONGEST_TMPDIR:
        # The processes of the dashboard have sockets in TMPDIR, too.
        os.environ["TMPDIR"] = "/tmp"
    where = Path(os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or "/tmp").absolute()
    try:
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
    finally:
        if not isinstance(sys.exception(), Exception):  # an interruption removes it, too
            shutil.rmtree(closed, ignore_errors=True)  # Ray's last processes may still write to it
