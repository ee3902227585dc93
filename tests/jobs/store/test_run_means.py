"""What is kept of a run that has ended: the views read it, and give what they gave while the run went on."""

import pytest
import sqlalchemy as sa
from stored_rows import rows

from nws.core.article import Article
from nws.core.types import BundleResult
from nws.jobs.store import Store, means

VIEWS = ("sweep_curve", "best_n", "leaderboard")


@pytest.fixture
def going_on(store, run, summary):
    """A run with summaries of two datasets, one system of which lacks an article."""
    articles = [Article(dataset, "test", str(i), f"{dataset} {i}", ("r",)) for dataset in ("a", "b") for i in range(3)]
    made = [
        summary(article, system, n)
        for article in articles
        for system in ("lead", "mini|centroid")
        for n in (0, 3, 5)
        if (article, system) != (articles[0], "lead")
    ]
    store.writer(*run).record([(articles, BundleResult(tuple(made), ()))])
    return run


def views(store: Store):
    return {view: sorted(rows(store, f"SELECT * FROM {view}"), key=repr) for view in VIEWS}


def assert_same(found, expected):
    """But for what rounding does: Postgres adds up in another order each time."""
    for view, others in expected.items():
        for one, other in zip(found[view], others, strict=True):
            assert one == pytest.approx(other, abs=1e-7)


def kept(store: Store):
    return rows(store, "SELECT (SELECT COUNT(*) FROM run_means), (SELECT COUNT(*) FROM run_best_n)")[0]


def statements(engine: sa.Engine) -> list[str]:
    """The SQL that an engine is given from now on."""
    said: list[str] = []
    sa.event.listen(engine, "before_cursor_execute", lambda c, cursor, sql, *rest: said.append(sql))
    return said


@pytest.mark.parametrize("state", ["done", "failed", "interrupted"])
def test_the_views_of_a_run_that_has_ended_say_what_they_said_while_it_went_on(store, going_on, state):
    before = views(store)
    assert kept(store) == (0, 0)
    assert {view: len(found) for view, found in before.items()} == {"sweep_curve": 12, "best_n": 11, "leaderboard": 12}
    store.writer(*going_on).finish(state)
    assert kept(store) == (12, 11)
    assert_same(views(store), before)


def test_what_was_kept_before_is_not_kept_again(store, going_on, monkeypatch):
    """Neither where a driver ends the run, nor where it is cancelled without one."""
    store.writer(*going_on).finish("interrupted")
    monkeypatch.setattr("nws.jobs.store.runs.SILENT_SECONDS", 0.0)
    for n in (3, 5):
        epoch = store.claim_run(going_on[0], "host-b", 12)
        with store.writing() as connection:
            connection.exec_driver_sql(f"DELETE FROM summaries WHERE n = {n}")
        live = views(store)
        store.writer(going_on[0], epoch).finish("interrupted") if n == 3 else store.cancel_run(going_on[0], "host-a")
        assert kept(store)[0] == len(live["sweep_curve"])
        assert_same(views(store), live)


def test_a_driver_that_dies_before_all_is_kept_leaves_the_views_live(store, going_on, monkeypatch):
    """They stay right, and the next end of the run keeps everything."""
    before = views(store)

    def die(connection, run_id, epoch, means_cached, mark_cached=means.mark_cached):
        if means_cached:
            raise KeyboardInterrupt
        return mark_cached(connection, run_id, epoch, means_cached)

    with monkeypatch.context() as patched:
        patched.setattr(means, "mark_cached", die)
        with pytest.raises(KeyboardInterrupt):
            store.writer(*going_on).finish("done")
    assert (store.run_info(going_on[0]).state, kept(store)) == ("done", (12, 11))
    with store.writing() as connection:
        connection.exec_driver_sql("DELETE FROM run_best_n WHERE system = 'lead'")
    assert_same(views(store), before)
    store.writer(*going_on).finish("done")  # as after a lost answer
    assert kept(store) == (12, 11)
    assert_same(views(store), before)


def test_who_takes_the_run_while_it_is_kept_has_it(store, going_on, monkeypatch):
    run_id, taken = going_on[0], []

    def take_first(connection, run_id, pieces=means.live_pieces):
        taken.append(store.claim_run(run_id, "host-b", 12))
        yield from pieces(connection, run_id)

    before = views(store)
    with monkeypatch.context() as patched:
        patched.setattr(means, "live_pieces", take_first)
        store.writer(*going_on).finish("done")
    assert (store.run_info(run_id).driver_epoch, kept(store)) == (taken[0], (0, 0))
    assert_same(views(store), before)
    store.writer(run_id, taken[0]).finish("done")
    assert kept(store) == (12, 11)
    assert_same(views(store), before)


def test_no_writer_waits_for_another_to_count(store, spec, going_on):
    """Taking, starting and ending a run read no summary inside the transaction that holds the lock."""
    said = statements(store._writer)
    store.writer(*going_on).finish("done")
    epoch = store.claim_run(going_on[0], "host-b", 12)
    store.writer(going_on[0], epoch).start("cpu", "0.1.0", {"lead": "control"})
    store.writer(going_on[0], epoch).note_workers("cpu", ["MKL"])
    store.writer(going_on[0], epoch).finish("failed", "disk full")
    store.cancel_run(going_on[0], "host-b")
    assert len(said) > 10
    assert [sql for sql in said if "FROM summaries" in sql or "FROM live_" in sql] == []


def test_ls_status_and_logs_read_no_summary(store, going_on):
    said = statements(store._reader)
    assert store.list_runs() == [store.run_info(going_on[0])]
    store.log(going_on[0])
    assert len(said) >= 3
    assert [sql for sql in said if "FROM summaries" in sql or "FROM failures" in sql] == []
