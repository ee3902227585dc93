"""What the systems of a run that has ended keep of the content is stored, as the analysis says it."""

from dataclasses import replace

import numpy as np
import pytest
from stored_rows import rows

from nws.core.analysis import Points
from nws.core.analysis.build_document import build_document
from nws.core.analysis.content_kept import content_kept
from nws.core.article import Article
from nws.core.findings.content import KEPT
from nws.core.metrics.specs import METRICS, OPTIONAL
from nws.core.types import BundleResult
from nws.jobs.store.means import document_rows
from nws.jobs.store.tables import DocumentRow

ARTICLES = [Article(dataset, "test", str(i), f"{dataset} {i}", ("r",)) for dataset in ("a", "b") for i in range(14)]


@pytest.fixture
def scored(store, spec, summary):
    """A run with scores of content kept in two datasets, at two n and uncut."""
    run_id = store.create_run(replace(spec, signatures={KEPT: "made"}))
    run = run_id, store.claim_run(run_id, "host-a", 11)
    rng = np.random.default_rng(1)

    def kept(article, system, n):
        made = summary(article, system, n)
        return replace(made, scores={**made.scores, KEPT: float(rng.uniform()), "kept_words": 0.1})

    made = [kept(article, system, n) for article in ARTICLES for system in ("lead", "mini") for n in (0, 3, 5)]
    store.writer(*run).record([(ARTICLES, BundleResult(tuple(made), ()))])
    return run


def counts(store):
    return rows(store, "SELECT (SELECT COUNT(*) FROM content_kept), (SELECT COUNT(*) FROM smallest_n)")[0]


def test_a_run_that_has_ended_has_the_answer_of_the_analysis(store, scored):
    assert counts(store) == (0, 0)
    store.writer(*scored).finish("failed")
    found = content_kept(store.points(scored[0], (KEPT,)))
    assert rows(
        store,
        "SELECT dataset, system, of, n, share, low, high, articles FROM content_kept WHERE n > 0 ORDER BY 1, 2, 3, 4",
    ) == sorted(
        (kept.dataset, kept.system, kept.of, at.n, at.share.mean, at.share.low, at.share.high, at.articles)
        for kept in found
        for at in kept.lengths
    )
    smallest = rows(
        store, "SELECT dataset, system, kind, of, longest, x, n, low, high, claimed FROM smallest_n ORDER BY 1, 2, 4, 6"
    )
    assert smallest == [
        (kept.dataset, kept.system, kept.kind, kept.of, kept.longest, at.x, at.n, at.low, at.high, at.claimed)
        for kept in sorted(found, key=lambda kept: (kept.dataset, kept.system, kept.of))
        for at in kept.smallest
    ]


def test_what_is_read_of_a_run_that_has_ended_is_what_was_built(store, scored, monkeypatch):
    run_id = scored[0]
    live = store.document([run_id])
    assert (store.stored_document(run_id), tuple(live.ranked)) == (None, ("a", "b"))
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
