"""Disks without room: a tmpfs that can be filled to its last byte, which only root may mount, and a limit for files."""

import contextlib
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

_BLOCK = 4096


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """Mount one at `folder`; skips the test where that is not allowed."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("a disk can only be mounted by root, where mounting is allowed")
    try:
        yield folder
    finally:
        # Lazily: a process that is still to end may hold a file.
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Write until there is no room for another block; the file that has to go to make room again."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(_BLOCK))
    return ballast


@contextlib.contextmanager
def full_disk(room: int) -> Iterator[None]:
    """No file that this process writes may grow beyond `room` bytes, as on a disk that has no more."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
