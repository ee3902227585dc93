"""What the pages show of a store, whoever filled it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from served_runs import HARM, MadeRun
from starlette.testclient import TestClient

from nws.core.errors import NwsError
from nws.jobs.report.page.page import collect, render
from nws.jobs.serve import app
from nws.jobs.serve.app import make_app
from nws.jobs.store import RunInfo, RunSpec, Store, open_store

PARTS_OF_A_RUN = {"state", "answer", "progress", "written", "failures", "log"}
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def client(store: Store, tmp_path: Path) -> Iterator[TestClient]:
    with open_store(f"sqlite:///{tmp_path / 'nws.db'}", read_only=True) as opened:
        yield TestClient(make_app(opened, None, 8300), base_url="http://localhost")


def test_the_list_has_what_is_known_of_each_run(client: TestClient, store: Store) -> None:
    working, gone = MadeRun(store, name="breakfast"), MadeRun(store, "other")
    ended, without = MadeRun(store, kept=True), MadeRun(store)
    working.write(3)
    working.fail()
    gone.end("failed", "the cat")
    for made in (ended, without):
        made.write(30)
        made.end()
    text = client.get("/").text
    assert "4 runs" in text
    lines = {run: next(line for line in text.split("<tr") if run.id in line) for run in (working, gone, ended, without)}
    for told in (
        *("breakfast", "running", "3/30 articles", "1 failed", ">news<small>n = 3, 7<", " articles/s"),
        f"/runs/{working.id}",
    ):
        assert told in lines[working], told
    assert ">failed<" in lines[gone]
    assert re.search(r">7 words keep \d+ % \(m\|textrank\)<", lines[ended])
    assert "–</td>" in lines[without]


def test_a_search_by_words_and_several_pages(client: TestClient, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "nws submit phase1" in client.get("/").text  # the store is empty
    runs = {name: MadeRun(store, name=name) for name in ("apple", "50%_pear", "plum")}
    runs["plum"].end()

    def found(**query: str) -> set[str]:
        text = client.get("/", params=query).text
        return {name for name, run in runs.items() if f'href="/runs/{run.id}"' in text}

    assert found() == found(page="none") == set(runs)
    assert found(q="APPLE") == {"apple"}
    assert found(q="%_p") == {"50%_pear"}
    assert found(q=runs["plum"].id) == found(q="done") == {"plum"}
    assert "No run matches" in client.get("/", params={"q": "a\0' OR 1=1 --"}).text
    monkeypatch.setattr(app, "RUNS_OF_A_PAGE", 1)
    assert found(q="phase1 running") == {"50%_pear"}
    assert found(q="phase1 running", page="2") == {"apple"}
    assert "/?q=phase1%20running&amp;page=2" in client.get("/?q=phase1 running").text


def test_a_run_in_work(client: TestClient, store: Store) -> None:
    run = MadeRun(store, address="http://head:8265")
    run.write(2)
    run.fail()
    text = client.get(f"/runs/{run.id}").text
    for told in (
        *("running: its driver is process 1 on elsewhere", "sweep: 2/30 articles, 1 failed", " articles/s", "left"),
        *("m|textrank wrote 7 of news1", "EmptyArticleError: no word in news"),
        *("stored 2 of news", 'href="http://head:8265"', "/script.js"),
    ):
        assert told in text, told
    assert "Findings" not in text
    with store.writing() as connection:
        connection.execute(sa.text("update runs set heartbeat_at = '2026-01-01 00:00:00'"))
    assert f"nws resume {run.id}" in client.get(f"/runs/{run.id}").text
    assert ">stale<" in client.get("/").text


def test_a_run_that_has_ended_says_what_it_found_and_has_its_report(client: TestClient, store: Store) -> None:
    run = MadeRun(store, kept=True)
    run.write(30)
    run.end()
    text = client.get(f"/runs/{run.id}").text
    assert "<svg" in text
    assert "keep" in text.split('class="headline"')[2]
    assert "<script" not in text  # nothing changes any more
    answer = client.get(f"/report?run={run.id}")
    page, policy = answer.text, answer.headers["content-security-policy"]
    assert "script-src 'sha256-" in policy
    assert "frame-ancestors 'none'" in policy
    links = {"All runs": "/", f"Run {run.id}": f"/runs/{run.id}"}
    assert page == render(collect(store, [run.id], "bertscore_f1"), links)
    for name, address in links.items():
        assert f'<a href="{address}">{name}</a>' in page


def test_where_nothing_was_found_it_is_said(client: TestClient, store: Store) -> None:
    failed = MadeRun(store).end("failed", "no model")
    text = client.get(f"/runs/{failed}").text
    assert "failed (no model)" in text
    assert "The run has no summaries." in text
    assert "no summaries" in client.get(f"/report?run={failed}").text


def test_runs_that_are_chosen_are_on_one_page(client: TestClient, store: Store) -> None:
    a, b, other = MadeRun(store, name="first"), MadeRun(store, name="second", seed=9), MadeRun(store, "other")
    for run in (a, b, other):
        run.write(12)
    text = client.get(f"/report?run={a.id}&run={b.id}").text
    assert " vs. " in text
    assert all(f'<a href="/runs/{run.id}">Run {run.id}</a>' in text for run in (a, b))
    refused = client.get(f"/report?run={a.id}&run={other.id}")
    assert (refused.status_code, "This cannot be shown" in refused.text) == (409, True)
    for query, status, told in (("?run=%3Cb%3E", 404, "the store has no run"), ("", 400, "Tick runs on the list")):
        answer = client.get(f"/report{query}")
        assert (answer.status_code, told in answer.text, "<b>" in answer.text) == (status, True, False)


def test_whatever_a_store_holds_stays_text(client: TestClient, store: Store) -> None:
    run = MadeRun(store, HARM, (f"m|{HARM}", "lead", "random"), name=HARM, host=HARM, address=f"https://x/{HARM}")
    run.write(3)
    run.fail()
    addresses = ["/", "/?q=%3Cscript%3E", f"/runs/{run.id}", f"/report?run={run.id}"]
    pages = [client.get(address).text for address in addresses]
    run.end("failed", f"error {HARM}")
    MadeRun(store, address="javascript:alert(1)")
    store.create_run(RunSpec("phase1", {}, "hash", 0, "v", {}, {}, systems=1), "../x<b>")
    pages += [client.get(address).text for address in addresses]
    for address, page in zip((*addresses, *addresses), pages, strict=True):
        assert "<script>document" not in page, address
        assert "<img" not in page, address
        assert CONTROL.findall(page) == [], address
        assert 'href="javascript' not in page, address
        assert 'href="/runs/../x' not in page, address
    assert "{{ 7*7 }}" in pages[2]


def test_a_store_that_is_away_is_said_and_comes_back(client: TestClient, store: Store, tmp_path: Path) -> None:
    (tmp_path / "nws.db").rename(tmp_path / "moved.db")
    answer = client.get("/")
    assert answer.status_code == 409
    assert "was deleted or moved away" in answer.text
    (tmp_path / "moved.db").rename(tmp_path / "nws.db")
    assert client.get("/").status_code == 200


def polled(client: TestClient, address: str) -> dict[str, Any]:
    """What an open page is told."""
    return client.get(address, headers={"Accept": "application/json"}).json()


def test_what_is_polled_is_what_the_page_shows(client: TestClient, store: Store) -> None:
    run = MadeRun(store, kept=True)
    run.write(12)
    for address, parts in (("/", {"rows", "total"}), (f"/runs/{run.id}", PARTS_OF_A_RUN)):
        news, page = polled(client, address), client.get(address).text
        assert (set(news["parts"]), news["is_live"]) == (parts, True)
        assert "12/30" in news["parts"]["rows" if address == "/" else "progress"]
        assert news["parts"]["log" if "log" in parts else "total"] in page
    run.end()
    ended = polled(client, f"/runs/{run.id}")
    assert ended["is_live"] is False
    assert "The full report" in ended["parts"]["answer"]
    with store.writing() as connection:
        connection.execute(sa.text("update runs set means_cached = false"))
    news = polled(client, f"/runs/{run.id}")  # the answer was not stored, and is waited for
    assert news["is_live"] is True
    assert f"nws resume {run.id}" in news["parts"]["answer"]


def test_whatever_goes_wrong_is_told_to_an_open_page(
    client: TestClient, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    poll = {"Accept": "application/json"}
    answer = client.get("/runs/none", headers=poll)
    assert (answer.status_code, answer.text[:33]) == (404, "Not found: the store has no run '")
    monkeypatch.setattr(app, "list_values", lambda *_: 1 / 0)
    client = TestClient(client.app, base_url="http://localhost", raise_server_exceptions=False)
    answer = client.get("/", headers=poll)
    assert (answer.status_code, answer.text) == (500, "This server has an error: its terminal says more.")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_reports_are_kept_a_dozen_at_most_and_fail_anew(
    client: TestClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [MadeRun(store).id for _ in range(14)]
    written = []

    def write(store: Store, asked: list[RunInfo]) -> str:
        written.append(asked[0].id)
        if len(written) == 1:
            raise NwsError("not today")
        return f"report of {asked[0].id}"

    monkeypatch.setattr(app, "report_html", write)
    assert "not today" in client.get(f"/report?run={runs[0]}").text
    for run in (*runs, runs[-1], runs[2], runs[0]):
        assert client.get(f"/report?run={run}").text == f"report of {run}"
    assert written == [runs[0], *runs, runs[0]]
