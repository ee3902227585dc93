"""Single articles of a run, on SQLite and on Postgres."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import sqlalchemy as sa

from nws.core.article import Article
from nws.core.types import BundleResult
from nws.jobs.store import RunSpec, Store

KINDS = {"lead": "control", "mini|centroid": "system", "late": "system"}


def news(key: str, text: str, dataset: str = "news") -> Article:
    return Article(dataset, "test", key, text, ("A reference.", "둘째"))


STORIES = [
    news("k1", "The council met.\nÉlan Vital won the prize."),
    news("k2", "Élan vital lost, and the council wept."),
    news("k3", "서울시는 월요일에 발표했다."),
    news("50%_off", "Nothing was 50%_off."),
]


@pytest.fixture
def fill(store: Store, spec: RunSpec) -> Callable[..., str]:
    """Stores a run with what it made of some articles."""

    def make(result: BundleResult, of: list[Article]) -> str:
        run_id = store.create_run(spec)
        epoch = store.claim_run(run_id, "host-a", 11)
        store.writer(run_id, epoch).start(None, "0.1.0", KINDS)
        store.writer(run_id, epoch).record([(of, result)])
        return run_id

    return make


@pytest.fixture
def stories(fill, sweep) -> str:
    fill(sweep([news("other", "The council of another run.")]), [news("other", "The council of another run.")])
    return fill(sweep(STORIES), STORIES)


# The keys that are found by a text.
FOUND = {
    "k1": ["k1"],
    STORIES[1].id: ["k2"],
    STORIES[1].id[:6]: ["k2"],
    STORIES[1].id[:3]: [],
    "won the prize": ["k1"],
    "MET. ÉLAN": ["k1"],
    "élan VITAL": ["k1", "k2"],
    "서울시는": ["k3"],
    "50%": ["50%_off"],
    "another run": [],
    "other": [],
    "' OR 1=1 --": [],
}


def test_an_article_is_found_by_key_id_or_text(store: Store, stories: str) -> None:
    for wanted, keys in FOUND.items():
        found = sorted(store.find_articles(stories, wanted, 9), key=lambda story: story.key)
        assert found == sorted((story for story in STORIES if story.key in keys), key=lambda story: story.key), wanted


def test_a_key_goes_before_a_text_and_no_more_are_found_than_asked_for(store: Store, fill, sweep) -> None:
    of = [news("bridge", "A tram."), news("tram", "A bridge."), news("tram", "A bridge.", "papers")]
    articles = fill(sweep(of), of)
    assert [found.text for found in store.find_articles(articles, "bridge", 9)] == ["A tram."]
    assert {found.dataset for found in store.find_articles(articles, "tram", 9)} == {"news", "papers"}
    assert len(store.find_articles(articles, "tram", 1)) == len(store.find_articles(articles, "a", 1)) == 1
    assert len(store.find_articles(articles, "a", 9)) == 3


def test_an_article_is_found_by_a_part_of_its_key(store: Store, fill, sweep) -> None:
    of = [news("Town-17", "A tram."), news("town-18", "A bridge.")]
    articles = fill(sweep(of), of)
    assert [found.key for found in store.find_articles(articles, "n-17", 9)] == ["Town-17"]
    assert {found.key for found in store.find_articles(articles, "TOWN", 9)} == {"Town-17", "town-18"}


def test_the_texts_of_a_system_are_read_in_parts(store: Store, fill, sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    written = sweep(STORIES)
    run_id = fill(
        replace(written, summaries=tuple(replace(s, extra={"raw_text": s.n}) for s in written.summaries)), STORIES
    )
    monkeypatch.setattr("nws.jobs.store.results._SUMMARIES_AT_ONCE", 3)
    read: list[tuple[str, int, str, str | None]] = []
    while part := store.written_texts(run_id, "lead", read[-1][:2] if read else ("", 0)):
        assert len(part) <= 3
        read += part
    assert read == sorted((s.article_id, s.n, s.text, str(s.n)) for s in written.summaries if s.system == "lead")


def test_an_article_that_failed_is_found(store: Store, fill, failure) -> None:
    articles = fill(failure(STORIES[0], "too long"), STORIES[:1])
    assert store.find_articles(articles, "k1", 9) == store.find_articles(articles, "council", 9) == STORIES[:1]
    assert store.summaries(articles, STORIES[0].id) == []
    (run,) = store.list_runs()
    assert [told.message for told in store.failures(run.id, STORIES[0].id)] == ["too long"]
    assert store.failures(run.id, STORIES[1].id) == []
    assert store.find_articles(fill(BundleResult((), ()), []), "council", 9) == []


def test_all_summaries_of_an_article_and_the_systems_that_wrote_something(store: Store, stories: str, sweep) -> None:
    found = store.summaries(stories, STORIES[2].id)
    expected = [summary for summary in sweep(STORIES).summaries if summary.article_id == STORIES[2].id]
    assert sorted(found, key=lambda s: (s.system, s.n)) == sorted(expected, key=lambda s: (s.system, s.n))
    assert store.systems(stories) == {"lead": "control", "mini|centroid": "system"}
    assert store.lengths(stories, "lead") == [0, 3, 5]
    assert store.lengths(stories, "late") == []


def test_every_query_finds_its_rows_by_an_index(store: Store, stories: str) -> None:
    engine = store._reader
    asked: list[tuple[str, object]] = []
    sa.event.listen(engine, "before_cursor_execute", lambda *call: asked.append((call[2], call[3])))
    (store.systems(stories), store.lengths(stories, "lead"), store.summaries(stories, STORIES[0].id))
    store.find_articles(stories, "no such text", 9), store.find_articles(stories, "abcdef", 9)
    statements = [call for call in asked if "summaries" in call[0] or "articles" in call[0]]
    assert len(statements) >= 6
    sqlite = engine.dialect.name == "sqlite"
    with engine.connect() as connection:
        if not sqlite:  # which would read such small tables whole
            connection.exec_driver_sql("SET enable_seqscan = off")
        for statement, parameters in statements:
            explain = "EXPLAIN QUERY PLAN " if sqlite else "EXPLAIN "
            plan = [str(row[-1]) for row in connection.exec_driver_sql(explain + statement, parameters)]
            scanned = [line for line in plan if "SCAN " in line or "Seq Scan" in line]
            assert not [line for line in scanned if any(t in line for t in ("summaries", "articles"))], plan
