"""What the pages show of a store, whoever filled it."""

import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from rich.console import Console
from served_runs import HARM, MadeRun
from starlette.testclient import TestClient
from training_run import small_training

from core.errors import NwsError
from jobs.drive import driver
from jobs.report.page.page import collect, render
from jobs.serve import app
from jobs.serve import pages as shown_pages
from jobs.serve.app import make_app
from jobs.store import RunSpec, Store, open_store

PARTS_OF_A_RUN = {"state", "answer", "progress", "written", "failures", "log"}
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'nws.db'}"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with open_store(url) as opened:
        yield opened


@pytest.fixture
def client(url: str, store: Store) -> Iterator[TestClient]:
    with open_store(url, read_only=True) as opened:
        yield TestClient(make_app(opened, None, 8300), base_url="http://localhost")


def ready(client: TestClient, address: str) -> str:
    """The page, once it is computed."""
    deadline = time.monotonic() + 120
    while 'http-equiv="refresh"' in (answer := client.get(address)).text:
        assert time.monotonic() < deadline
    return answer.text


def test_an_empty_store_says_how_to_begin(client: TestClient) -> None:
    assert "nws submit phase1" in client.get("/").text


def test_the_list_has_what_is_known_of_each_run(client: TestClient, store: Store) -> None:
    working, gone = MadeRun(store, name="breakfast"), MadeRun(store, "other")
    working.write(3)
    working.fail()
    gone.end("failed", "the cat")
    text = client.get("/").text
    assert "2 runs" in text
    line = next(line for line in text.split("<tr") if working.id in line)
    for told in (
        "breakfast",
        "running",
        "3/30 articles",
        "1 failed",
        ">news<small>2 lengths up to 7 words<",
        " articles/s",
        "1 actor, 90 % busy",
        f"/runs/{working.id}",
    ):
        assert told in line, told
    assert ">failed<" in next(line for line in text.split("<tr") if gone.id in line)


def test_search_by_words_and_state(client: TestClient, store: Store) -> None:
    runs = {name: MadeRun(store, name=name) for name in ("apple", "50%_pear", "plum")}
    runs["plum"].end()

    def found(**query: str) -> set[str]:
        text = client.get("/", params=query).text
        return {name for name, run in runs.items() if f'href="/runs/{run.id}"' in text}

    assert found() == set(runs)
    assert found(q="APPLE") == {"apple"}
    assert found(q="%_p") == {"50%_pear"}
    assert found(q=runs["plum"].id) == {"plum"}
    assert found(q="phase1 running") == {"apple", "50%_pear"}
    assert found(state="done") == {"plum"}
    assert found(q="apple", state="done") == set()
    assert found(state="no such", page="none") == set(runs)
    assert "No run fits" in client.get("/", params={"q": "a\0' OR 1=1 --"}).text


def test_many_runs_stand_on_several_pages(client: TestClient, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_pages, "RUNS_OF_A_PAGE", 2)
    ids = [MadeRun(store, name=f"run {i}").id for i in range(5)]
    pages = [client.get("/", params={"page": page, "q": "run"}).text for page in (1, 2, 3)]
    assert [sum(f'href="/runs/{run}"' in page for run in ids) for page in pages] == [2, 2, 1]
    assert "Page 2 of 3" in pages[1]
    assert "/?q=run&amp;state=&amp;page=3" in pages[1]


def test_a_run_in_work(client: TestClient, store: Store) -> None:
    run = MadeRun(store, address="http://head:8265")
    run.write(2)
    run.fail()
    text = client.get(f"/runs/{run.id}").text
    for told in (
        *(
            "running, pid 1 on elsewhere",
            "2/30 done, 1 failed",
            " articles/s",
            "left",
            "about",
            "1 on news, news: 90 % busy",
        ),
        *("m|textrank wrote 7 of news1", "EmptyArticleError: no word in news", "stored 2 of news", "kept"[:0]),
        *('href="http://head:8265"', "/script.js"),
    ):
        assert told in text, told
    assert "What it found" not in text


def test_an_address_that_is_no_web_page_is_no_link(client: TestClient, store: Store) -> None:
    run = MadeRun(store, address="javascript:alert(1)")
    text = client.get(f"/runs/{run.id}").text
    assert "javascript:alert(1)" in text
    assert 'href="javascript' not in text


