"""What the pages show of a store, whoever filled it."""

import asyncio
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from rich.console import Console
from served_runs import HARM, MadeRun
from starlette.testclient import TestClient
from training_run import small_training

from jobs.drive import driver
from jobs.report.page.page import collect, render
from jobs.serve import runs_page
from jobs.serve.app import make_app
from jobs.serve.feeds import Feeds, Seen
from jobs.store import RunSpec, Store, open_store

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
    with (
        open_store(url, read_only=True) as opened,
        TestClient(make_app(opened, None, 8300)[0], base_url="http://localhost") as browser,
    ):
        yield browser


def ready(client: TestClient, address: str) -> str:
    """The page, once it is computed."""
    deadline = time.monotonic() + 120
    unready = ('http-equiv="refresh"', "The answer is being computed")
    while any(told in (answer := client.get(address)).text for told in unready):
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
        ">1<",
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
    monkeypatch.setattr(runs_page, "RUNS_OF_A_PAGE", 2)
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
        *('href="http://head:8265"', f'data-events="/runs/{run.id}/events"'),
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
    assert "data-events" not in text  # nothing changes any more
    page = ready(client, f"/runs/{run.id}/report")
    links = {"All runs": "/", f"This run: {run.id}": f"/runs/{run.id}"}
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
    ready(client, f"/runs/{run.id}/report")
    answer = client.get(f"/runs/{run.id}/report")
    assert "script-src 'sha256-" in answer.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_a_run_without_summaries_has_no_answer(client: TestClient, store: Store) -> None:
    run = MadeRun(store).end("failed", "no model")
    text = client.get(f"/runs/{run}").text
    assert "failed (no model)" in text
    assert "It has no summaries." in text
    assert "no summaries" in client.get(f"/runs/{run}/report").text


def test_two_runs_side_by_side(client: TestClient, store: Store) -> None:
    a, b = MadeRun(store, name="first"), MadeRun(store, name="second", seed=9)
    for run in (a, b):
        run.write(12)
        run.end()
    text = ready(client, f"/compare?run={a.id}&run={b.id}")
    for told in (
        "first and second",
        "What made them",
        "differs",
        "wins"[:0],
        "every n, in BERTScore F1",
        "A is better"[:0],
    ):
        assert told in text, told
    assert text.count("<details") == 3  # a system each
    assert f'A is <a href="/runs/{a.id}">first</a>, and B is <a href="/runs/{b.id}">second</a>.' in text
    assert "ROUGE-1" in ready(client, f"/compare?run={a.id}&run={b.id}&metric=rouge1_f1")


def test_the_systems_of_a_run(client: TestClient, store: Store) -> None:
    run = MadeRun(store)
    run.write(12)
    text = ready(client, f"/compare?run={run.id}")
    assert "The systems of" in text
    assert "textrank" in text
    assert "is better at n = " in text


def test_comparisons_begin_with_content_kept_where_both_have_it(client: TestClient, store: Store) -> None:
    a, b, older = MadeRun(store, kept=True), MadeRun(store, seed=9, kept=True), MadeRun(store)
    for run in (a, b, older):
        run.write(12)
    assert "every n, in content kept" in ready(client, f"/compare?run={a.id}&run={b.id}")
    assert "every n, in BERTScore F1" in ready(client, f"/compare?run={a.id}&run={older.id}")


def test_what_cannot_be_compared_is_said(client: TestClient, store: Store) -> None:
    a, b = MadeRun(store), MadeRun(store, "other")
    for run in (a, b):
        run.write(2)
    assert "must not be compared" in client.get(f"/compare?run={a.id}&run={b.id}").text
    for query in ("?run=no", "?run=%3Cb%3E"):
        answer = client.get(f"/compare{query}")
        assert answer.status_code == 404
        assert "<b>" not in answer.text
    for query, told in (("", "No run is chosen"), (f"?run={a.id}&run={b.id}&run=x", "Too many runs are chosen")):
        answer = client.get(f"/compare{query}")
        assert answer.status_code == 400
        assert told in answer.text
        assert "Tick one run or two" in answer.text


def test_whatever_a_store_holds_stays_text(client: TestClient, store: Store) -> None:
    run = MadeRun(store, HARM, (f"m|{HARM}", "lead", "random"), name=HARM, host=HARM, address=f"https://x/{HARM}")
    run.write(3)
    run.fail()
    addresses = ["/", "/?q=%3Cscript%3E", f"/runs/{run.id}", f"/compare?run={run.id}"]
    pages = [ready(client, address) for address in addresses]
    run.end("failed", f"error {HARM}")
    pages += [ready(client, address) for address in (*addresses, f"/runs/{run.id}/report")]
    for address, page in zip((*addresses, *addresses, "report"), pages, strict=True):
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
    assert answer.status_code == 503
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
        TestClient(make_app(opened, None, 8300)[0], base_url="http://localhost").get("/?q=a b&state=running")
    tables = [set(re.findall(r"(?:FROM|JOIN) (\w+)", sql)) for sql in asked if sql.startswith("SELECT")]
    assert tables
    assert set().union(*tables) == {"runs", "progress"}


def test_a_training_says_whether_its_policies_are_better(
    client: TestClient, store: Store, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    run = driver.start(store, small_training(tiny_models, tmp_path, passes=2), "inline", Console(quiet=True)).run_id
    assert "are the policies better?" in ready(client, f"/runs/{run}")
    assert "trained on" in client.get(f"/runs/{run}").text


def test_a_reader_is_told_that_nobody_looks_any_more() -> None:
    async def look() -> Seen:
        raise ZeroDivisionError

    async def told() -> list[dict[str, tuple[str, str]]]:
        return [parts async for parts in Feeds().follow("page", look, 1)]

    (parts,) = asyncio.run(asyncio.wait_for(told(), 5))
    assert parts["notice"][1] == "No longer up to date: `nws serve` has failed here, and says why. Load the page again."


def test_the_middle_length_and_of_uncut_summaries_these() -> None:
    from jobs.serve.run_page import at_one_length
    from jobs.store import NewSummary

    def one(system: str, n: int, f1: float) -> NewSummary:
        return NewSummary("d", "k", system, "system", n, "text", f1)

    some = [one("a", 0, 0.9), one("a", 3, 0.1), one("a", 9, 0.2), one("b", 3, 0.3), one("b", 9, 0.4)]
    assert [(w.system, w.n) for w in at_one_length(some)] == [("b", 9), ("a", 9)]
    assert [(w.system, w.n) for w in at_one_length(some[:1])] == [("a", 0)]
    assert at_one_length([]) == []
