"""What must hold on real news, where it is there: controls in their order, and a comparison that sees it."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from jobs.drive import driver
from jobs.recipes.job import plan_job
from jobs.store import open_store
from jobs.tools.comparison import compare_runs

pytestmark = pytest.mark.slow


def test_lead_is_above_random(shared_data: Path, tmp_path: Path) -> None:
    controls = {"datasets": [{"name": str(shared_data / "cnn_dailymail.jsonl"), "limit": 20}], "n": [7, 13]}
    plan = plan_job("baselines", "sample", controls | {"systems": ["lead", "random"]})
    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as store:
        run = driver.start(store, plan, "inline", Console(file=io.StringIO())).run_id
        (comparison,) = compare_runs(store, run, None, ["lead", "random"], None, "bertscore_f1").comparisons
        for at in comparison.lengths:
            assert at.difference.low > 0
            assert at.p_holm < 0.05
            assert at.wins > at.losses
