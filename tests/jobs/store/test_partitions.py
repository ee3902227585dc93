"""Postgres: the summaries of a run are a table of their own, which goes with the run."""

import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from sqlalchemy import text

from core.errors import StoreError, StoreUnavailableError
from core.types import Article
from jobs.store import Store, lifecycle, open_store
from jobs.store.results import insert_summaries, new_summaries

PARTITIONS = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'summaries'::regclass ORDER BY 1"


def partitions(store: Store) -> list[str]:
    with store.query(PARTITIONS) as answer:
        return [name.strip('"') for (name,) in answer.rows]


@pytest.fixture
def store(postgres_url):
    with open_store(postgres_url) as opened:
        yield opened


def ended(store, spec, articles, sweep, run_id=None) -> str:
    run_id = store.create_run(spec, run_id)
    writer = store.writer(run_id, store.claim_run(run_id, "host-a", 1))
    writer.record([(articles, sweep(articles))])
    writer.finish("done")
    return run_id


def test_a_run_has_one_from_its_creation_to_its_removal(store, spec, articles, sweep):
    first, second = ended(store, spec, articles, sweep), ended(store, spec, articles, sweep, "another-2")
    assert len(partitions(store)) == 2
    with store.query("SELECT tableoid::regclass::text, COUNT(*) FROM summaries GROUP BY 1") as answer:
        assert sorted(count for _, count in answer.rows) == [24, 24]
    assert store.remove_run(second, "elsewhere") == 0
    assert partitions(store) == [f"summaries_{first}"]
    assert store.remove_run(first, "elsewhere") == 4
    assert partitions(store) == []


def test_a_row_of_no_run_is_refused(store, articles, summary):
    with pytest.raises(StoreError, match="no partition"), store.writing() as connection:
        insert_summaries(connection, new_summaries("phase1-of-nobody", [summary(articles[0])]))


def test_while_somebody_reads_another_run_a_removal_goes_on_and_the_next_one_drops_both(
    store, spec, articles, sweep, postgres_url
):
    read, removed, last = (ended(store, spec, articles, sweep) for _ in range(3))
    with psycopg.connect(postgres_url) as reader:
        reader.execute("SELECT COUNT(*) FROM summaries WHERE run_id = %s", (read,))  # locks until it commits
        assert store.remove_run(removed, "elsewhere") == 0
        assert f"summaries_{removed}" in partitions(store)
        reader.rollback()
    store.remove_run(last, "elsewhere")
    assert partitions(store) == [f"summaries_{read}"]
    assert len(store.points(read)) == 24


def test_what_a_driver_does_locks_no_partition_but_its_own(store, run, spec, articles, sweep, postgres_url):
    """Also when it has done it so often that Postgres would plan it once for all runs."""
    other = ended(store, spec, articles, sweep)
    many = [Article("news", "test", str(number), f"text {number}", ("r",)) for number in range(20)]
    with psycopg.connect(postgres_url) as remover:
        remover.execute(f'LOCK TABLE ONLY "summaries_{other}" IN ACCESS EXCLUSIVE MODE')
        with store.writing() as connection:
            connection.exec_driver_sql("SET SESSION lock_timeout = '1s'")
        for article in many:
            store.writer(*run).record([([article], sweep([article]))])
            store.finished_article_ids(run[0])
    assert store.run_info(run[0]).articles_done == 20


def test_an_article_that_is_being_removed_is_stored_again_by_who_uses_it(store, spec, articles, sweep, monkeypatch):
    """No foreign key would tell: who removes articles keeps others from storing any until it has done so."""
    old, is_removing, may_go_on = ended(store, spec, articles, sweep), threading.Event(), threading.Event()
    remove = lifecycle._remove_orphans

    def slowly(connection):
        number = remove(connection)
        is_removing.set()
        assert may_go_on.wait(60)
        return number

    monkeypatch.setattr(lifecycle, "_remove_orphans", slowly)
    with ThreadPoolExecutor(2) as threads:
        removed = threads.submit(store.remove_run, old, "elsewhere")
        assert is_removing.wait(60)
        new = threads.submit(ended, store, spec, articles, sweep, "new")
        with store.reading() as connection:
            waits = text("SELECT COUNT(*) FROM pg_locks WHERE NOT granted")
            while not new.done() and not connection.execute(waits).scalar_one():
                pass
        has_waited = not new.done()
        may_go_on.set()
        assert (removed.result(), new.result(), has_waited) == (4, "new", True)
    assert len(store.points("new")) == 24
    with store.query("SELECT COUNT(*) FROM articles") as answer:
        assert list(answer.rows) == [(4,)]


def test_a_connection_that_is_lost_while_rows_are_copied_is_tried_again(store, run, articles, sweep, monkeypatch):
    ids = [article.id for article in articles]
    lost = []
    real = psycopg.Copy.write_row

    def write_row(copy, row):
        if not lost and row[1] == ids[-1]:
            lost.append(copy.connection.info.backend_pid)
            with store.reading() as connection:
                connection.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": lost[0]})
        real(copy, row)

    monkeypatch.setattr(psycopg.Copy, "write_row", write_row)
    with pytest.raises(StoreUnavailableError):
        store.writer(*run).record([(articles, sweep(articles))])
    assert store.run_info(run[0]).summaries == 0
    lost.clear()
    told = []
    waiting = store.waiting(told.append)
    waiting.writer(*run).record([(articles, sweep(articles))])
    assert told[-1] == "The store is back."
    info = store.run_info(run[0])
    assert (info.summaries, info.articles_done, len(store.points(run[0]))) == (24, 4, 24)
