"""Every hint can be pasted into a shell as it stands."""

import re
import shlex

import pytest

from nws.jobs.commands.shared import with_store
from nws.jobs.store import RunSpec, open_store

FLAG = " --store 'sqlite:///my runs.db'"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("See `nws status p-1`; go on.", f"See `nws status p-1{FLAG}`; go on."),
        ("Compute them with: nws resume phase1-x", f"Compute them with: nws resume phase1-x{FLAG}"),
        ("with `nws resume p-1 --take-over`, or", f"with `nws resume p-1 --take-over{FLAG}`, or"),
        (f"Resume it with: nws resume p-1{FLAG}", f"Resume it with: nws resume p-1{FLAG}"),
        ("Start one with: nws submit phase1", f"Start one with: nws submit phase1{FLAG}"),
        ("See nws submit phase1 --help and --n 3 for more", "See nws submit phase1 --help and --n 3 for more"),
    ],
)
def test_commands_in_errors_find_the_store(text: str, told: str) -> None:
    assert with_store(text, FLAG) == told
    assert with_store(text, "") == text


@pytest.mark.parametrize("flags", ["separate", "joined", "environment"])
def test_what_an_error_advises_works(nws, tmp_path, monkeypatch, flags: str) -> None:
    url = f"sqlite:///{tmp_path}/my runs.db"
    with open_store(url) as store:
        store.create_run(RunSpec("phase1", {}, "hash", 0, "v", {}, {}, 1), "phase1-x")
    if flags == "environment":
        monkeypatch.setenv("NWS_STORE", url)
    given = {"separate": ("--store", url), "joined": (f"--store={url}",), "environment": ()}[flags]
    refused = nws("rm", "phase1-x", "--yes", *given)
    advised = re.search(r"nws cancel .*", refused.err)
    assert nws(*shlex.split(advised[0])[1:]).code == 0
    assert nws("rm", "phase1-x", "--yes", *given).code == 0
