"""The token that Ray asks its clients for: where its file is, and how a private one is made."""

import os
import secrets
from pathlib import Path

from core.errors import ClusterError


def private_token() -> Path | None:
    """The file of Ray's token, made if it is missing; None where Ray needs no file.

    It is readable by its owner alone: Ray itself would write it readable by everybody.

    Raises:
        ClusterError: it cannot be kept there.
    """
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    if not _in_a_file():
        return None
    path = _path()
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

    As for `ray start`, a token is used where there is one, unless RAY_AUTH_MODE says otherwise.

    Raises:
        ClusterError: RAY_AUTH_MODE asks for a token and there is none.
    """
    path = _path()
    if "RAY_AUTH_TOKEN" in os.environ or path.is_file():
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    if "RAY_AUTH_MODE" not in os.environ or not _in_a_file():
        return None
    if not path.is_file():
        raise ClusterError(
            f"RAY_AUTH_MODE is token, but there is no token in {path}. Put the cluster's there (`ray get-auth-token` "
            "on its head shows it), or name its file with RAY_AUTH_TOKEN_PATH."
        )
    return path


def _path() -> Path:
    return Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token")


def _in_a_file() -> bool:
    return os.environ["RAY_AUTH_MODE"].lower() == "token" and "RAY_AUTH_TOKEN" not in os.environ
