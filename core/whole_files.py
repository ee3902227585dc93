"""Files that people keep: each is written whole, or not at all."""

import contextlib
import glob
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from nws.core.errors import RecipeError


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


def check_target(flag: str, target: Path, read: Path | None = None) -> None:
    """Refuse, before anything is computed, a file that cannot be written.

    Raises:
        RecipeError: its folder does not exist, it is a folder, or it is the file that is `read`.
    """
    if not os.path.isdir(target.resolve().parent):
        raise RecipeError(f"{flag} {target}: there is no folder {target.parent}.")
    if os.path.isdir(target):
        raise RecipeError(f"{flag} {target}: this is a folder; name a file in it.")
    if read is not None and os.path.exists(target) and os.path.exists(read) and target.samefile(read):
        raise RecipeError(f"{flag} {target} is the file that is read: give it another name.")


def write_json_lines(flag: str, target: Path, rows: Iterable[Mapping[str, object]]) -> int:
    """Write a line for each row to a new or replaced file: all of them, or none. Returns how many there were.

    Raises:
        RecipeError: the file cannot be written; an older one is as it was.
    """
    try:
        with replacing(target) as unfinished, unfinished.open("w", encoding="utf-8") as file:
            return sum(bool(file.write(json.dumps(row, ensure_ascii=False) + "\n")) for row in rows)
    except OSError as error:
        raise RecipeError(f"{flag} {target} cannot be written ({error.strerror or error}).") from error


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
