"""Whether Python would run the bytecode of an older source in place of a file."""

import functools
import marshal
import os
from pathlib import Path

_UNCHECKED = (1).to_bytes(4, "little")  # the flags of bytecode that is taken whatever its source says (PEP 552)
_COPIED_SECONDS = 10
"""Bytecode whose own clock is so much later than its time was not compiled here."""
_COMPILING_SECONDS = 1
"""Between what Python reads of a source and when it has written the bytecode: the source may be put back meanwhile."""


def has_stale_bytecode(file: str, cached: str | None) -> bool:
    """Whether Python took the bytecode of an older source: it compares sizes, and times in whole seconds (PEP 552).

    A file's own clock (`st_ctime`) cannot be set back. Where the source changed later than its bytecode or just before
    it, where the bytecode was copied, and where Python was told not to look at the source, only the bytecode's meaning
    tells.

    Raises:
        OSError: there is no such source.
    """
    if cached is None or not os.path.exists(cached):
        return False
    source, bytecode = os.stat(file), os.stat(cached)
    with open(cached, "rb") as opened:
        header = opened.read(16)
    if header[4:8] != _UNCHECKED:
        was_copied = bytecode.st_ctime_ns - bytecode.st_mtime_ns > _COPIED_SECONDS * 10**9
        later_ns = bytecode.st_ctime_ns - source.st_ctime_ns
        is_newer = bytecode.st_mtime_ns >= source.st_mtime_ns and later_ns >= _COMPILING_SECONDS * 10**9
        times = (int(source.st_mtime), source.st_size)
        of = b"".join((number & 0xFFFFFFFF).to_bytes(4, "little") for number in times)
        if (is_newer and not was_copied) or header[8:16] != of:
            return False
    return _differs(file, source.st_ctime_ns, cached, bytecode.st_ctime_ns)


@functools.cache  # of a copied installation all files are compiled, once
def _differs(file: str, _changed: int, cached: str, _compiled: int) -> bool:
    """Whether a source's meaning is not that of a file of bytecode, or one of them is cut off."""
    try:
        loaded = marshal.loads(Path(cached).read_bytes()[16:])
        return bool(loaded != compile(Path(file).read_bytes(), file, "exec", dont_inherit=True))
    except (EOFError, ValueError, TypeError, SyntaxError):
        return True
