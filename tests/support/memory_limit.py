"""A control group whose processes may have so much memory together, as in a container: only root may make one."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

_GROUPS = Path("/sys/fs/cgroup/memory")  # of version 1
_PATIENCE_SECONDS = 30.0


@contextlib.contextmanager
def memory_limit(size: int) -> Iterator[Path]:
    """The folder of a group of `size` bytes; skips the test where there can be none."""
    group = _GROUPS / f"nws-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(size))
    except OSError as error:
        pytest.skip(f"no control group for memory can be made: {error}")
    try:
        yield group
    finally:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while (group / "cgroup.procs").read_text() and time.monotonic() < deadline:
            time.sleep(0.1)
        group.rmdir()


def inside(group: Path) -> list[str]:
    """What to put before a command so that it runs in the group."""
    return ["bash", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "-"]


def seeing_only(group: Path) -> list[str]:
    """The same in a mount namespace where the group is all there is: what a process in a container sees."""
    enter = f'echo $$ > {group}/cgroup.procs && mount --bind {group} {_GROUPS} && exec "$@"'
    return ["unshare", "--mount", "bash", "-c", enter, "-"]
