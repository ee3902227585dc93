"""Content kept in runs: of the run's own articles, whatever was copied, interrupted, or is older than the metric."""

import io
import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from stored_rows import rows

from nws.core.text import word_kinds as kinds_of_words
from nws.core.types import Summary
from nws.jobs.drive import driver, pools
from nws.jobs.drive.reuse import reuse_keys
from nws.jobs.drive.run import Outcome
from nws.jobs.drive.stages import articles_without_kept
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import RunWriter, Store, open_store

Kept = dict[tuple[str, str, int], tuple[float | None, float | None, str]]


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=300)


def kept(store: Store, run_id: str) -> Kept:
    sql = f"select article_id, system, n, kept, kept_words, text from summaries where run_id = '{run_id}'"
    return {row[:3]: row[3:] for row in rows(store, sql)}


@pytest.fixture
def plan(tmp_path: Path, tiny_models: dict[str, Path], sample_rows: list[dict[str, str]]) -> Callable[[int], Plan]:
    short = [{**row, "article": " ".join(row["article"].split()[:60])} for row in sample_rows]
    (tmp_path / "short.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in short))
    bert = str(tiny_models["bert"])

    def of_first(limit: int) -> Plan:
        asked = {
            "bertscore": {"model": bert, "num_layers": 2},
            **{"encoder": bert, "systems": ["lead", "random"], "n": [1, 7], "bundle_size": 2},
            "datasets": [{"name": str(tmp_path / "short.jsonl"), "limit": limit}],
        }
        return plan_job("baselines", "sample", asked)

    return of_first


def agree(some: Kept, others: Kept) -> None:
    assert some.keys() == others.keys()
    for key, (recall, words, text) in some.items():
        other_recall, other_words, other_text = others[key]
        assert (text, words) == (other_text, other_words)
        assert recall == pytest.approx(other_recall, abs=1e-6)


def run(store: Store, what: Plan, console: Console, reuse: bool = True) -> Outcome:
    return driver.start(store, what, "inline", console, reuse=reuse)


def computed_alone(store: Store, what: Plan, console: Console) -> Kept:
    with open_store(f"{store.url}.alone") as alone:
        return kept(alone, run(alone, what, console, reuse=False).run_id)


def test_what_is_copied_from_a_run_of_fewer_articles_is_measured_with_the_new_ones(
    store: Store, plan: Callable[[int], Plan], console: Console
) -> None:
    few = kept(store, run(store, plan(4), console).run_id)
    outcome = run(store, plan(9), console)
    assert outcome.reused == len(few)
    now = kept(store, outcome.run_id)
    agree(now, computed_alone(store, plan(9), console))
    assert all(None not in scores for scores in now.values())
    assert any(now[key][0] != scores[0] for key, scores in few.items())
    assert "Measuring content kept of 4 articles" in console.file.getvalue()


def test_with_the_same_articles_it_is_copied(store: Store, plan: Callable[[int], Plan], console: Console) -> None:
    first = run(store, plan(4), console)
    second = run(store, plan(4), console)
    assert kept(store, second.run_id) == kept(store, first.run_id)
    assert "Measuring content kept" not in console.file.getvalue()


def test_a_run_that_is_interrupted_while_it_measures_is_resumed_there(
    store: Store, plan: Callable[[int], Plan], console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(store, plan(5), console)
    record = RunWriter.record_kept

    def record_once(self: RunWriter, summaries: Sequence[Summary]) -> None:
        record(self, summaries)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RunWriter, "record_kept", record_once)
        outcome = run(store, plan(9), console)
    assert outcome.state == "interrupted"
    # Of the five that were copied, a bundle of two is measured.
    assert len(articles_without_kept(store, outcome.run_id)) == 3
    resumed = driver.resume(store, outcome.run_id, "inline", None, None, console)
    assert (resumed.state, resumed.summaries) == ("done", outcome.summaries)
    agree(kept(store, outcome.run_id), computed_alone(store, plan(9), console))
    assert driver.resume(store, outcome.run_id, "inline", None, None, console).state == "done"  # and needs no pool


def test_a_single_article_has_none(store: Store, plan: Callable[[int], Plan], console: Console) -> None:
    outcome = run(store, plan(1), console)
    assert {scores[:2] for scores in kept(store, outcome.run_id).values()} == {(None, None)}
    assert outcome.state == driver.resume(store, outcome.run_id, "inline", None, None, console).state == "done"


def kinds(store: Store, run_id: str) -> dict[tuple[str, str, int], bytes | None]:
    sql = f"select article_id, system, n, kinds from summaries where run_id = '{run_id}'"
    return {row[:3]: None if row[3] is None else bytes(row[3]) for row in rows(store, sql)}


def kind_rows(store: Store, run_id: str) -> list[tuple[object, ...]]:
    return rows(
        store, f"select system, n, kind, share, articles from kept_by_kind where run_id = '{run_id}' order by 1, 2, 3"
    )


def without(patch: pytest.MonkeyPatch) -> None:
    """As on a machine without a pipeline."""
    patch.setattr(kinds_of_words, "is_installed", lambda name: False)


def test_rows_that_are_copied_without_kinds_get_them_and_keys_do_not_hang_on_the_pipeline(
    store: Store, plan: Callable[[int], Plan], console: Console, monkeypatch: pytest.MonkeyPatch, word_kinds: str
) -> None:
    with monkeypatch.context() as patch:
        without(patch)
        plain, keys = run(store, plan(4), console), reuse_keys(plan(4))
        signatures = store.run_info(plain.run_id).signatures
    assert "Content kept is not split by kind of word: to have that, install" in console.file.getvalue()
    assert (set(kinds(store, plain.run_id).values()), kind_rows(store, plain.run_id)) == ({None}, [])
    assert reuse_keys(plan(4)) == keys
    copied = run(store, plan(4), console)
    assert copied.reused == plain.summaries
    assert store.run_info(copied.run_id).signatures == signatures
    assert {len(of) for of in kinds(store, copied.run_id).values()} == {32}
    agree(kept(store, copied.run_id), kept(store, plain.run_id))
    assert {row[0] for row in kind_rows(store, copied.run_id)} == {"lead", "random"}
    with open_store(f"{store.url}.alone") if store.url.startswith("sqlite") else nullcontext(store) as other:
        alone = run(other, plan(4), console, reuse=False).run_id
        for row, copied_row in zip(kind_rows(other, alone), kind_rows(store, copied.run_id), strict=True):
            assert row == (*copied_row[:3], pytest.approx(copied_row[3], abs=2e-3), copied_row[4])
    resumed = driver.resume(store, plain.run_id, "inline", None, None, console)
    assert resumed.state == "done", "and stays without"
    assert store.run_info(plain.run_id).word_kinds == ""


def test_a_run_that_is_resumed_without_its_pipeline_goes_on(
    store: Store, plan: Callable[[int], Plan], console: Console, monkeypatch: pytest.MonkeyPatch, word_kinds: str
) -> None:
    record = RunWriter.record

    def record_once(self: RunWriter, *landed: Any) -> None:
        record(self, *landed)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RunWriter, "record", record_once)
        begun = run(store, plan(4), console).run_id
    first = {key: of for key, of in kinds(store, begun).items() if of}
    assert first
    with monkeypatch.context() as patch:
        without(patch)
        assert driver.resume(store, begun, "inline", None, None, console).state == "done"
    assert f"Warning: content kept is not split by kind of word: the run began with {word_kinds}" in (
        console.file.getvalue().replace("\n", " ")
    )
    assert (store.run_info(begun).word_kinds, kinds(store, begun) | first) == (word_kinds, kinds(store, begun))


def test_machines_that_differ_tell_no_kinds(
    store: Store, plan: Callable[[int], Plan], console: Console, monkeypatch: pytest.MonkeyPatch, word_kinds: str
) -> None:
    monkeypatch.setattr(
        pools.Pools.__init__, "__defaults__", (*pools.Pools.__init__.__defaults__[:-1], lambda ask: [ask(), ""])
    )
    found = run(store, plan(3), console).run_id
    assert set(kinds(store, found).values()) == {None}
    assert store.run_info(found).word_kinds == ""
    told = console.file.getvalue().replace("\n", " ")
    assert "not split by kind of word: machines differ, and this driver finds no pipeline, en_core_web_sm" in told
