"""What is read of a sharded run is what is read of one run; of its shards, each is claimed by one driver at a time."""

import dataclasses
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from stored_rows import objects, rows

from nws.core.errors import FencedError, StoreError
from nws.core.metrics.kept import Panel
from nws.core.types import BundleResult
from nws.jobs.report.summary_rows import write_summary_rows
from nws.jobs.store import Store, open_store
from nws.jobs.store.queries import VIEWS
from nws.jobs.store.runs import DRIVER_DIED
from nws.jobs.store.tables import Base

PARENT = "phase1-20261124-abcdef"
HOST = "elsewhere"
SYSTEMS = {"lead": "control", "mini|centroid": "system"}


@pytest.fixture
def sharded(store, spec, articles):
    """A run of the four articles in three shards, and its epoch."""
    spec = dataclasses.replace(spec, revisions=spec.revisions | {"datasets": {"news": "test@1"}})
    shards = [(spec, count) for count in (2, 1, 1)]
    panels = (Panel("news", tuple(sorted(articles, key=lambda article: article.id))),)
    ids = store.create_sharded_run(spec, PARENT, 2, "en", panels, SYSTEMS, shards)
    assert ids == [f"{PARENT}-{number:02}" for number in (1, 2, 3)]
    assert store.parent_decided(ids[1]) == ("en", panels)
    assert store.parent_decided(PARENT) == (None, None)
    return PARENT, store.claim_run(PARENT, "host-a", 11)


def do(store: Store, run_id: str, epoch: int, landed, state="done") -> None:
    writer = store.writer(run_id, epoch)
    writer.start("cpu", "v", SYSTEMS)
    writer.record(landed)
    writer.finish(state)


def do_shards(store, sharded, articles, sweep, failure) -> None:
    """The first three articles get summaries, of the third by one system alone, and the last fails."""
    parts = [articles[:2], articles[2:3], articles[3:]]
    for number, part in enumerate(parts, start=1):
        shard, _ = store.claim_shard(*sharded, HOST, 12)
        result = failure(part[0]) if number == 3 else _names_or_count(sweep(part), "lead" if number == 2 else None)
        do(store, shard.id, shard.driver_epoch, [(part, result)])


def _names_or_count(result: BundleResult, only: str | None) -> BundleResult:
    return BundleResult(tuple(one for one in result.summaries if only in (None, one.system)), ())


def one_run(store, spec, articles, sweep, failure) -> str:
    run_id = store.create_run(spec)
    landed = [
        (articles[:2], sweep(articles[:2])),
        (articles[2:3], _names_or_count(sweep(articles[2:3]), "lead")),
        (articles[3:], failure(articles[3])),
    ]
    do(store, run_id, store.claim_run(run_id, HOST, 13), landed)
    return run_id


def view(store, name: str, run_id: str) -> dict[tuple, dict]:
    found = objects(store, f"SELECT * FROM {name} WHERE run_id = '{run_id}'")
    return {(row["dataset"], row["system"], row["n"]): row | {"run_id": "", "parent": ""} for row in found}


def test_the_views_have_the_means_of_one_run(store, spec, sharded, articles, sweep, failure):
    one = one_run(store, spec, articles, sweep, failure)
    do_shards(store, sharded, articles, sweep, failure)
    for state in ("running", "done"):
        if state == "done":
            store.writer(*sharded).finish("done")
        for name in ("sweep_curve", "leaderboard"):
            of_all, of_one = view(store, name, sharded[0]), view(store, name, one)
            assert of_all.keys() == of_one.keys()
            for place, row in of_one.items():
                assert of_all[place] == pytest.approx(row, abs=1e-12), (state, name, place)
    assert rows(store, f"SELECT COUNT(*) FROM best_n WHERE parent = '{sharded[0]}'") == [(5,)]
    # A shard that is resumed takes the stored means of its parent with it.
    store.claim_run(f"{PARENT}-01", HOST, 14)
    assert rows(store, f"SELECT COUNT(*) FROM run_means WHERE run_id = '{PARENT}'") == [(0,)]


def test_all_reads_of_a_run_read_a_sharded_one(store, spec, sharded, articles, sweep, failure, tmp_path: Path):
    one = one_run(store, spec, articles, sweep, failure)
    do_shards(store, sharded, articles, sweep, failure)
    store.writer(*sharded).finish("done")
    ids = (PARENT, one)
    infos = [store.run_info(run_id) for run_id in ids]
    for count in ("articles_done", "summaries", "reused", "failures", "device", "code_version"):
        assert getattr(infos[0], count) == getattr(infos[1], count), count
    assert (infos[0].shards, infos[0].total_articles, infos[1].shards) == (3, 4, None)
    for read in (store.content_hashes, lambda run_id: sorted(store.finished_article_ids(run_id))):
        assert read(ids[0]) == read(ids[1])
    of_all, of_one = ([dataclasses.replace(f, failed_at=None) for f in store.failures(run_id)] for run_id in ids)
    assert of_all == of_one
    assert [len(store.failures(run_id, newest=5)) for run_id in ids] == [1, 1]
    assert store.lengths(ids[0], "lead") == [0, 3, 5]
    for read in (
        store.systems,
        lambda run_id: store.lengths(run_id, "lead"),
        lambda run_id: [store.find_articles(run_id, name, 5) for name in ("a1", articles[3].id[:8], "the COUNCIL")],
        lambda run_id: store.summaries(run_id, articles[1].id),
    ):
        assert read(ids[0]) == read(ids[1])
    exported = []
    for run_id, info in zip(ids, infos, strict=True):
        write_summary_rows(store, info, tmp_path / f"{run_id}.jsonl", True)
        lines = (tmp_path / f"{run_id}.jsonl").read_text().splitlines()
        exported.append([json.loads(line) | {"run_id": ""} for line in lines])
    assert exported[0] == exported[1]


