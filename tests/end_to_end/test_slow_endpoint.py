"""An endpoint that answers a byte at a time: Ctrl-C ends the run at once, and `nws resume` finishes it."""

import json
import signal
from pathlib import Path

import nws_process
import pytest
from hostile_server import eventually, hostile_server, naming

from nws.jobs.store import open_store

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]


@pytest.mark.parametrize("engine", ["inline", "ray"])
def test_ctrl_c_ends_a_run_whose_endpoint_does_not_end(tmp_path: Path, engine: str) -> None:
    rows = [{"id": trick, "article": naming(trick), "summary": "Snow fell."} for trick in ("slow-body", "silence")]
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with hostile_server() as server:
        process = nws_process.start(
            *(tmp_path, "submit", "baselines", "--dataset", "news.jsonl", "--system", "openai:tiny", "--n", "3"),
            *("--engine", engine, "--json"),
            OPENAI_BASE_URL=server.url,
        )
        try:
            assert eventually(lambda: {"slow-body", "silence"} <= server.played.keys(), seconds=200)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)  # one attempt may take two minutes
        finally:
            nws_process.end(process)
        assert process.returncode == 130, err
        assert "Traceback" not in err
        run_id = json.loads(out.splitlines()[-1])["run_id"]
        assert eventually(lambda: server.open == 0)
        server.honest = True
        again = nws_process.start(
            tmp_path, "resume", run_id, "--engine", "inline", "--json", OPENAI_BASE_URL=server.url
        )
        try:
            assert nws_process.finish(again, 0)["articles"] == 2
        finally:
            nws_process.end(again)
    with open_store(f"sqlite:///{tmp_path}/nws.db", read_only=True) as store:
        assert store.run_info(run_id).state == "done"
