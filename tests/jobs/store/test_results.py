import dataclasses
import re
from pathlib import Path

import numpy as np
import psycopg
import pytest
from sqlalchemy import text
from stored_rows import rows

from nws.core.analysis.points import text_keys
from nws.core.errors import StoreError, StoreUnavailableError
from nws.core.metrics.specs import METRICS
from nws.core.text.length import repeated_word_share
from nws.core.types import BundleResult


def test_what_is_recorded_comes_back(store, run, articles, summary):
    recorded = [summary(article, system, n) for article in articles for system in ("z", "가", "A", "a") for n in (9, 0)]
    store.writer(*run).record([(articles, BundleResult(tuple(recorded), ()))])
    points = store.points(run[0])
    assert len(points) == len(recorded)
    assert set(points.kinds) == {"system"}
    assert points.repeated_words is None
    repeated = store.points(run[0], repeated_words=True).repeated_words
    for s in recorded:
        (at,) = np.flatnonzero(
            (points.system == points.systems.index(s.system))
            & (points.article == points.articles.index(("news", s.article_id)))
            & (points.n == s.n)
        )
        assert points.words[at] == s.words
        columns = s.scores
        assert {metric: values[at] for metric, values in points.scores.items()} == {m: columns[m] for m in METRICS}
        assert repeated[at] == repeated_word_share(s.text)
        assert [points.text[at] == key for key in text_keys([s.text, s.text + "!"])] == [True, False]
    one = recorded[0]
    columns = ", ".join(one.scores)
    [(stored_text, seconds, *values)] = rows(
        store,
        f"SELECT text, seconds, {columns} FROM summaries WHERE article_id = '{one.article_id}' AND system='z' AND n=9",
    )
    assert (stored_text, seconds) == (one.text, one.seconds)
    assert values == list(one.scores.values())


def test_recording_a_bundle_twice_changes_nothing(store, run, articles, sweep):
    first = sweep(articles).summaries
    slower = tuple(dataclasses.replace(s, seconds=99.0, text="another") for s in first)
    store.writer(*run).record([(articles, BundleResult((*first, *slower), ()))])  # of two in one place the first stays
    before = rows(store, "SELECT * FROM summaries ORDER BY article_id, system, n")
    assert rows(store, "SELECT COUNT(*) FROM summaries WHERE text = 'another'") == [(0,)]
    store.writer(*run).record([(articles, BundleResult(slower, ()))])
    assert rows(store, "SELECT * FROM summaries ORDER BY article_id, system, n") == before
    assert len(before) == 24


def test_a_transaction_that_is_repeated_counts_nothing_twice(store, run, articles, sweep, failure):
    """Its answer was lost: the driver does it again, alone, in part, or together with what came after it."""
    counts = lambda: [getattr(store.run_info(run[0]), name) for name in ("articles_done", "summaries", "failures")]  # noqa: E731
    first, second = (articles[:2], sweep(articles[:2])), (articles[2:], failure(articles[3]))
    half = BundleResult(sweep(articles[2:3]).summaries[:3], ())
    for landed, expected in (
        ([first], [2, 12, 0]),
        ([first], [2, 12, 0]),
        ([(articles[2:3], half)], [2, 15, 0]),
        ([first, second, first], [2, 15, 1]),
        ([second], [2, 15, 1]),
        ([(articles, sweep(articles))], [4, 24, 0]),
        ([second], [4, 24, 0]),
    ):
        store.writer(*run).record(landed)
        assert counts() == expected


def test_failures_add_up_then_success_removes_them(store, run, articles, sweep, failure):
    store.writer(*run).record([(articles, failure(articles[2], "first", attempts=2))])
    store.writer(*run).record([(articles, failure(articles[2], "cannot read 'a\0b\ud800c'", attempts=3))])
    [failed] = store.failures(run[0])
    assert (failed.dataset, failed.key, failed.article_id) == ("news", "a2", articles[2].id)
    told = ("OutOfMemoryError", r"cannot read 'a\x00b\ud800c'", 5, "node-1")  # what no database keeps is escaped
    assert (failed.error_class, failed.message, failed.attempts, failed.node) == told
    assert failed.failed_at.utcoffset().total_seconds() == 0
    assert set(store.finished_article_ids(run[0])) == set()

    store.writer(*run).record([(articles, sweep(articles))])
    assert store.failures(run[0]) == []
    store.writer(*run).record([(articles, failure(articles[2]))])
    assert store.failures(run[0]) == []


BAD_NUMBERS = (float("nan"), float("inf"), float("-inf"))


UNSTORABLE = [
    *(("seconds", {"seconds": value}) for value in BAD_NUMBERS),
    *(("bertscore_f1", {"scores": {"bertscore_f1": value}}) for value in BAD_NUMBERS),
    *(("density", {"scores": {"density": value}}) for value in BAD_NUMBERS),
    *(("told", {"extra": {"told": value}}) for value in BAD_NUMBERS),
    *((None, {"text": text}) for text in ("a\0b", "a\ud800b")),
    *((None, {"extra": {"draws": ("fine", text)}}) for text in ("a\0b", "a\ud800b")),
]


def test_what_a_database_cannot_keep_is_refused_on_both(store, run, articles, summary):
    good = summary(articles[0])
    for field, change in UNSTORABLE:
        scores = {"scores": good.scores | change["scores"]} if "scores" in change else {}
        bad = dataclasses.replace(good, **change | scores)
        why = "has a NUL or half" if field is None else rf"has {field} = (nan|-?inf), and only finite"
        with pytest.raises(StoreError, match=rf"the summary of article {good.article_id} by 'lead' at n=3 {why}"):
            store.writer(*run).record([(articles, BundleResult((summary(articles[1]), bad), ()))])
    assert rows(store, "SELECT COUNT(*) FROM articles") == [(0,)]


