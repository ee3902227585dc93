"""Summaries are copied from other runs of the same work, whole or not at all, and never from anything else."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import sqlalchemy as sa
import stored_rows

from nws.core.article import Article
from nws.core.errors import FencedError, StoreError
from nws.core.metrics.specs import OPTIONAL
from nws.core.text.word_kinds import KIND_TERMS
from nws.core.types import BundleResult
from nws.jobs.store import Reusable, RunSpec, Store, open_store
from nws.jobs.store import articles as stored_articles
from nws.jobs.store.tables import SummaryRow

KINDS = {"lead": "control", "mini|centroid": "system"}
REUSE_KEYS = {"lead": "work of lead", "mini|centroid": "work of mini"}
LENGTHS = (0, 3, 5)
ROWS = 6  # systems, lengths
WAY = "AVX2, MKL AUTO,STRICT, CPU kind 6-85"

Sweep = Callable[[list[Article]], BundleResult]


@pytest.fixture
def claimed(store: Store, spec: RunSpec) -> Callable[..., tuple[str, int]]:
    """Makes a run that has begun: its id and its driver's epoch."""

    def make(keys: dict[str, str] = REUSE_KEYS, ways: tuple[str, ...] = (WAY,)) -> tuple[str, int]:
        run_id = store.create_run(replace(spec, reuse=True))
        run = run_id, store.claim_run(run_id, "host-a", 11)
        store.writer(*run).start("cpu", "0.1.0+abc", KINDS, keys)
        store.writer(*run).note_workers("cpu", ways)
        return run

    return make


def reusable(store: Store, run_id: str) -> Reusable:
    """As the driver makes it; without sources where there are none."""
    sources = store.runs_with_reuse_keys(run_id, list(REUSE_KEYS.values()))
    alike = tuple(source for source, way in sources.items() if way == WAY)
    return Reusable(alike, WAY, tuple(REUSE_KEYS.values()), tuple(KINDS), LENGTHS, ROWS)


def rows(store: Store, run_id: str) -> dict[tuple[object, ...], tuple[object, ...]]:
    """By article, system and n, every other column but where it comes from."""
    names = [c.name for c in SummaryRow.__table__.columns if c.name not in ("run_id", "reused_from")]
    found = stored_rows.rows(store, f"select {', '.join(names)} from summaries where run_id = '{run_id}'")
    return {row[:3]: tuple(map(str, row[3:])) for row in found}


def origins(store: Store, run_id: str) -> dict[object, int]:
    sql = f"select reused_from, count(*) from summaries where run_id = '{run_id}' group by reused_from"
    return dict(stored_rows.rows(store, sql))


def counts(store: Store, run_id: str) -> tuple[int, int, int, int]:
    run = store.run_info(run_id)
    return run.articles_done, run.summaries, run.reused, run.failures


def test_what_another_run_has_is_copied_with_all_its_columns(store, claimed, articles, sweep):
    first, second = claimed(), claimed()
    store.writer(*first).record([(articles, sweep(articles))])
    found = reusable(store, second[0])
    assert found.sources == (first[0],)
    every = {(system, n) for system in KINDS for n in LENGTHS}
    ids = [article.id for article in articles]
    assert store.known_summaries(found, [*ids, "strange"]) == dict.fromkeys(ids, every)
    for _ in range(2):  # an answer that was lost
        store.writer(*second).record([(articles, BundleResult((), ()))], reusable=found)
    assert rows(store, second[0]) == rows(store, first[0])
    assert origins(store, second[0]) == {first[0]: 4 * ROWS}
    assert counts(store, second[0]) == (4, 4 * ROWS, 4 * ROWS, 0)
    assert counts(store, first[0]) == (4, 4 * ROWS, 0, 0)


@pytest.mark.parametrize("change", ["other code", "another kind of machine"])
def test_a_source_that_becomes_mixed_gives_nothing_even_to_those_that_found_it(store, claimed, articles, sweep, change):
    first, second = claimed(), claimed()
    store.writer(*first).record([(articles, sweep(articles))])
    found = reusable(store, second[0])
    if change == "other code":
        assert store.writer(*first).mix(["NWS 0123456789ab", "torch 0.1"])
        assert not store.writer(*first).mix(["torch 0.1"])
        assert store.run_info(first[0]).code_version == "0.1.0+abc, NWS 0123456789ab, torch 0.1"
    else:
        store.writer(*first).note_workers("cpu", ["NEON"])
    assert store.run_info(first[0]).mixed
    assert store.known_summaries(found, [article.id for article in articles]) == {}
    with pytest.raises(StoreError, match=r"would have 0 summaries instead of 24.*other code or machines.*nws resume"):
        store.writer(*second).record([(articles, BundleResult((), ()))], reusable=found)
    assert counts(store, second[0]) == (0, 0, 0, 0)
    store.claim_run(first[0], "host-b", 12, take_over=True)
    assert reusable(store, second[0]).sources == ()
    with pytest.raises(FencedError):
        store.writer(*first).mix(["torch 0.1"])


