"""NWS's own arm of the benchmarks is a run as everybody has it."""

import sqlite3
from pathlib import Path

import pytest

from bench.arms import nws, read_rows
from jobs.recipes.job import plan_job

pytestmark = pytest.mark.slow


def test_a_run_of_the_arm_stores_every_score(tmp_path: Path) -> None:
    asked = {"datasets.limit": 3, "n": (3, 7), "importance": ["textrank"], "rulers": []}
    stored = nws(plan_job("phase1", "sample", asked))(tmp_path)
    assert {row.n for row in read_rows(stored)} == {3, 7}
    with sqlite3.connect(stored) as connection:
        kept = [row[0] for row in connection.execute("SELECT kept FROM summaries")]
    assert len(kept) == 3 * 3 * 2
    assert None not in kept
