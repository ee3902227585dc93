"""What the systems of a run that has ended keep of the content is stored, as the analysis says it."""

from dataclasses import replace

import numpy as np
import pytest
from stored_rows import rows

from nws.core.analysis import Points
from nws.core.analysis.build_document import build_document
from nws.core.analysis.content_kept import content_kept
from nws.core.article import Article
from nws.core.findings.content import CONTENT_KEPT
from nws.core.metrics.kept import Panel
from nws.core.metrics.specs import METRICS, OPTIONAL
from nws.core.text.word_kinds import KIND_TERMS
from nws.core.types import BundleResult, Summary
from nws.jobs.store.means import document_rows
from nws.jobs.store.tables import DocumentRow

ARTICLES = [Article(dataset, "test", str(i), f"{dataset} {i}", ("r",)) for dataset in ("a", "b") for i in range(14)]


@pytest.fixture
def scored(store, spec, summary):
    """A run with scores of content kept in two datasets, at two n and uncut."""
    run_id = store.create_run(replace(spec, signatures={CONTENT_KEPT: "made"}))
    run = run_id, store.claim_run(run_id, "host-a", 11)
    rng = np.random.default_rng(1)

    def kept(article, system, n):
        made = summary(article, system, n)
        return replace(made, scores={**made.scores, CONTENT_KEPT: float(rng.uniform()), "kept_words": 0.1})

    made = [kept(article, system, n) for article in ARTICLES for system in ("lead", "mini") for n in (0, 3, 5)]
    store.writer(*run).record([(ARTICLES, BundleResult(tuple(made), ()))])
    return run


def counts(store):
    return rows(store, "SELECT (SELECT COUNT(*) FROM content_kept), (SELECT COUNT(*) FROM smallest_n)")[0]


def test_a_run_that_has_ended_has_the_answer_of_the_analysis(store, scored):
    assert counts(store) == (0, 0)
    store.writer(*scored).finish("failed")
    found = content_kept(store.points(scored[0], (CONTENT_KEPT,)))
    assert rows(
        store,
        "SELECT dataset, system, ceiling, n, share, low, high, articles "
        "FROM content_kept WHERE n > 0 ORDER BY 1, 2, 3, 4",
    ) == sorted(
        (kept.dataset, kept.system, kept.ceiling, at.n, at.share.mean, at.share.low, at.share.high, at.articles)
        for kept in found
        for at in kept.lengths
    )
    smallest = rows(
        store,
        "SELECT dataset, system, kind, ceiling, longest, share, n, low, high, claimed "
        "FROM smallest_n ORDER BY 1, 2, 4, 6",
    )
    assert smallest == [
        (kept.dataset, kept.system, kept.kind, kept.ceiling, kept.longest, at.share, at.n, at.low, at.high, at.claimed)
        for kept in sorted(found, key=lambda kept: (kept.dataset, kept.system, kept.ceiling))
        for at in kept.smallest
    ]


def test_what_is_read_of_a_run_that_has_ended_is_what_was_built(store, scored, monkeypatch):
    run_id = scored[0]
    live = store.document([run_id])
    assert (store.stored_document(run_id), tuple(live.ranking)) == (None, ("a", "b"))
    store.writer(*scored).finish("done")
    with monkeypatch.context() as patch:
        patch.setattr("nws.core.analysis.build_document.build_document", None)
        assert store.document([run_id]) == store.stored_document(run_id) == live
    assert store.document([run_id], "rouge1_f1").metric == "rouge1_f1"
    assert all(counts(store))
    headlines = store.headlines([run_id])[run_id]
    assert {dataset: of["system"] for dataset, of in headlines.items()} == {
        dataset: live.headline(dataset).system for dataset in ("a", "b")
    }
    store.claim_run(run_id, "host-b", 12)  # a run that goes on again has no document
    assert (store.stored_document(run_id), store.headlines([run_id]), counts(store)) == (None, {}, (0, 0))
    assert all((live.of_metric().vs_lead, live.all_pairs, live.kept_uncut))
    assert live.reference_lengths == {"a": 1, "b": 1}  # the words of "r"


def stored_bytes(systems: int, articles: int) -> int:
    """The size of the document of so many systems at eleven n on two datasets, with all scores drawn at random."""
    names = "lead", "random", *(f"all-MiniLM-L6-v2|system-{i}|chunks" for i in range(systems - 2))
    places = np.meshgrid(np.arange(systems), np.arange(2 * articles), np.arange(1, 22, 2), indexing="ij")
    system, article, n = (of.ravel().astype(np.int32) for of in places)
    rng = np.random.default_rng(0)
    points = Points(
        systems=names,
        kinds=("control", "control", *("system" for _ in names[2:])),
        articles=tuple((("cnn_dailymail", "xsum")[i % 2], f"{i:016x}") for i in range(2 * articles)),
        system=system,
        article=article,
        n=n,
        words=n,
        text=rng.integers(1, 2**60, len(n)),
        scores={metric: rng.random(len(n)) for metric in (*METRICS, *OPTIONAL)},
    )
    return len(document_rows("run", build_document(points))[DocumentRow][0]["document"])


