"""What is seen of a run in a real store."""

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from served_runs import MadeRun

from nws.core.errors import ClusterError
from nws.jobs.report.run_view import Viewer
from nws.jobs.store import Progress, Store


def test_the_span_goes_on_between_two_beats_and_while_the_driver_is_silent(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr("nws.jobs.drive.ship.time.monotonic", lambda: clock[0])
    run = MadeRun(store)
    viewer = Viewer(store, run.id)
    noted = datetime.now(UTC) - timedelta(seconds=20)  # it has found nothing to tell since
    run.writer.heartbeat(at=Progress(noted, "sweep", finished=2, total=4, span_seconds=10.0, span_finished=1))
    # 20 s for one, as 10 more are usual, and two are left
    assert viewer.read_live().seconds_left == pytest.approx(40.0, abs=2)
    clock[0] += 30
    assert viewer.read_live().seconds_left == pytest.approx(100.0, abs=2)
    clock[0] += 60
    with pytest.raises(ClusterError, match=f"is gone.*nws resume {run.id}"):
        viewer.read_live()


def test_each_statement_finds_its_rows_by_an_index(store: Store) -> None:
    """However many summaries a store holds."""
    run = MadeRun(store)
    run.write()
    run.fail()
    statements: list[tuple[str, object]] = []

    def note(connection, cursor, statement, parameters, context, executemany) -> None:
        statements.append((statement, parameters))

    sa.event.listen(store._reader, "before_cursor_execute", note)
    Viewer(store, run.id).read_live()
    sa.event.remove(store._reader, "before_cursor_execute", note)
    asked = [(sql, values) for sql, values in statements if sql.startswith("SELECT")]
    assert len(asked) == 5
    with store._reader.connect() as connection:
        for sql, values in asked:
            plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", values)]
            assert not [step for step in plan if step.startswith("SCAN")], (sql, plan)
