"""The code of a run is what its processes have imported, whatever happens to the files meanwhile."""

from pathlib import Path

import pytest
from edited_checkout import EditedCheckout


@pytest.fixture
def checkout(tmp_path: Path) -> EditedCheckout:
    return EditedCheckout(tmp_path)


def test_rows_of_edited_code_are_neither_labelled_with_the_commit_nor_copied(checkout: EditedCheckout) -> None:
    checkout.shell(checkout.edit)
    edited = checkout.run("inline", meanwhile=checkout.restore)
    assert edited["texts"] == [text.upper() for text in edited["texts"]]
    clean = checkout.run("inline")
    assert (edited["mixed"], clean["mixed"], clean["reused"]) == (True, False, 0)
    assert clean["texts"] != edited["texts"]
    commit = checkout.shell(f"git -C {checkout.root} rev-parse --short=12 HEAD")
    assert clean["code"].startswith(f"{commit}+")
    assert edited["code"].startswith(f"{commit}-dirty+")
    assert checkout.run("inline")["reused"] == 2


@pytest.mark.faults
def test_a_commit_while_a_run_on_ray_starts_is_told_recorded_and_not_copied(checkout: EditedCheckout) -> None:
    """The driver has imported one commit, and its workers another."""
    mixed = checkout.run("ray", meanwhile=f"{checkout.edit}; {checkout.commit}")
    assert mixed["texts"] == [text.upper() for text in mixed["texts"]]
    assert mixed["mixed"]
    after = checkout.run("ray")
    assert (after["reused"], after["texts"]) == (0, mixed["texts"])
    of_workers = after["code"].partition("+")[2]
    assert f", NWS {of_workers}" in mixed["code"]
    assert f"a process of this run computes with NWS {of_workers}, and its driver with something else" in mixed["said"]
    assert not after["mixed"]
    assert "computes with" not in after["said"]
