"""What is typed of studies. That their drivers do what they are asked for: tests/end_to_end/test_studies.py."""

from pathlib import Path

import pytest
from shards_here import QUIET

from jobs.drive.study import create_study
from jobs.plan.sweep import pin
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep import Phase1Recipe
from jobs.store import StudySettings, open_store

NAME = "phase1-20261124-abcdef"


@pytest.fixture
def study(nws, tmp_path: Path) -> str:
    """A pending study of two shards, in the store that commands take unless told otherwise."""
    pinned = pin(load_recipe(Phase1Recipe, "sample", {"limit": 4, "n": [3], "bundle_size": 2}))
    with open_store(f"sqlite:///{tmp_path / 'nws.db'}") as store:
        create_study(store, NAME, pinned, StudySettings(1, "inline"), 2, None, QUIET, name="both")
    return NAME


def test_one_id_stands_for_all_shards(nws, study: str) -> None:
    (listed,) = nws("ls", "--json").json
    assert (listed["id"], listed["shards"], listed["total_articles"]) == (study, 2, 4)
    assert [run["id"] for run in nws("ls", "--all", "--json").json] == [study, f"{study}-01", f"{study}-02"]
    assert "0/4, 2 shards" in nws("ls").out
    told = nws("status", "abc").out
    assert "shards       2: 2 pending" in told
    assert f"shard        2 of {study}" in nws("status", f"{study}-02").out
    assert nws("rm", study, "--yes").code == 1
    assert nws("cancel", study, "--json").json == {"run_id": study, "state": "interrupted", "stopped_jobs": []}
    assert [shard["state"] for shard in nws("status", study, "--json").json["of_shards"]] == ["interrupted"] * 2
    refused = nws("rm", f"{study}-01", "--yes")
    assert (refused.code, f"nws rm {study}" in refused.err) == (1, True)
    assert nws("rm", study, "--yes", "--json").json["removed"] == study
    assert nws("ls", "--all", "--json").json == []


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (("--drivers", "2"), "give --shards or --shard-articles"),
        (("--shards", "2", "--shard-articles", "2"), "give one of them"),
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


def test_jobs_and_drivers_are_of_shards(nws, study: str) -> None:
    assert "each shard has its own Ray job" in nws("logs", study, "--job").err
    assert "--drivers is for studies" in nws("resume", f"{study}-01", "--drivers", "2", "--engine", "inline").err
