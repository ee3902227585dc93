"""`nws rm` asks before it removes."""

import io

import pytest

from jobs.store import RunSpec, open_store


@pytest.fixture
def ended(nws, tmp_path) -> str:
    with open_store(f"sqlite:///{tmp_path}/nws.db") as store:
        run_id = store.create_run(RunSpec("phase1", {}, "hash", 0, "v", {}, {}, 1), "phase1-x")
        store.writer(run_id, store.claim_run(run_id, "host", 1)).finish("done")
    return run_id


@pytest.mark.parametrize(("answer", "left"), [("y\n", 0), ("n\n", 1), ("", 1)])
def test_it_asks_first(nws, ended, monkeypatch, answer, left) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    result = nws("rm", ended)
    assert result.code == left
    assert f"{ended} in sqlite:///nws.db: done, 0 articles, 0 summaries" in result.err
    assert "Remove it for good?" in result.err
    assert len(nws("ls", "--json").json) == left


def test_yes_asks_nothing(nws, ended) -> None:
    assert nws("rm", ended, "--json").code == 2
    assert nws("rm", ended, "--yes", "--json").json == {"removed": ended, "summaries": 0, "articles": 0}
    assert nws("rm", ended, "--yes").code == 1
