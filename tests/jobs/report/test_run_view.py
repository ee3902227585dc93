"""What is seen of a run in a real store."""

from datetime import UTC, datetime, timedelta

import pytest
from made_scores import make_scores

from core.errors import ClusterError
from core.types import Article, BundleResult, Failure, Score, Summary
from jobs.report.run_view import Viewer, status_json
from jobs.store import ActorShare, Progress, RunSpec, Store

SPEC = RunSpec("phase1", {}, "hash", 0, "v", {}, {}, systems=1)
ARTICLES = [Article("news", "test", f"a{i}", f"Text {i}.", ("Reference.",)) for i in range(3)]
SYSTEMS = {"lead": "control"}


@pytest.fixture
def run(store: Store) -> tuple[str, int]:
    run_id = store.create_run(SPEC)
    epoch = store.claim_run(run_id, "elsewhere", 1)
    store.writer(run_id, epoch).start("2 x 1 CPU", "v", SYSTEMS)
    store.writer(run_id, epoch).set_total(3)
    return run_id, epoch


def store_one(store: Store, run: tuple[str, int], article: Article) -> None:
    made = Summary(article.id, "lead", 3, "lead 3", 3, 0.1, make_scores(Score(0.5, 0.5, 0.5), efficiency=0.1))
    store.writer(*run).record([([article], BundleResult((made,), ()))])


def fail_one(store: Store, run: tuple[str, int], article: Article) -> None:
    failed = Failure(article.id, "ValueError", "cannot be swept", 1, "node-1")
    store.writer(*run).record([([article], BundleResult((), (failed,)))])


def test_a_run_from_its_submission_to_its_end(store: Store) -> None:
    run_id = store.create_run(SPEC)
    viewer = Viewer(store, run_id)
    first = viewer.look()
    assert (first.run.state, first.progress, first.has_ended, first.seconds_left) == ("pending", None, False, None)

    run = run_id, store.claim_run(run_id, "elsewhere", 1)
    store.writer(*run).start("2 x 1 CPU", "v", SYSTEMS)
    store_one(store, run, ARTICLES[0])
    fail_one(store, run, ARTICLES[1])
    now = datetime.now(UTC)
    actor = ActorShare(0, "Xeon", "elsewhere", 0.9)
    at = Progress(now, "sweep", "articles", 2, 1, 3, 4.0, 1, (actor,), ARTICLES[0].id)
    store.writer(*run).heartbeat(at=at)
    seen = viewer.look()
    assert (seen.progress, seen.run.articles_done, seen.run.failures) == (at, 1, 1)
    assert [reason.key for reason in seen.reasons] == ["a1"]
    assert seen.newest == ARTICLES[0].id
    told = status_json(store, seen)
    assert (told["state"], told["failed_articles"][0]["message"]) == ("running", "cannot be swept")
    progress = told["progress"]
    assert (progress["finished"], progress["total"], progress["actors"][0]["busy"]) == (2, 3, 0.9)

    store_one(store, run, ARTICLES[2])
    store.writer(*run).finish("done")
    last = viewer.look()
    assert (last.has_ended, last.run.state, last.progress, last.seconds_left) == (True, "done", None, None)
    assert last.newest == ARTICLES[0].id  # what was written stays to be seen
    assert status_json(store, last)["progress"] is None


def test_the_span_goes_on_between_two_beats_and_while_the_driver_is_silent(
    store: Store, run: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr("jobs.drive.ship.time.monotonic", lambda: clock[0])
    viewer = Viewer(store, run[0])
    noted = datetime.now(UTC) - timedelta(seconds=20)  # it has found nothing to tell since
    store.writer(*run).heartbeat(at=Progress(noted, "sweep", finished=2, total=4, span_seconds=10.0, span_finished=1))
    # 20 s for one, as 10 more are usual, and two are left
    assert viewer.look().seconds_left == pytest.approx(40.0, abs=2)
    clock[0] += 30
    seen = viewer.look()
    assert (seen.silent_seconds, seen.seconds_left) == (30, pytest.approx(100.0, abs=2))
    clock[0] += 60
    with pytest.raises(ClusterError, match=f"is gone.*nws resume {run[0]}"):
        viewer.look()


def test_each_statement_finds_its_rows_by_an_index(store: Store, run: tuple[str, int]) -> None:
    """However many summaries a store holds."""
    import sqlalchemy as sa

    store_one(store, run, ARTICLES[0])
    fail_one(store, run, ARTICLES[1])
    store.writer(*run).heartbeat(at=Progress(datetime.now(UTC), "sweep", newest=ARTICLES[0].id))
    statements: list[tuple[str, object]] = []

    def note(connection, cursor, statement, parameters, context, executemany) -> None:
        statements.append((statement, parameters))

    sa.event.listen(store._reader, "before_cursor_execute", note)
    Viewer(store, run[0]).look()
    sa.event.remove(store._reader, "before_cursor_execute", note)
    asked = [(sql, values) for sql, values in statements if sql.startswith("SELECT")]
    assert len(asked) == 5
    with store._reader.connect() as connection:
        for sql, values in asked:
            plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", values)]
            assert not [step for step in plan if step.startswith("SCAN")], (sql, plan)
