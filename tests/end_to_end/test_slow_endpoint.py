"""An endpoint that answers a byte at a time: Ctrl-C ends the run at once, and `nws resume` finishes it."""

import json
import signal
from collections import Counter
from pathlib import Path

import nws_process
import pytest
from hostile_server import eventually, hostile_server, naming
from openai_server import openai_server

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
        resume = ("resume", run_id, "--engine", "inline", "--json")
        again = nws_process.start(tmp_path, *resume, OPENAI_BASE_URL=server.url)
        assert nws_process.finish(again, 0)["articles"] == 2
    with open_store(f"sqlite:///{tmp_path}/nws.db", read_only=True) as store:
        assert store.run_info(run_id).state == "done"


def test_a_killed_driver_repeats_only_the_articles_under_way(tmp_path: Path) -> None:
    texts = [(f"Snow fell on town {i} and closed it.", f"Snow in {i}.") for i in range(40)]
    rows = [{"id": text, "article": text, "summary": summary} for text, summary in texts]
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = ("submit", "baselines", "--dataset", "news.jsonl", "--system", "openai:tiny", "--n", "2,3")
    asked += ("--set", "endpoint.concurrency=3", "--set", "endpoint.drafts=0")
    with openai_server() as server:
        process = nws_process.start(tmp_path, *asked, "--engine", "inline", "--json", OPENAI_BASE_URL=server.url)
        try:
            assert eventually(lambda: len(server.asked) >= 30, seconds=200)
        finally:
            nws_process.end(process)
        before = len(server.asked)
        with open_store(f"sqlite:///{tmp_path}/nws.db", read_only=True) as store:
            (run,) = store.list_runs()
        resume = ("resume", run.id, "--engine", "inline", "--json", "--take-over")
        again = nws_process.start(tmp_path, *resume, OPENAI_BASE_URL=server.url)
        assert nws_process.finish(again, 0)["articles"] == 40
        articles = Counter(body["messages"][0]["content"].split(" and closed")[0] for body in server.asked)
    repeated = [article for article, count in articles.items() if count > 2]
    assert before >= 30
    assert len(repeated) <= 3, "as many articles as requests may be under way"
