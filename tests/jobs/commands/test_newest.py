"""Commands that take the newest run unless one is named."""

import pytest

from jobs.store import LogLine, RunSpec, open_store


@pytest.fixture
def two_runs(nws, tmp_path) -> None:
    from datetime import UTC, datetime

    with open_store(f"sqlite:///{tmp_path}/nws.db") as store:
        for run_id in ("phase1-a", "phase1-b"):
            store.create_run(RunSpec("phase1", {}, "hash", 0, "v", {}, {}, 1), run_id)
            epoch = store.claim_run(run_id, "host", 1)
            store.writer(run_id, epoch).heartbeat([LogLine(datetime.now(UTC), f"hello from {run_id}")])
            store.writer(run_id, epoch).finish("done")


def test_logs(nws, two_runs) -> None:
    assert nws("logs").out.endswith("hello from phase1-b\n")
    assert nws("logs", "--follow").out.endswith("hello from phase1-b\n")
    assert nws("logs", "phase1-a").out.endswith("hello from phase1-a\n")
    assert "Run phase1-b was not submitted to a cluster" in nws("logs", "--job").err


def test_export_and_summarize_take_the_newest_with_what_they_need(nws, two_runs) -> None:
    for words in (("compare",), ("export", "--rows", "rows.csv")):
        assert "holds no run with summaries yet" in nws(*words).err
    for words in (("export", "--policy", "folder"), ("summarize", "Snow fell on Dover.")):
        refused = nws(*words)
        assert (refused.code, "holds no training yet. Start one with: nws submit phase2" in refused.err) == (1, True)
