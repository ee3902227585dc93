"""What is typed of sharded runs. That drivers do what they are asked for: tests/end_to_end/test_sharded_runs.py."""

from pathlib import Path

import pytest

from nws.jobs.drive.driver import create_sharded_run
from nws.jobs.recipes.job import make_plan
from nws.jobs.recipes.load import load_recipe
from nws.jobs.recipes.sweep_recipe import Phase1Recipe
from nws.jobs.store import open_store

NAME = "phase1-20261124-abcdef"


@pytest.fixture
def sharded(nws, tmp_path: Path) -> str:
    """A pending run of two shards, in the store that commands take unless told otherwise."""
    plan = make_plan(load_recipe(Phase1Recipe, "sample", {"datasets.limit": 4, "n": [3], "bundle_size": 2}))
    with open_store(f"sqlite:///{tmp_path / 'nws.db'}") as store:
        create_sharded_run(store, NAME, plan, plan.run_spec(name="both"), 1, 2, None)
    return NAME


def test_one_id_stands_for_all_shards(nws, sharded: str) -> None:
    (listed,) = nws("ls", "--json").json
    assert (listed["id"], listed["shards"], listed["total_articles"]) == (sharded, 2, 4)
    assert [run["id"] for run in nws("ls", "--all", "--json").json] == [sharded, f"{sharded}-01", f"{sharded}-02"]
    assert "0/4, 2 shards" in nws("ls").out
    assert "--drivers is for sharded runs" in nws("resume", f"{sharded}-01", "--drivers", "2").err
    told = nws("status", "abc").out
    assert "shards       2: 2 pending" in told
    assert f"shard        2 of {sharded}" in nws("status", f"{sharded}-02").out
    assert nws("rm", sharded, "--yes").code == 1
    assert nws("cancel", sharded, "--json").json == {"run_id": sharded, "state": "interrupted", "stopped_jobs": []}
    assert [shard["state"] for shard in nws("status", sharded, "--json").json["shards"]] == ["interrupted"] * 2
    refused = nws("rm", f"{sharded}-01", "--yes")
    assert (refused.code, f"nws rm {sharded}" in refused.err) == (1, True)
    assert nws("rm", sharded, "--yes", "--json").json["removed"] == sharded
    assert nws("ls", "--all", "--json").json == []


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (("--drivers", "2"), "--drivers needs one"),
        (("--shards", "2", "--shard-articles", "2"), "either --shards or --shard-articles"),
        (("--shards", "2", "--no-wait"), "--no-wait is for runs with one driver"),
        (("--shards", "2", "--log-to", "tensorboard"), "--log-to is for runs with one driver"),
    ],
)
def test_what_contradicts_itself_is_refused(nws, asked: tuple[str, ...], why: str) -> None:
    refused = nws("submit", "phase1", "--engine", "inline", "--limit", "2", *asked)
    assert refused.code == 2
    assert why in refused.err


def test_a_dry_run_says_how_many_shards_there_are(nws) -> None:
    asked = ("submit", "phase1", "--limit", "3", "--n", "3", "--dry-run", "--shard-articles", "1")
    assert nws(*asked, "--json").json["shards"] == 1, "a shard has whole bundles"
    assert "1, 2 at a time" in nws(*asked, "--drivers", "2").out
