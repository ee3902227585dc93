"""Files that are whole, or as they were."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from small_disk import full_disk

from nws.core.whole_files import replacing

ROOT = Path(__file__).parents[2]


def test_a_new_file_an_older_one_and_one_behind_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "a.txt", tmp_path / "link.txt"
    link.symlink_to(target)
    for path, text in ((target, "first"), (target, "second"), (link, "third")):
        with replacing(path) as unfinished:
            unfinished.write_text(text)
            assert unfinished.parent == tmp_path
        assert target.read_text() == text
    assert link.is_symlink()
    target.chmod(0o600)
    with replacing(target) as unfinished:
        unfinished.write_text("fourth")
    assert target.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "link.txt"]


def test_on_a_full_disk_an_older_file_is_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("older")
    with pytest.raises(OSError, match="File too large"), full_disk(4096), replacing(target) as unfinished:
        unfinished.write_text("x" * 5000)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["older"]


def test_a_folder_takes_the_place_of_an_empty_one_or_none(tmp_path: Path) -> None:
    for target in (tmp_path / "new", tmp_path / "empty", tmp_path / "deep" / "new"):
        if target.name == "empty":
            target.mkdir()
        with replacing(target) as unfinished:
            unfinished.mkdir(parents=True)
            (unfinished / "a").write_text("a")
        assert [path.name for path in target.iterdir()] == ["a"]
    with pytest.raises(OSError, match="not empty"), replacing(tmp_path / "new") as unfinished:
        unfinished.mkdir()
    with pytest.raises(ValueError, match="null"), replacing(tmp_path / "other") as unfinished:
        os.makedirs(unfinished / "in" / "\0")  # all but the last
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "empty", "new"]


def test_a_device_or_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with replacing(pipe) as itself:
        itself.write_text("said")
    assert os.read(reader, 10) == b"said"
    os.close(reader)
    assert pipe.is_fifo()


IS_KILLED = """
import os, signal, sys
from pathlib import Path
from nws.core.whole_files import replacing
with replacing(Path(sys.argv[1])) as unfinished:
    if sys.argv[2] == "folder":
        unfinished.mkdir()
        unfinished = unfinished / "part"
    unfinished.write_text("half of it")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_killed_process_has_left_is_removed_by_the_next(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "rows[1].csv"
    gone, here = 2**22 + 1, os.getppid()  # no process has a pid beyond 2**22
    for name in (f"1].csv.{gone}", f"1.csv.{gone}.unfinished", f"[1].csv.{here}.unfinished", "[1].csv.a"):
        (tmp_path / f".rows{name}").write_text("of somebody else, or of a process that still writes")
    before = sorted(tmp_path.iterdir())
    killed = subprocess.run(
        [sys.executable, "-c", IS_KILLED, str(target), kind], env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == len(before) + 1
    assert not target.exists()
    with replacing(target) as unfinished:
        unfinished.write_text("whole")
    assert sorted(tmp_path.iterdir()) == sorted([*before, target])
