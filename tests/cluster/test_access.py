import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from nws.cluster.session import LONGEST_TMPDIR, private_folder
from nws.core.errors import ClusterError


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """Those of pytest are too long for Ray."""
    with tempfile.TemporaryDirectory(prefix="p", dir="/tmp") as folder:
        yield Path(folder)


def test_it_is_closed_to_others_and_gone_afterwards(monkeypatch: pytest.MonkeyPatch, short_folder: Path) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(short_folder))
    with private_folder() as folder:
        folder.chmod(0o777)  # as Ray does
        (folder / "logs").touch()
        assert folder.parent.parent == short_folder
        assert folder.parent.stat().st_mode & 0o777 == 0o700
        assert folder.parent.stat().st_uid == os.getuid()
    assert list(short_folder.iterdir()) == []


def test_after_an_error_it_stays_for_the_logs(monkeypatch: pytest.MonkeyPatch, short_folder: Path) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(short_folder))
    with pytest.raises(ClusterError), private_folder() as folder:
        raise ClusterError("Ray has died")
    assert folder.is_dir()
    with pytest.raises(KeyboardInterrupt), private_folder() as another:
        raise KeyboardInterrupt
    assert not another.parent.exists()


def test_sockets_fit_into_the_longest_place(monkeypatch: pytest.MonkeyPatch, short_folder: Path) -> None:
    where = short_folder / ("x" * (LONGEST_TMPDIR - len(str(short_folder)) - 1))
    monkeypatch.setenv("RAY_TMPDIR", str(where))
    with private_folder() as folder:
        # Ray's longest: a process id has at most 7 digits.
        sockets = folder / "session_2026-11-22_07-23-36_123456_4194304" / "sockets"
        sockets.mkdir(parents=True)
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(sockets / "plasma_store"))


def test_a_long_tmpdir_gives_way_to_tmp_and_a_place_that_cannot_be_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("RAY_TMPDIR", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path / ("long" * 20)))
    with private_folder() as folder:
        assert folder.parent.parent == Path("/tmp")
    monkeypatch.setenv("RAY_TMPDIR", "/dev/null/x")
    with pytest.raises(ClusterError, match="Name another place for it with RAY_TMPDIR"), private_folder():
        pass