def test_what_other_runs_have_copied_stays_valid_when_their_source_is_removed(store, claimed, articles, sweep):
    first, second = claimed(), claimed()
    store.writer(*first).record([(articles, sweep(articles))])
    store.writer(*second).record([(articles, BundleResult((), ()))], reusable=reusable(store, second[0]))
    assert reusable(store, claimed()[0]).sources == (first[0],), "a copy is no source"
    before = rows(store, second[0])
    for run in (first, second):
        store.writer(*run).finish("done")
    assert store.remove_run(first[0], "elsewhere") == 0
    assert rows(store, second[0]) == before
    assert origins(store, second[0]) == {first[0]: 4 * ROWS}
    assert counts(store, second[0]) == (4, 4 * ROWS, 4 * ROWS, 0)
    assert len(store.points(second[0])) == 4 * ROWS
    assert reusable(store, claimed()[0]).sources == ()


@pytest.mark.parametrize(
    ("panel", "told", "has_kept", "has_kinds"),
    [("panel", "kinds", True, True), ("panel", "", True, False), ("another", "kinds", False, False)],
)
def test_kinds_of_words_are_copied_where_panel_and_kinds_are_the_same(
    store, claimed, articles, sweep, panel, told, has_kept, has_kinds
):
    first, second = claimed(), claimed()
    store.writer(*first).set_panel("panel", "kinds")
    store.writer(*second).set_panel(panel, told)
    terms = dict.fromkeys((*OPTIONAL, *KIND_TERMS), 0.25)
    made = (replace(summary, scores=summary.scores | terms) for summary in sweep(articles).summaries)
    store.writer(*first).record([(articles, BundleResult(tuple(made), ()))])
    store.writer(*second).record([(articles, BundleResult((), ()))], reusable=reusable(store, second[0]))
    sql = f"select distinct kept is not null, kinds is not null from summaries where run_id = '{second[0]}'"
    assert [tuple(map(bool, row)) for row in stored_rows.rows(store, sql)] == [(has_kept, has_kinds)]
    assert store.articles_without(second[0], "kept", "kinds") == sorted(
        [] if has_kinds else [article.id for article in articles]
    )


def test_sqlite_goes_to_the_rows_by_their_key(sqlite_url: str) -> None:
    """A plan that reads all rows of a run would take minutes for each piece of a large one."""
    with open_store(sqlite_url):
        pass
    values = {
        **{"run_id": "new", "articles": ["a", "b"], "sources": ["r", "s"], "of_same_panel": ["r"]},
        **{"of_same_kinds": ["r"], "lengths": [0, 3], "reuse_keys": ["w"]},
    }
    with sa.create_engine(sqlite_url).connect() as connection:
        for statement in (stored_articles._KNOWN, stored_articles._COPY):
            explained = sa.text(f"EXPLAIN QUERY PLAN {statement.text}").bindparams(*statement._bindparams.values())
            found = [row.detail for row in connection.execute(explained, values)]
            assert any(
                "s USING INDEX sqlite_autoindex_summaries_1 (run_id=? AND article_id=?" in step for step in found
            ), found
            assert not any(step.startswith("SCAN") for step in found), found


def test_what_was_written_in_16_bits_is_not_copied(store, claimed, articles, sweep):
    """There a text depends on the others of its batch, which follow from the memory that was free."""
    first, second = claimed(), claimed()
    dtypes = {"lead": {"dtype": "float32"}, "mini|centroid": {"dtype": "bfloat16"}}
    summaries = (replace(summary, extra=dtypes[summary.system]) for summary in sweep(articles).summaries)
    store.writer(*first).record([(articles, BundleResult(tuple(summaries), ()))])
    found = reusable(store, second[0])
    known = store.known_summaries(found, [article.id for article in articles])
    assert {system for rows in known.values() for system, _ in rows} == {"lead"}
    with pytest.raises(StoreError, match="would have 12 summaries instead of 24"):
        store.writer(*second).record([(articles, BundleResult((), ()))], reusable=found)
