"""A study: what its shards have together is, bit by bit, what one run has, whoever dies meanwhile."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shards_here import QUIET, ShardsHere

from bench import stub_work
from core.errors import ClusterError, FencedError, RecipeError, StoreError
from core.provenance import software
from jobs.drive import driver, study
from jobs.drive.pools import Makers
from jobs.drive.shard_drivers import NEVER_BEGAN
from jobs.drive.ship import give_up
from jobs.plan.pinned import Pinned
from jobs.plan.shards import parts_of
from jobs.plan.sweep import pin
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep import Phase1Recipe
from jobs.store import RunInfo, Store, StudySettings, Whole, open_store

STUB = Makers(stub_work.work)
HOST = socket.gethostname()
ONE_AT_A_TIME = StudySettings(1, "inline")
NAME = "phase1-20261124-abcdef"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "_PAUSE_SECONDS", 0.0)
    monkeypatch.setenv("NWS_STUB_SECONDS", "0")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as opened:
        yield opened


def plan(recipe: type[Any] = Phase1Recipe, **changes: object) -> Pinned:
    return pin(load_recipe(recipe, "sample", {"n": [3, 7], "bundle_size": 2, **changes}))


@pytest.fixture
def news(tmp_path: Path) -> Path:
    """A folder of three files, of 5, 4 and 8 articles, of which two are repeats."""
    folder = tmp_path / "news"
    folder.mkdir()
    stub_work.write_articles(tmp_path / "all.jsonl", 15, words=12)
    lines = (tmp_path / "all.jsonl").read_text().splitlines(keepends=True)
    lines = [*lines[:7], lines[2], *lines[7:14], lines[9], lines[14]]
    for name, begin, end in (("a", 0, 5), ("b", 5, 9), ("c", 9, 17)):
        (folder / f"{name}.jsonl").write_text("".join(lines[begin:end]))
    return folder


def start(store: Store, pinned: Pinned, shards: int | None = None, articles: int | None = None) -> list[str]:
    return study.create_study(store, NAME, pinned, ONE_AT_A_TIME, shards, articles, QUIET)


def drive(store: Store, drivers: ShardsHere, **more: Any) -> Any:
    return study.drive_study(store, NAME, drivers, 2, QUIET, **more)


def rows(store: Store, run_id: str) -> list[tuple[object, ...]]:
    """Everything a run, or the shards of a study, stored, but what it cost and by which run."""
    sql = (
        "SELECT s.* FROM summaries AS s JOIN runs AS r ON r.id = s.run_id "
        f"WHERE r.id = '{run_id}' OR r.study = '{run_id}' ORDER BY s.article_id, s.system, s.n"
    )
    with store.query(sql) as answer:
        drop = {answer.columns.index("seconds"), answer.columns.index("run_id")}
        return [tuple(v for i, v in enumerate(row) if i not in drop) for row in answer.rows]


def test_real_rows_are_those_of_one_run(store: Store) -> None:
    """Also content kept, whose panel is of all articles, and rulers."""
    pinned = plan(limit=5, n=[3])
    one = driver.start(store, pinned, "inline", QUIET)
    start(store, pinned, shards=3)
    outcome = drive(store, ShardsHere(store))
    assert (outcome.state, outcome.articles, outcome.summaries) == ("done", one.articles, one.summaries)
    assert rows(store, NAME) == rows(store, one.run_id)
    assert [shard.total_articles for shard in store.shards(NAME)] == [2, 2, 1]
    # All that a report reads of a run.
    assert set(store.content_hashes(NAME)) == set(store.content_hashes(one.run_id))
    of_study, of_one = store.points(NAME), store.points(one.run_id)
    assert sorted(map(str, of_study.articles)) == sorted(map(str, of_one.articles))
    for study_mean, run_mean in zip(store.curve_means(NAME), store.curve_means(one.run_id), strict=True):
        assert (study_mean.system, study_mean.n, study_mean.articles) == (
            run_mean.system,
            run_mean.n,
            run_mean.articles,
        )
        assert study_mean.means == pytest.approx(run_mean.means, abs=1e-12)


def test_files_of_shards(store: Store, news: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each opens its own files alone, and a change of another shard's file is no change of its articles."""
    pinned = plan(datasets=[{"name": str(news)}])
    one = driver.start(store, pinned, "inline", QUIET, STUB)
    ids = start(store, pinned, articles=5)  # three bundles
    assert [store.run_info(shard).total_articles for shard in ids] == [4, 6, 5]

    def change(shard: RunInfo) -> None:
        if shard.shard == 3:
            (news / "a.jsonl").write_text("broken")

    assert drive(store, ShardsHere(store, STUB, change)).state == "done"
    assert rows(store, NAME) == rows(store, one.run_id)


