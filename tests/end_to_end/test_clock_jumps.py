"""A wall clock that jumps under a driver, forward and back, costs no row; at worst the driver is replaced."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hostile_server import eventually
from nws_process import STUB, end, finish, start, wait_for_rows
from stored_rows import difference, everything
from undisturbed import STUB_WORK, undisturbed

from nws.core.errors import StoreError
from nws.jobs.recipes.job import plan_job
from nws.jobs.store import Store, open_store

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

HOUR = 3600
RESUME = ("--engine", "inline", "--json", "--store", "sqlite:///nws.db")
_LIBRARIES = ("/usr/lib/*-linux-gnu/faketime/libfaketimeMT.so.1", "/usr/lib64/faketime/libfaketimeMT.so.1")


class ShiftedClock:
    """The wall clock of processes that are started with `environment`, which may jump; their monotonic clock goes on.

    libfaketime reads from a file how far it is off. Skips the test where there is none.
    """

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


@pytest.mark.parametrize("jumps", [(HOUR, -HOUR), (-HOUR, HOUR)])
def test_a_clock_that_jumps_costs_no_row(jumps: tuple[int, int], tmp_path: Path) -> None:
    expected = undisturbed(plan_job("phase1", "sample", {"n": [1, 7]}), tmp_path, STUB_WORK)
    clock = ShiftedClock(tmp_path / "clock")
    # So slow that it cannot end before the others come.
    driver = start(
        tmp_path, *("submit", "phase1", "--n", "1,7", *RESUME), program=STUB, NWS_STUB_SECONDS="5", **clock.environment
    )
    try:
        wait_for_rows(tmp_path / "nws.db", driver)
        with open_store(f"sqlite:///{tmp_path}/nws.db", read_only=True) as store:
            (run,) = store.list_runs()
            assert is_refused(store, run.id)
            for jump in jumps:
                clock.jump(jump)
                assert eventually(lambda jump=jump: abs(ahead(store, run.id) - jump) < HOUR / 2, seconds=120)
                assert driver.poll() is None, driver.communicate()
                # A clock that is off is no sign of life: another machine need not wait until it is right.
                assert not is_refused(store, run.id)
            resumed = finish(start(tmp_path, "resume", run.id, *RESUME, program=STUB), 0)
            _, said = driver.communicate(timeout=60)
            assert driver.returncode == 1
            assert "was taken over by pid" in said
            assert (resumed["state"], resumed["failures"]) == ("done", 0)
            assert store.run_info(run.id).driver_epoch == 2
            assert difference(everything(store, run.id), expected) is None
    finally:
        end(driver)


def ahead(store: Store, run_id: str) -> float:
    """How many seconds the driver's clock is ahead of the true time."""
    heard_of = store.run_info(run_id).heartbeat_at
    assert heard_of is not None
    return (heard_of - datetime.now(UTC)).total_seconds()


def is_refused(store: Store, run_id: str) -> bool:
    """Whether another machine, whose clock is right, may not resume the run."""
    try:
        store.require_free(run_id, "another-machine")
    except StoreError:
        return True
    return False
