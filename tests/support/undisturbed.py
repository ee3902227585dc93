"""What a run stores when nothing disturbs it, and nothing is printed of it."""

import io
from pathlib import Path

import pytest
from rich.console import Console
from stored_rows import Stored, everything

from bench import stub_work
from nws.jobs.drive import driver
from nws.jobs.drive.pools import MakeWork, stage_work
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import open_store

QUIET = Console(file=io.StringIO())
STUB_WORK = stub_work.work


def undisturbed(plan: Plan, folder: Path, make_work: MakeWork = stage_work) -> Stored:
    """Drive it in this process, without Ray, into a store of its own in `folder`; stub work takes no time."""
    with open_store(f"sqlite:///{folder}/undisturbed.db") as store, pytest.MonkeyPatch.context() as patch:
        patch.setenv("NWS_STUB_SECONDS", "0")
        outcome = driver.start(store, plan, "inline", QUIET, make_work)
        assert (outcome.state, outcome.failures) == ("done", 0)
        return everything(store, outcome.run_id)
