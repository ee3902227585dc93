"""Content kept as files: rows by n, and a table for papers."""

import dataclasses
import re

import pytest
from made_scores import kept_points

from jobs.report.report_files import kept_latex
from jobs.report.sweep.numbers import analyse, kept_rows

SHARES = {"a_b": {3: -0.03, 7: 0.42, 21: 0.55}, "random": {3: 0.1, 21: 0.3}}


@pytest.fixture
def numbers(run):
    scored = dataclasses.replace(run, signatures=run.signatures | {"kept": "kept|made"})
    return analyse(scored, kept_points(SHARES))


def test_a_row_for_each_system_ceiling_and_n(numbers):
    told = kept_rows(numbers)
    assert len(told) == 2 * 3 + 2 * 2
    first = told[0]
    assert (first["system"], first["of"], first["n"], first["articles"]) == ("a_b", "reference", 3, 60)
    assert first["mean"] == pytest.approx(-0.03)
    assert first["low"] < first["mean"] < first["high"]
    assert first["signature"] == "kept|made|bert-base-uncased_L9_no-idf"
    assert {row["is_control"] for row in told if row["system"] == "random"} == {1}


def test_the_table_has_shares_and_where_half_is_kept(numbers):
    text = kept_latex(numbers)
    assert "% news: content kept by n, 60 articles, 3 lengths from 3 to 21 words\n" in text
    assert "$n$ & 3 & 7 & 21 & half \\\\" in text
    assert re.search(
        r"a\\_b & \$-\$3 \(\$-\$\d to \$?-?\$?\d\) & 42 \(\d\d--\d\d\) & 55 \(\d\d--\d\d\) & 21 \(21--", text
    )
    assert re.search(r"random \(control\) & 10 \(\d+--\d+\) & -- & 30 \(\d\d--\d\d\) & \$>\$21 \\\\", text)