def test_the_stored_document_of_the_largest_recipe_is_small():
    assert stored_bytes(systems=18, articles=25) < 1e6


def test_a_stored_document_does_not_grow_with_the_number_of_articles():
    assert stored_bytes(systems=5, articles=1000) < 1.1 * stored_bytes(systems=5, articles=50)


def test_a_score_that_is_there_stays_where_only_kinds_are_missing(store, scored):
    """In other company its last bits may differ."""
    made = store.summaries(scored[0], ARTICLES[0].id)[0]
    again = with_kinds(replace(made, scores={**made.scores, "kept": made.scores["kept"] + 1e-8}))
    store.writer(*scored).record_kept([again])
    assert store.summaries(scored[0], ARTICLES[0].id)[0].scores == made.scores
    sql = f"select count(*) from summaries where run_id = '{scored[0]}' and kinds is not null"
    assert rows(store, sql) == [(1,)]


KINDS_OF = {"who": 0.6, "when": 0.2, "other": 0.4}
"""What is kept of each kind that the references have."""


def with_kinds(made: Summary) -> Summary:
    """The summary with terms of `KINDS_OF`; the references have half of each kind."""
    terms = {f"{kind}_kept": share / 2 for kind, share in KINDS_OF.items()}
    return replace(made, scores=made.scores | terms | {f"{kind}_whole": 0.5 for kind in KINDS_OF})


@pytest.fixture
def told(store, spec, summary):
    """A run with kinds of words."""
    run_id = store.create_run(replace(spec, signatures={CONTENT_KEPT: "made"}))
    run = run_id, store.claim_run(run_id, "host-a", 11)
    store.writer(*run).set_panel("a panel", "kinds")
    made = [with_kinds(summary(article, "lead", n)) for article in ARTICLES for n in (3, 5)]
    store.writer(*run).record([(ARTICLES, BundleResult(tuple(made), ()))])
    return run


def packed(store):
    """The bytes of the column, which Postgres hands out as a view."""
    return {None if of is None else bytes(of) for (of,) in rows(store, "SELECT kinds FROM summaries")}


def test_the_kinds_of_a_summary_are_32_bytes_and_those_of_a_run_a_table(store, told):
    (terms,) = packed(store)
    values = np.frombuffer(terms, "<f2")
    assert len(terms) == 32
    assert {name: float(value) for name, value in zip(KIND_TERMS, values, strict=True) if value == value} == {
        **{f"{kind}_kept": pytest.approx(share / 2, abs=1e-3) for kind, share in KINDS_OF.items()},
        **{f"{kind}_whole": 0.5 for kind in KINDS_OF},
    }
    store.writer(*told).finish("done")
    found = rows(store, "SELECT dataset, system, n, kind, share, articles FROM kept_by_kind ORDER BY 1, 2, 3, 4")
    assert found == [
        (dataset, "lead", n, kind, pytest.approx(KINDS_OF[kind], abs=1e-3), 14)
        for dataset in ("a", "b")
        for n in (3, 5)
        for kind in sorted(KINDS_OF)
    ]
    assert rows(store, "SELECT DISTINCT low, high FROM kept_by_kind") == [(None, None)], "of fewer than 20 articles"
    assert rows(store, "SELECT word_kinds FROM runs") == [("kinds",)]


def test_another_panel_removes_them(store, told):
    store.writer(*told).set_panel("a panel", "kinds")
    assert None not in packed(store)
    store.writer(*told).set_panel("another panel", "kinds")
    assert packed(store) == {None}
    store.writer(*told).finish("done")
    assert rows(store, "SELECT * FROM kept_by_kind") == []


@pytest.mark.parametrize("second", ["kinds", "others", ""])
def test_a_sharded_run_has_the_kinds_of_shards_that_tell_the_same(store, spec, summary, second):
    spec = replace(spec, signatures={CONTENT_KEPT: "made"})
    panels = (Panel("a", tuple(ARTICLES[:14])),)
    shards = store.create_sharded_run(spec, "parent", 2, "en", panels, {"lead": "control"}, [(spec, 7), (spec, 7)])
    epoch = store.claim_run("parent", "host-a", 11)
    for shard, part, kinds in zip(shards, (ARTICLES[:7], ARTICLES[7:14]), ("kinds", second), strict=True):
        writer = store.writer(shard, store.claim_run(shard, "host-a", 12))
        writer.start(None, "v", {"lead": "control"})
        writer.set_panel("a panel", kinds)
        made = [summary(article, "lead", 3) for article in part]
        writer.record([(part, BundleResult(tuple(map(with_kinds, made) if kinds else made), ()))])
        writer.finish("done")
    store.writer("parent", epoch).finish("done")
    document = store.stored_document("parent")
    found = rows(store, "SELECT kind, articles FROM kept_by_kind WHERE run_id = 'parent' ORDER BY 1")
    assert found == [(kind, 14) for kind in sorted(KINDS_OF)] * (second == "kinds")
    assert document.word_kinds == ("kinds" if second == "kinds" else "")