def test_one_bad_row_leaves_nothing_of_its_bundle(store, run, articles, sweep):
    """Both databases refuse this one only when the third summary is inserted."""
    good = sweep(articles).summaries
    bad = dataclasses.replace(good[2], text=None)
    broken = BundleResult((*good[:2], dataclasses.replace(bad, text="x", words=None)), ())
    with pytest.raises(StoreError, match=r"(?i)not null.*words|words.*not-null"):
        store.writer(*run).record([(articles, broken)])
    assert rows(store, "SELECT COUNT(*) FROM articles") == [(0,)]
    assert store.run_info(run[0]).summaries == 0


EXTRACTIVE, BART = ("extractive", ("lead", "mini|centroid")), ("bart", ("bart",))


def test_an_article_is_done_when_every_stage_has_its_summaries(store, spec, articles, summary, failure):
    run_id = store.create_run(dataclasses.replace(spec, systems=3))
    epoch = store.claim_run(run_id, "host", 1)
    first = BundleResult(tuple(summary(a, system, 3) for a in articles for system in EXTRACTIVE[1]), ())
    store.writer(run_id, epoch).record([(articles, first)], *EXTRACTIVE)
    store.writer(run_id, epoch).record([(articles, failure(articles[3]))], *BART)
    second = BundleResult(tuple(summary(a, "bart", n) for a in articles[:2] for n in (0, 3)), ())
    store.writer(run_id, epoch).record([(articles[:2], second)], *BART)
    info = store.run_info(run_id)
    assert (info.articles_done, info.summaries, info.failures) == (2, 12, 1)
    assert set(store.finished_article_ids(run_id, EXTRACTIVE[1])) == {article.id for article in articles}
    assert set(store.finished_article_ids(run_id, BART[1])) == {article.id for article in articles[:2]}
    assert [(found.key, found.stage) for found in store.failures(run_id)] == [("a3", "bart")]
    store.writer(run_id, epoch).record([(articles, failure(articles[3], "late"))], *EXTRACTIVE)  # it has summaries
    store.writer(run_id, epoch).record([(articles, BundleResult((summary(articles[3], "bart", 0),), ()))], *BART)
    assert store.failures(run_id) == []


def test_scores_of_metrics_from_outside_are_kept_beside_what_a_system_tells(store, run, articles, summary):
    """Read as the analysis, a viewer and SQL read them: that of docs/your-own.md."""
    values = [0.1 + 0.2, 2 / 3, -1e-9, 12345.678]
    told = {"draws": ("하나", "둘 셋", "one"), "dtype": "float16", "truncated_tokens": 12}
    scored = [
        dataclasses.replace(summary(article, "lead", 9), extra=told, chosen_scores={"word_recall": value})
        for article, value in zip(articles, values, strict=True)
    ]
    store.writer(*run).record([(articles, BundleResult(tuple(scored), ()))])
    points = store.points(run[0], ["bertscore_f1", "word_recall"])
    by_article = dict(zip([of for _, of in points.articles], points.scores["word_recall"].tolist(), strict=True))
    for one, value in zip(scored, values, strict=True):
        assert by_article[one.article_id] == pytest.approx(value, rel=1e-15)
    assert np.isnan(store.points(run[0], ["of_no_such_metric"]).scores["of_no_such_metric"]).all()

    (found,) = store.summaries(run[0], scored[1].article_id)
    assert found == scored[1]
    (texts,) = store.article_texts(run[0], [scored[1].article_id])
    assert (texts.summaries[0]["word_recall"], texts.summaries[0]["extra"]) == (
        2 / 3,
        told | {"draws": [*told["draws"]]},
    )

    page = Path(__file__).parents[3] / "docs" / "your-own.md"
    ((sql,),) = [re.findall(r"```sql\n(.*?)```", page.read_text("utf-8"), re.DOTALL)]
    assert rows(store, sql) == [("lead", 9, pytest.approx(sum(values) / 4))]


def test_the_newest_failures_first(store, run, articles, failure):
    for number, article in enumerate(articles):
        store.writer(*run).record([([article], failure(article, f"reason {number}"))])
    found = store.failures(run[0], newest=3)
    assert [(reason.key, reason.message) for reason in found] == [(f"a{i}", f"reason {i}") for i in (3, 2, 1)]
    assert found[0].error_class == "OutOfMemoryError"
    store.writer(*run).record([([articles[3]], BundleResult((), ()))])  # it does not fail any more
    assert [reason.key for reason in store.failures(run[0], newest=1)] == ["a2"]


@pytest.mark.parametrize("store_url", ["postgres"], indirect=True)
def test_a_connection_that_is_lost_while_rows_are_copied_is_tried_again(store, run, articles, sweep, monkeypatch):
    ids = [article.id for article in articles]
    lost = []
    real = psycopg.Copy.write_row

    def write_row(copy, row):
        if not lost and row[1] == ids[-1]:
            lost.append(copy.connection.info.backend_pid)
            with store.reading() as connection:
                connection.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": lost[0]})
        real(copy, row)

    monkeypatch.setattr(psycopg.Copy, "write_row", write_row)
    with pytest.raises(StoreUnavailableError):
        store.writer(*run).record([(articles, sweep(articles))])
    assert store.run_info(run[0]).summaries == 0
    lost.clear()
    told = []
    waiting = store.waiting(told.append)
    waiting.writer(*run).record([(articles, sweep(articles))])
    assert told[-1] == "The store is back."
    info = store.run_info(run[0])
    assert (info.summaries, info.articles_done, len(store.points(run[0]))) == (24, 4, 24)
