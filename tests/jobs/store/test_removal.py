"""A run that is removed leaves nothing of itself, and all of the others."""

import struct
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text, update

from nws.core.errors import StoreError
from nws.jobs.store import LogLine, Progress, Store, lifecycle
from nws.jobs.store.tables import Base, RunRow, SummaryRow

HOST = "elsewhere"


def rows(store: Store, table: str) -> list[tuple[object, ...]]:
    with store.query(f"SELECT * FROM {table}") as answer:
        return sorted(tuple(map(str, row)) for row in answer.rows)


def everything(store: Store) -> dict[str, list[tuple[object, ...]]]:
    return {table: rows(store, table) for table in Base.metadata.tables}


def full_run(store, spec, articles, sweep, failure, make_round, now) -> str:
    """A run that has a row in every table, and has ended."""
    run_id = store.create_run(spec)
    epoch = store.claim_run(run_id, "host-a", 11)
    store.writer(run_id, epoch).start(None, "v", {"lead": "control", "mini|centroid": "system"})
    store.writer(run_id, epoch).heartbeat([LogLine(now, "hello")], Progress(now, "sweep"))
    store.writer(run_id, epoch).record([(articles[:-1], sweep(articles[:-1])), (articles[-1:], failure(articles[-1]))])
    store.writer(run_id, epoch).record_round([make_round(articles[:2], "joint", greedy=True)])
    with store.writing() as connection:
        of_run = update(RunRow).where(RunRow.id == run_id)
        connection.execute(of_run.values(signatures={"kept": "made"}, word_kinds="made"))
        of_summaries = update(SummaryRow).where(SummaryRow.run_id == run_id)
        connection.execute(of_summaries.values(kept=0.5, kinds=struct.pack("<16e", *[0.25] * 16)))
    store.writer(run_id, epoch).finish("done")
    return run_id


@pytest.fixture
def make(store, spec, sweep, failure, make_round):
    from datetime import UTC, datetime

    return lambda articles: full_run(store, spec, articles, sweep, failure, make_round, datetime.now(UTC))


def test_it_leaves_nothing(store, make, articles):
    run_id = make(articles)
    # A row in every table but those of sharded runs (tests/jobs/store/test_sharded_runs.py), so that none is forgotten.
    assert {table for table, found in everything(store).items() if not found} == {"sharded_runs"}
    assert store.remove_run(run_id, HOST) == 4
    assert not any(everything(store).values())
    with pytest.raises(StoreError, match="no run"):
        store.remove_run(run_id, HOST)


def test_other_runs_and_their_articles_stay_as_they_are(store, make, articles):
    kept = make(articles[1:])
    before = everything(store)
    assert store.remove_run(make(articles[:3]), HOST) == 1
    assert everything(store) == before
    assert store.remove_run(kept, HOST) == 3


@pytest.mark.parametrize("state", ["pending", "running"])
def test_a_run_in_work_is_refused(store, spec, state):
    run_id = store.create_run(spec)
    if state == "running":
        store.claim_run(run_id, "host-a", 11)
    with pytest.raises(StoreError, match=f"is {state}. Stop it and its shards first: nws cancel {run_id}"):
        store.remove_run(run_id, HOST)
    assert store.run_info(run_id).state == state


def test_a_driver_that_seemed_dead_can_store_nothing_more(store, run, articles, sweep, monkeypatch):
    monkeypatch.setattr("nws.jobs.store.runs.SILENT_SECONDS", -1.0)
    store.remove_run(run[0], HOST)
    with pytest.raises(StoreError, match="no run"):
        store.writer(*run).record([(articles, sweep(articles))])
    assert not any(everything(store).values())


def test_while_another_run_is_in_work_articles_wait_for_the_next_removal(store, make, articles, spec):
    other = store.create_run(spec)
    assert store.remove_run(make(articles), HOST) == 0
    assert len(rows(store, "articles")) == 4
    store.cancel_run(other, HOST)
    assert store.remove_run(other, HOST) == 4
    assert rows(store, "articles") == []


@pytest.mark.parametrize("store_url", ["postgres"], indirect=True)
def test_an_article_that_is_being_removed_is_stored_again_by_who_uses_it(store, spec, articles, sweep, monkeypatch):
    """No foreign key would tell: who removes articles keeps others from storing any until it has done so."""
    is_removing, may_go_on = threading.Event(), threading.Event()
    remove = lifecycle._remove_orphans

    def slowly(connection):
        number = remove(connection)
        is_removing.set()
        assert may_go_on.wait(60)
        return number

    def ended(run_id: str) -> str:
        writer = store.writer(store.create_run(spec, run_id), store.claim_run(run_id, "host-a", 1))
        writer.record([(articles, sweep(articles))])
        writer.finish("done")
        return run_id

    ended("old")
    monkeypatch.setattr(lifecycle, "_remove_orphans", slowly)
    with ThreadPoolExecutor(2) as threads:
        removed = threads.submit(store.remove_run, "old", "elsewhere")
        assert is_removing.wait(60)
        new = threads.submit(ended, "new")
        with store.reading() as connection:
            waits = text("SELECT COUNT(*) FROM pg_locks WHERE NOT granted")
            while not new.done() and not connection.execute(waits).scalar_one():
                pass
        has_waited = not new.done()
        may_go_on.set()
        assert (removed.result(), new.result(), has_waited) == (4, "new", True)
    assert len(store.points("new")) == 24
    assert len(rows(store, "articles")) == 4
