"""Every hint can be pasted into a shell as it stands."""

import io
import re
import shlex

import pytest
from policy_results import make_results
from rich.console import Console
from run_infos import run_info

from jobs.commands.shared import with_store
from jobs.report.policies.policy_numbers import analyse_policies
from jobs.report.printed_report import print_policies
from jobs.store import RunSpec, open_store

FLAG = " --store 'sqlite:///my runs.db'"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("See `nws status p-1`; go on.", f"See `nws status p-1{FLAG}`; go on."),
        ("Compute them with: nws resume phase1-x", f"Compute them with: nws resume phase1-x{FLAG}"),
        ("with `nws resume p-1 --take-over`, or", f"with `nws resume p-1 --take-over{FLAG}`, or"),
        ("first one with: nws show p-1", f"first one with: nws show p-1{FLAG}"),
        ("See: nws logs p-1. Then", f"See: nws logs p-1{FLAG}. Then"),
        (f"Resume it with: nws resume p-1{FLAG}", f"Resume it with: nws resume p-1{FLAG}"),
        ("Start one with: nws submit phase1", f"Start one with: nws submit phase1{FLAG}"),
        ("See nws submit phase1 --help and --n 3 for more", "See nws submit phase1 --help and --n 3 for more"),
        ("no command", "no command"),
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


@pytest.mark.parametrize("command", ["report", "compare"])
def test_what_a_report_or_a_comparison_advises_works(nws, tmp_path, monkeypatch, command: str) -> None:
    url = f"sqlite:///{tmp_path}/my runs.db"
    monkeypatch.setenv("COLUMNS", "1000")
    systems = ("--system", "textrank", "--system", "lead", "--system", "random")
    submitted = nws("submit", "baselines", "--engine", "inline", "--limit", "2", "--n", "3", *systems, "--store", url)
    assert submitted.code == 0, submitted.err
    advised = re.findall(r"nws (?:status|compare) .*", nws(command, "--store", url).out)
    assert len(advised) == {"report": 2, "compare": 1}[command]
    for one in advised:
        words = shlex.split(one)
        assert words[-2:] == ["--store", url]
        assert nws(*words[1:]).code == 0


def test_a_report_of_policies_advises_commands_that_find_the_store() -> None:
    numbers = analyse_policies(run_info(state="running"), make_results(points=[], greedy=[]))
    out = io.StringIO()
    print_policies(numbers, Console(file=out, width=200), FLAG)
    assert f"nws status p1-0421{FLAG}\n" in out.getvalue()
    assert f"`nws resume p1-0421{FLAG}`" in out.getvalue()