def test_a_driver_that_is_gone_is_said(client: TestClient, store: Store) -> None:
    run = MadeRun(store)
    with store.writing() as connection:
        connection.execute(sa.text("update runs set heartbeat_at = '2026-01-01 00:00:00'"))
    assert f"nws resume {run.id}" in client.get(f"/runs/{run.id}").text
    assert ">stale<" in client.get("/").text


def test_a_run_that_has_ended_says_what_it_found_and_has_its_report(client: TestClient, store: Store) -> None:
    run = MadeRun(store, kept=True)
    run.write(30)
    run.end()
    text = client.get(f"/runs/{run.id}").text
    assert "how many words keep how much?" in text
    assert "keep" in text.split('class="headline"')[1]
    assert "Content kept by n, news, as a table" in text
    assert text.count('<svg class="chart"') == 1
    assert "<script" not in text  # nothing changes any more
    page = ready(client, f"/report?run={run.id}")
    links = {"All runs": "/", f"Run {run.id}": f"/runs/{run.id}"}
    assert page == render(collect(store, [run.id], "bertscore_f1", None), links)
    for name, address in links.items():
        assert f'<a href="{address}">{name}</a>' in page


def test_where_no_content_kept_is_known_it_is_said(client: TestClient, store: Store) -> None:
    run = MadeRun(store)
    run.write(12)
    run.end()
    text = client.get(f"/runs/{run.id}").text
    assert "How much of the content is kept is not known here." in text


def test_the_report_runs_its_own_script_only(client: TestClient, store: Store) -> None:
    run = MadeRun(store)
    run.write(3)
    run.end()
    ready(client, f"/report?run={run.id}")
    answer = client.get(f"/report?run={run.id}")
    assert "script-src 'sha256-" in answer.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_a_run_without_summaries_has_no_answer(client: TestClient, store: Store) -> None:
    run = MadeRun(store).end("failed", "no model")
    text = client.get(f"/runs/{run}").text
    assert "failed (no model)" in text
    assert "It has no summaries." in text
    assert "no summaries" in client.get(f"/report?run={run}").text


def test_runs_that_are_chosen_are_on_one_page(client: TestClient, store: Store) -> None:
    a, b, other = MadeRun(store, name="first"), MadeRun(store, name="second", seed=9), MadeRun(store, "other")
    for run in (a, b, other):
        run.write(12)
    text = ready(client, f"/report?run={a.id}&run={b.id}")
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
    pages = [ready(client, address) for address in addresses]
    run.end("failed", f"error {HARM}")
    pages += [ready(client, address) for address in addresses]
    for address, page in zip((*addresses, *addresses), pages, strict=True):
        assert "<script>document" not in page, address
        assert "<img" not in page, address
        assert CONTROL.findall(page) == [], address
    assert "{{ 7*7 }}" in pages[2]


def test_a_run_with_a_made_up_id_is_listed_and_has_no_page(client: TestClient, store: Store) -> None:
    store.create_run(RunSpec("phase1", {}, "hash", 0, "v", {}, {}, systems=1), "../x<b>")
    text = client.get("/").text
    assert "../x&lt;b&gt;" in text
    assert 'href="/runs/../x' not in text


def test_a_store_that_is_away_is_said_and_comes_back(client: TestClient, store: Store, tmp_path: Path) -> None:
    (tmp_path / "nws.db").rename(tmp_path / "moved.db")
    answer = client.get("/")
    assert answer.status_code == 409
    assert "was deleted or moved away" in answer.text
    (tmp_path / "moved.db").rename(tmp_path / "nws.db")
    assert client.get("/").status_code == 200


def test_the_list_reads_no_summary(store: Store, url: str) -> None:
    """However many a store holds."""
    run = MadeRun(store)
    run.write(3)
    asked: list[str] = []
    with open_store(url, read_only=True) as opened:
        sa.event.listen(opened._reader, "before_cursor_execute", lambda *args: asked.append(args[2]))
        TestClient(make_app(opened, None, 8300), base_url="http://localhost").get("/?q=a b&state=running")
    tables = [set(re.findall(r"(?:FROM|JOIN) (\w+)", sql)) for sql in asked if sql.startswith("SELECT")]
    assert tables
    assert set().union(*tables) == {"runs", "progress", "answers"}