def test_another_code_reads_the_datasets_of_a_shard_again(
    store: Store, news: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned = plan(datasets=[{"name": str(news)}])
    one = driver.start(store, pinned, "inline", QUIET, STUB)
    start(store, pinned, shards=3)
    with store.writing() as connection:
        connection.exec_driver_sql("DELETE FROM datasets_read")
    assert drive(store, ShardsHere(store, STUB)).state == "done"
    assert rows(store, NAME) == rows(store, one.run_id)


def test_rulers_and_language_are_those_of_the_whole(store: Store, tmp_path: Path) -> None:
    """The first half has a second person's summary, and the last article alone would be taken for Korean."""
    one_reference, two_references = '["A plan was made."]', '["A plan was made.", "They made a plan."]'
    lines = [
        f'{{"id": "{i}", "article": "Plan {i} was made in town {i}.", "summary": {two_references}}}\n' for i in range(4)
    ]
    lines += [f'{{"id": "5", "article": "한국어 기사입니다. 서울에서 발표했다.", "summary": {one_reference}}}\n']
    (tmp_path / "mixed.jsonl").write_text("".join(lines), encoding="utf-8")
    pinned = plan(datasets=[{"name": str(tmp_path / "mixed.jsonl")}])
    assert "person" not in pinned.systems
    one = driver.start(store, pinned, "inline", QUIET, STUB)
    start(store, pinned, shards=3)
    assert drive(store, ShardsHere(store, STUB)).state == "done"
    assert rows(store, NAME) == rows(store, one.run_id)
    whole = store.whole_of(f"{NAME}-03")
    assert isinstance(whole, Whole)
    assert (whole.language, [len(panel.articles) for panel in whole.panels]) == ("en", [5])


def test_a_shard_that_fails_is_resumed_alone(store: Store, news: Path) -> None:
    pinned = plan(datasets=[{"name": str(news)}])
    one = driver.start(store, pinned, "inline", QUIET, STUB)
    start(store, pinned, shards=4)

    def fail(shard: RunInfo) -> None:
        if shard.shard == 2:
            raise ClusterError("no machine")

    failing = ShardsHere(store, STUB, fail)
    with pytest.raises(ClusterError, match=f"Of the 4 shards of {NAME}, 1 are not done.*nws resume {NAME}"):
        drive(store, failing)
    assert failing.started == [1, 2, 3, 4]
    assert store.run_info(NAME).state == "failed"
    again = ShardsHere(store, STUB)
    assert drive(store, again).state == "done"
    assert again.started == [2]
    assert rows(store, NAME) == rows(store, one.run_id)
    assert drive(store, none := ShardsHere(store, STUB)).state == "done"
    assert none.started == []


def test_what_shards_warn_of_stands_in_the_log_of_the_study_once(
    store: Store, news: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(store, plan(datasets=[{"name": str(news)}]), shards=3)
    monkeypatch.setattr("cluster.worker_info.software", lambda: ("NWS ba9876543210", *software()[1:]))
    drive(store, ShardsHere(store, STUB))
    said = [line.text for _, line in store.log(NAME)]
    warnings = [text for text in said if "Warning: a process of this run computes with NWS ba9876543210" in text]
    assert [text.partition(":")[0] for text in warnings] == ["Shard 1"]


def test_a_driver_that_dies_is_replaced_at_once(store: Store, news: Path) -> None:
    pinned = plan(datasets=[{"name": str(news)}])
    one = driver.start(store, pinned, "inline", QUIET, STUB)
    start(store, pinned, shards=3)
    died: list[int | None] = []

    def die(shard: RunInfo) -> None:
        if shard.shard == 2 and len(died) < 2:
            died.append(shard.shard)
            epoch = store.claim_run(shard.id, HOST, 2**22 + 1, epoch=shard.driver_epoch)  # no such process
            assert epoch > shard.driver_epoch
            raise ClusterError("killed")

    drivers = ShardsHere(store, STUB, die)
    assert drive(store, drivers).state == "done"
    assert sorted(map(str, drivers.started)) == ["1", "2", "2", "2", "3"]
    assert rows(store, NAME) == rows(store, one.run_id)


def test_a_driver_that_ended_before_it_began_is_replaced_at_once(store: Store, news: Path) -> None:
    """As one that is started while the store is away."""
    start(store, plan(datasets=[{"name": str(news)}]), shards=3)
    ended: list[int | None] = []

    def end(shard: RunInfo) -> None:
        if shard.shard == 2 and not ended:
            ended.append(shard.shard)
            error = ClusterError(f"{NEVER_BEGAN} 1: the store is away")
            give_up(store, shard.id, shard.driver_epoch, error)
            raise error

    drivers = ShardsHere(store, STUB, end)
    assert drive(store, drivers).state == "done"
    assert sorted(map(str, drivers.started)) == ["1", "2", "2", "3"]


def test_shards_that_all_fail_stop_the_study(store: Store, news: Path) -> None:
    start(store, plan(datasets=[{"name": str(news)}]), shards=8)

    def fail(shard: RunInfo) -> None:
        epoch = store.claim_run(shard.id, HOST, 1, epoch=shard.driver_epoch)
        store.writer(shard.id, epoch).finish("failed", "the plugin is broken")
        raise ClusterError("the plugin is broken")

    drivers = ShardsHere(store, STUB, fail)
    with pytest.raises(ClusterError, match="the plugin is broken"):
        study.drive_study(store, NAME, drivers, 1, QUIET)
    assert drivers.started == [1, 2, 3]
    assert {shard.state for shard in store.shards(NAME)} == {"failed", "interrupted"}
    store.remove_run(NAME, HOST)
    assert store.list_runs(with_shards=True) == []


def test_a_driver_of_the_study_that_was_replaced_starts_nothing(store: Store, news: Path) -> None:
    start(store, plan(datasets=[{"name": str(news)}]), shards=3)
    others: list[int] = []

    def take(shard: RunInfo) -> None:
        if not others:
            others.append(store.claim_run(NAME, HOST, 1, take_over=True))

    drivers = ShardsHere(store, STUB, take)
    with pytest.raises(FencedError, match="taken over"):
        study.drive_study(store, NAME, drivers, 1, QUIET)
    assert drivers.started == [1]
    assert [shard.state for shard in store.shards(NAME)] == ["done", "pending", "pending"]
    with pytest.raises(StoreError, match="being driven"):
        drive(store, ShardsHere(store, STUB))


def test_a_cancelled_study_hands_out_nothing(store: Store, news: Path) -> None:
    start(store, plan(datasets=[{"name": str(news)}]), shards=3)
    drivers = ShardsHere(store, STUB, lambda shard: store.cancel_run(NAME, HOST) and None)
    outcome = study.drive_study(store, NAME, drivers, 1, QUIET)
    assert outcome.state == "interrupted"
    assert [shard.state for shard in store.shards(NAME)] == ["done", "interrupted", "interrupted"]
    assert drive(store, again := ShardsHere(store, STUB)).state == "done"
    assert again.started == [2, 3]


def test_articles_that_failed_are_tried_again_by_resume(store: Store, news: Path) -> None:
    pinned = plan(datasets=[{"name": str(news)}])
    start(store, pinned, shards=2)
    drive(store, ShardsHere(store, STUB))
    with store.writing() as connection:
        connection.exec_driver_sql(f"UPDATE runs SET failures = 1 WHERE id = '{NAME}-02'")
    assert store.run_info(NAME).failures == 1
    drive(store, again := ShardsHere(store, STUB))
    assert again.started == [2]
    assert store.run_info(NAME).failures == 0


def test_what_cannot_be_divided_is_refused(store: Store, news: Path) -> None:
    pinned = plan(datasets=[{"name": str(news)}])
    assert len(start(store, pinned, shards=100)) == 8, "there are no more shards than bundles"
    with pytest.raises(RecipeError, match="there may be 10000"):
        study.create_study(store, "other", _with_bundles(pinned), ONE_AT_A_TIME, None, 1, QUIET)


def _with_bundles(pinned: Pinned) -> Pinned:
    """A study of more bundles than there may be shards, as far as its size says."""
    from dataclasses import replace
    from types import SimpleNamespace

    import numpy as np

    many = SimpleNamespace(known=SimpleNamespace(ids=np.zeros(30_000)), name="many")
    return replace(pinned, corpora=(many,))  # type: ignore[arg-type]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(1, 4), st.integers(1, 40))
def test_parts_hold_each_article_once_and_whole_bundles(bundles: list[int], size: int, wanted: int) -> None:
    shards = min(wanted, sum(bundles))
    parts = list(parts_of(bundles, size, shards))
    assert len(parts) == shards
    for number, count in enumerate(bundles):
        of_dataset = [part[number] for part in parts if part[number] is not None]
        places = [place for begin, end in of_dataset for place in range(begin, end)]
        assert places == list(range(count * size))
        assert all(begin % size == 0 for begin, _ in of_dataset)
    lengths = [sum(end - begin for begin, end in filter(None, part)) // size for part in parts]
    assert max(lengths) - min(lengths) <= 1
    assert min(lengths) >= 1