def end(store, shard, state, error=None) -> None:
    store.writer(shard.id, shard.driver_epoch).finish(state, error)


def test_a_shard_is_claimed_once_and_again_when_its_driver_has_died(store, sharded):
    first, _ = store.claim_shard(*sharded, "another-host", 1)
    second, _ = store.claim_shard(*sharded, HOST, 2)
    assert [first.id, second.id] == [f"{PARENT}-01", f"{PARENT}-02"]
    again, _ = store.claim_shard(*sharded, HOST, 2)  # by the driver that did not get the answer
    assert (again.id, again.driver_epoch) == (second.id, second.driver_epoch + 1)
    end(store, again, "failed", f"{DRIVER_DIED}: killed")
    third, _ = store.claim_shard(*sharded, HOST, 3)
    assert third.id == f"{PARENT}-03", "one that waits comes first"
    of_dead, _ = store.claim_shard(*sharded, HOST, 4)
    assert of_dead.id == second.id
    assert store.claim_shard(*sharded, HOST, 5) == (None, True)
    with store.writing() as connection:  # nobody has heard of the first
        connection.exec_driver_sql(f"UPDATE runs SET heartbeat_at = '2020-01-01' WHERE id = '{first.id}'")
    silent, _ = store.claim_shard(*sharded, HOST, 5)
    assert (silent.id, silent.driver_epoch) == (first.id, first.driver_epoch + 1)
    for shard in (silent, third, of_dead):
        end(store, shard, "done")
    assert store.claim_shard(*sharded, HOST, 6) == (None, False)


def test_nothing_is_claimed_of_a_run_that_was_cancelled_or_has_another_parent_process(store, sharded):
    shard, _ = store.claim_shard(*sharded, "another-host", 1)
    assert store.cancel_run(PARENT, "host-a"), "its drivers are asked, too"
    assert store.run_info(shard.id).cancel_requested_at is not None
    assert [one.state for one in store.shards(PARENT)] == ["running", "interrupted", "interrupted"]
    assert store.claim_shard(*sharded, HOST, 2) == (None, False)
    newer = store.claim_run(PARENT, "host-b", 12, take_over=True)
    store.open_shards(PARENT, newer, 4, None)
    assert store.shard_drivers(PARENT) == 4
    assert store.claim_shard(*sharded, HOST, 2) == (None, False)
    with pytest.raises(FencedError):
        store.open_shards(*sharded, 2, None)
    claimed, _ = store.claim_shard(PARENT, newer, HOST, 2)
    assert claimed.id == f"{PARENT}-02"


def test_of_several_drivers_at_once_each_claims_other_shards(store, spec):
    store.create_sharded_run(spec, PARENT, 4, "en", (), SYSTEMS, [(spec, 1)] * 60)
    epoch = store.claim_run(PARENT, HOST, 1)

    def drive(number: int) -> list[str]:
        claimed = []
        with open_store(store.url) as own:
            while shard := own.claim_shard(PARENT, epoch, f"host-{number}", 1)[0]:
                claimed.append(shard.id)
                own.writer(shard.id, shard.driver_epoch).finish("done")
        return claimed

    with ThreadPoolExecutor(4) as threads:
        claimed = list(threads.map(drive, range(4)))
    assert sorted(shard for of_one in claimed for shard in of_one) == [shard.id for shard in store.shards(PARENT)]
    assert {shard.driver_epoch for shard in store.shards(PARENT)} == {1}


def test_a_sharded_run_is_removed_with_all_that_is_its(store, sharded, articles, sweep, failure):
    do_shards(store, sharded, articles, sweep, failure)
    with pytest.raises(StoreError, match=f"is running. Stop it and its shards first: nws cancel {PARENT}"):
        store.remove_run(PARENT, HOST)
    store.writer(*sharded).finish("done")
    with pytest.raises(StoreError, match=f"is a shard of '{PARENT}'.*nws rm {PARENT}"):
        store.remove_run(f"{PARENT}-01", HOST)
    store.claim_run(f"{PARENT}-01", "another-host", 1)
    with pytest.raises(StoreError, match=r"is done\. Stop it and its shards first"):
        store.remove_run(PARENT, HOST)
    store.writer(f"{PARENT}-01", store.run_info(f"{PARENT}-01").driver_epoch).finish("done")
    assert store.remove_run(PARENT, HOST) == 4
    for table in (*Base.metadata.tables, *VIEWS):
        assert rows(store, f"SELECT COUNT(*) FROM {table}") == [(0,)], table