def test_a_training_says_whether_its_policies_are_better(
    client: TestClient, store: Store, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    run = driver.start(store, small_training(tiny_models, tmp_path, passes=2), "inline", Console(quiet=True)).run_id
    deadline = time.monotonic() + 120
    while (news := polled(client, f"/runs/{run}"))["is_live"]:
        assert time.monotonic() < deadline
    assert "are the policies better?" in news["parts"]["answer"]
    assert "trained on" in client.get(f"/runs/{run}").text


def polled(client: TestClient, address: str) -> dict[str, Any]:
    """What an open page is told."""
    return client.get(address, headers={"Accept": "application/json"}).json()


def test_what_is_polled_is_what_the_page_shows(client: TestClient, store: Store) -> None:
    run = MadeRun(store, kept=True)
    run.write(3)
    for address, parts in (("/", {"rows", "total"}), (f"/runs/{run.id}", PARTS_OF_A_RUN)):
        news, page = polled(client, address), client.get(address).text
        assert (set(news["parts"]), news["is_live"]) == (parts, True)
        assert "3/30" in news["parts"]["rows" if address == "/" else "progress"]
        assert news["parts"]["log" if "log" in parts else "total"] in page
    run.end()
    ended = polled(client, f"/runs/{run.id}")
    assert ended["is_live"] is False
    assert "The full report" in ended["parts"]["answer"]


def test_the_list_has_the_answer_of_each_run_that_has_ended(client: TestClient, store: Store) -> None:
    run, without = MadeRun(store, kept=True), MadeRun(store)
    for made in (run, without):
        made.write(30)
        assert "reference&#39;s content" not in client.get("/").text
    for made in (run, without):
        made.end()
    headline = client.get(f"/runs/{run.id}").text.split('class="headline">')[1].split("<")[0]
    lines = client.get("/").text.split("<tr")
    assert headline in next(line for line in lines if run.id in line)
    assert "–</td>" in next(line for line in lines if without.id in line)


def test_an_answer_that_was_not_stored_is_waited_for(client: TestClient, store: Store) -> None:
    run = MadeRun(store, kept=True)
    run.write(12)
    run.end()
    with store.writing() as connection:
        connection.execute(sa.text("update runs set means_kept = false"))
    news = polled(client, f"/runs/{run.id}")
    assert news["is_live"] is True
    assert f"nws resume {run.id}" in news["parts"]["answer"]


def test_whatever_goes_wrong_is_told_to_an_open_page(
    client: TestClient, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    poll = {"Accept": "application/json"}
    answer = client.get("/runs/none", headers=poll)
    assert (answer.status_code, answer.text[:32]) == (404, "Not here: the store has no run '")
    monkeypatch.setattr(app, "list_values", lambda *_: 1 / 0)
    client = TestClient(client.app, base_url="http://localhost", raise_server_exceptions=False)
    answer = client.get("/", headers=poll)
    assert (answer.status_code, answer.text) == (500, "An error of this server: its terminal says more.")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_what_takes_seconds_is_computed_once_and_fails_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "PATIENCE_SECONDS", 0.01)
    computed, begun, go_on = app.Computed(), [], threading.Event()

    def make(name: str) -> str:
        begun.append(name)
        assert go_on.wait(60)
        if name == "broken":
            raise NwsError("no")
        return f"made {name}"

    assert [computed.get(name, make, name) for name in ("a", "b", "a")] == [None] * 3
    assert begun == ["a"]  # one at a time
    go_on.set()
    monkeypatch.setattr(app, "PATIENCE_SECONDS", 60)
    assert [computed.get(name, make, name) for name in ("a", "b", "a")] == ["made a", "made b", "made a"]
    for _ in range(2):
        with pytest.raises(NwsError, match="no"):
            computed.get("broken", make, "broken")
    assert begun == ["a", "b", "broken", "broken"]
    assert [computed.get(name, make, str(name)) for name in range(20)][-1] == "made 19"
    go_on.clear()
    monkeypatch.setattr(app, "PATIENCE_SECONDS", 0.01)
    with pytest.raises(NwsError, match="Too many pages are being computed"):
        [computed.get(name, make, str(name)) for name in range(50, 70)]
    go_on.set()


def test_the_middle_length_and_of_uncut_summaries_these() -> None:
    from jobs.serve.pages import at_one_length

    def one(system: str, n: int, f1: float) -> dict[str, object]:
        return {"system": system, "n": n, "bertscore_f1": f1}

    some = [one("a", 0, 0.9), one("a", 3, 0.1), one("a", 9, 0.2), one("b", 3, 0.3), one("b", 9, 0.4)]
    assert at_one_length(some) == [one("b", 9, 0.4), one("a", 9, 0.2)]
    assert at_one_length(some[:1]) == some[:1]
    assert at_one_length([]) == []
