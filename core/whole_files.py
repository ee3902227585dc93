"""Files that people keep: each is written whole, or not at all."""

import contextlib
import glob
import os
import shutil
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A path beside `target` at which to make a file or folder, which takes the place of `target` at the end.

    If the block raises, `target` is as it was. What an earlier process has left of the same target, because it was
    killed, is removed. A folder takes the place of none or of an empty one. A device or pipe is written to as it is.

    Raises:
        OSError: it cannot take that place, or the folder around it cannot be written.
    """
    if os.path.exists(target) and not (os.path.isfile(target) or os.path.isdir(target)):
        yield target
        return
    place = target.resolve()
    unfinished = place.with_name(f".{place.name}.{os.getpid()}.unfinished")
    for left in place.parent.glob(f".{glob.escape(place.name)}.*.unfinished"):
        pid = left.name.split(".")[-2]
        if pid.isdecimal() and not _is_running(int(pid)):
            _remove(left)
    try:
        yield unfinished
        if place.is_file():
            shutil.copymode(place, unfinished)
        os.replace(unfinished, place)
    finally:
        _remove(unfinished)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # somebody else's
        return True
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
