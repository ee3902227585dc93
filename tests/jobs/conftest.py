import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nws.jobs import cli
from nws.jobs.store import Store, open_store


class Result:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> object:
        return json.loads(self.out.splitlines()[-1])


@pytest.fixture
def nws(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Runs `nws …` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("signal.signal", lambda *args: None)
    monkeypatch.setattr("sys.unraisablehook", sys.unraisablehook)  # which a command changes

    def run(*arguments: str) -> Result:
        monkeypatch.setattr("sys.argv", ["nws", *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        captured = capsys.readouterr()
        return Result(int(stopped.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store, the one that commands take."""
    with open_store(f"sqlite:///{tmp_path / 'nws.db'}") as opened:
        yield opened


@pytest.fixture
def nws_command(nws):
    """`nws`, for tests that import the module of that name."""
    return nws
