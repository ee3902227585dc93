"""A wall clock that jumps under a running process: libfaketime, which reads from a file how far it is off.

The monotonic clock goes on as it was, as when a machine's wall clock is set.
"""

import os
from pathlib import Path

import pytest

_LIBRARIES = ("/usr/lib/*-linux-gnu/faketime/libfaketimeMT.so.1", "/usr/lib64/faketime/libfaketimeMT.so.1")


class ShiftedClock:
    """The clock of processes that are started with `environment`; skips the test where there is no libfaketime."""

    def __init__(self, file: Path) -> None:
        found = [path for pattern in _LIBRARIES for path in Path("/").glob(pattern.lstrip("/"))]
        if not found:
            pytest.skip("libfaketime is not installed (Debian: apt-get install faketime)")
        self._file = file
        self.jump(0)
        self.environment = {
            "LD_PRELOAD": str(found[0]),
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    def jump(self, seconds: int) -> None:
        """So many seconds after the true time from now on."""
        draft = self._file.with_suffix(".draft")
        draft.write_text(f"{seconds:+d}s")
        os.replace(draft, self._file)
