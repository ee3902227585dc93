"""What must hold on real news, where it is there: controls in their order, and a comparison that sees it."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from jobs.drive import driver
from jobs.recipes.job import make_plan
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep_recipe import BaselinesRecipe
from jobs.store import open_store
from jobs.tools.comparison import compare_runs

pytestmark = pytest.mark.slow

QUIET = Console(file=io.StringIO())


def test_lead_is_above_random_and_the_oracle_above_both(shared_data: Path, tmp_path: Path) -> None:
    datasets = {"datasets": [{"name": str(shared_data / "cnn_dailymail.jsonl")}]}
    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as store:
        controls = {**datasets, "systems": ["lead", "random"], "n": [7, 13], "datasets.limit": 20}
        run = driver.start(store, make_plan(load_recipe(BaselinesRecipe, "sample", controls)), "inline", QUIET).run_id
        (comparison,) = compare_runs(store, run, None, ["lead", "random"], None, "bertscore_f1").comparisons
        for at in comparison.lengths:
            assert at.difference.low > 0
            assert at.p_holm < 0.05
            assert at.wins > at.losses
        (itself,) = compare_runs(store, run, None, ["lead", "lead"], None, "bertscore_f1").comparisons
        assert [(at.difference.mean, at.p, at.ties) for at in itself.lengths] == [(0, 1, 20)] * 2

        few = {**datasets, "systems": ["lead", "random", "oracle"], "n": [7], "datasets.limit": 3}
        driver.start(store, make_plan(load_recipe(BaselinesRecipe, "sample", few)), "inline", QUIET)
        with store.query("select system from leaderboard where articles = 3 order by rank") as answer:
            assert next(system for (system,) in answer.rows) == "oracle"
