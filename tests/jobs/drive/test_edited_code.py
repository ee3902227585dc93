"""The code of a run is what its processes have imported, whatever happens to the files meanwhile."""

from pathlib import Path

from edited_checkout import EditedCheckout


def test_rows_of_edited_code_are_neither_labelled_with_the_commit_nor_copied(tmp_path: Path) -> None:
    checkout = EditedCheckout(tmp_path)
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
