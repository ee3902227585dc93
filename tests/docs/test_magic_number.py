"""The tables of docs/magic-number.md are those of bench/results/claimed_lengths.txt."""

import re

from doc_pages import ROOT


def test_the_tables_are_those_measured_and_no_verdict_errs_more_often_than_is_said() -> None:
    measured = (ROOT / "bench" / "results" / "claimed_lengths.txt").read_text(encoding="utf-8").splitlines()
    rows = [line for line in measured if line.startswith("|")]
    page = (ROOT / "docs" / "magic-number.md").read_text(encoding="utf-8").splitlines()
    assert [row for row in rows if row not in page] == []
    rates = [float(rate) for row in rows if row.startswith("| adds ") for rate in re.findall(r"\| ([\d.]+) ", row)]
    assert len(rates) == 8
    assert max(rates) < 6
