"""What a run stores when nothing disturbs it."""

import io
from pathlib import Path

import pytest
from rich.console import Console
from stored_rows import Stored, everything

from bench import stub_work
from jobs.drive import driver
from jobs.drive.pools import REAL, Makers
from jobs.plan.pinned import Pinned
from jobs.store import open_store

STUB_WORK = Makers(stub_work.work)


def undisturbed(pinned: Pinned, folder: Path, makers: Makers = REAL) -> Stored:
    """Drive it in this process, without Ray, into a store of its own in `folder`; stub work takes no time."""
    with open_store(f"sqlite:///{folder}/undisturbed.db") as store, pytest.MonkeyPatch.context() as patch:
        patch.setenv("NWS_STUB_SECONDS", "0")
        outcome = driver.start(store, pinned, "inline", Console(file=io.StringIO()), makers)
        assert (outcome.state, outcome.failures) == ("done", 0)
        return everything(store, outcome.run_id)
