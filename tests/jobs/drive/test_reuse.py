"""A run with reuse has, row by row, what the same run has without, and computes only what no other run has."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest
from stored_rows import difference, everything
from stored_rows import rows as answers
from undisturbed import QUIET

import nws.core.arithmetic  # noqa: F401  (stub workers import no torch, and tell how they multiply only where it is there)
from bench import stub_work
from nws.cluster.article_work import Work
from nws.core.article import SegmentedArticle
from nws.core.errors import FencedError
from nws.core.stage import NO_SEGMENTS, Stage
from nws.core.types import Summary
from nws.jobs.drive import driver, reuse
from nws.jobs.drive.pools import Pools
from nws.jobs.drive.run import Outcome
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import RunWriter, Store, open_store

SYSTEMS = 5


@dataclass
class Counting:
    """The stub work, and which summaries it was asked for."""

    computed: list[tuple[str, str, int]] = field(default_factory=list)
    fails_on: str = "nothing"

    def work(self, stage: Stage, device: str, memory_fraction: float | None) -> Work:
        return replace(stub_work.work(stage, device, memory_fraction), make_sweeper=partial(self._make, stage))

    def _make(self, stage: Stage) -> Callable[[Sequence[SegmentedArticle]], list[Summary]]:
        def sweep(bundle: Sequence[SegmentedArticle]) -> list[Summary]:
            if any(self.fails_on in found.article.text for found in bundle):
                raise ValueError("cannot be swept")
            if stage.pipeline != NO_SEGMENTS:  # else texts that are there are scored again
                self.computed += [
                    (f.article.key, s, n) for f in bundle for s in stage.signatures for n in stage.lengths
                ]
            return stub_work.sweep(stage.signatures, stage.lengths, 0, bundle)

        return sweep


@pytest.fixture
def file(tmp_path: Path) -> Path:
    stub_work.write_articles(tmp_path / "news.jsonl", 12)
    return tmp_path / "news.jsonl"


def pinned_to(file: Path, **changes: object) -> Plan:
    asked = {"datasets": [{"name": str(file), "limit": changes.pop("limit", None)}], "n": [1, 7], "bundle_size": 4}
    asked["rulers"] = []  # of which one depends on what other articles there are
    return plan_job("phase1", "sample", asked | changes)


def drive(store: Store, plan: Plan, *, again: bool = True, **how: str) -> tuple[Outcome, list[tuple[str, str, int]]]:
    """A run, and what it computed."""
    counting = Counting(**how)
    return driver.start(store, plan, "inline", QUIET, counting.work, reuse=again), counting.computed


def equals_computed(store: Store, plan: Plan, run_id: str) -> bool:
    """Whether a run has what it has in a store of its own."""
    with open_store("sqlite:///alone.db") as alone:
        computed, _ = drive(alone, plan, again=False)
        assert computed.reused == 0
        return difference(everything(store, run_id), everything(alone, computed.run_id)) is None


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("more", ["n", "encoder"])
def test_an_n_or_an_encoder_more_costs_that_alone(
    store: Store, file: Path, tiny_models: dict[str, Path], more: str
) -> None:
    drive(store, pinned_to(file))
    changes = {"n": {"n": [1, 7, 17]}, "encoder": {"encoders": ["all-MiniLM-L6-v2", str(tiny_models["bert"])]}}
    plan = pinned_to(file, **changes[more])
    outcome, computed = drive(store, plan)
    new = {n for _, _, n in computed} if more == "n" else {system.split("|")[0] for _, system, _ in computed}
    assert new == ({17} if more == "n" else {"tiny-bert"})
    assert (outcome.articles, outcome.summaries, outcome.reused) == (12, 120 + len(computed), 120)
    assert equals_computed(store, plan, outcome.run_id)


def in_another_folder(file: Path) -> Path:
    """Of the same name: the stub's scores hang on an article's id, which has its dataset in it."""
    (file.parent / "other").mkdir()
    return file.parent / "other" / file.name


def test_an_edited_reference_or_text_is_another_article(store: Store, file: Path) -> None:
    drive(store, pinned_to(file))
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    rows[3]["summary"] += " Indeed."
    rows[8]["article"] = f"Well: {rows[8]['article']}"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    outcome, computed = drive(store, pinned_to(file))
    assert {key for key, _, _ in computed} == {"3", "8"}
    assert outcome.reused == 100


def test_another_kind_of_machine_computes_everything(store: Store, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drive(store, pinned_to(file))
    monkeypatch.setattr("nws.core.arithmetic.describe_arithmetic", lambda: "NEON")
    assert drive(store, pinned_to(file))[0].reused == 0


def multiply(monkeypatch: pytest.MonkeyPatch, way: str, *, is_known: bool = True) -> None:
    """Workers multiply so from now on; the driver of a cluster does not know it."""
    monkeypatch.setattr("nws.core.arithmetic.describe_arithmetic", lambda: way)
    monkeypatch.setattr(Pools, "arithmetic", lambda self: way if is_known else None)


def third(file: Path) -> str:
    """The text of the third article."""
    return str(json.loads(file.read_text().splitlines()[2])["article"])


def log(store: Store, run_id: str) -> str:
    return " ".join(text for (text,) in answers(store, f"select text from log_lines where run_id = '{run_id}'"))


def test_where_nobody_knows_how_workers_multiply_that_of_the_rows_is_taken_and_told(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    multiply(monkeypatch, "NEON")
    drive(store, pinned_to(file, limit=8))
    multiply(monkeypatch, "SVE", is_known=False)
    whole, _ = drive(store, pinned_to(file, limit=8))
    partly, _ = drive(store, pinned_to(file))
    assert (whole.reused, partly.reused) == (80, 80)
    assert "multiply in 2 ways: NEON; SVE" in log(store, partly.run_id)
    assert [store.run_info(run.run_id).mixed for run in (whole, partly)] == [False, True]


def test_a_run_whose_workers_have_told_how_they_multiply_copies_nothing_else(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    multiply(monkeypatch, "SVE", is_known=False)
    begun, _ = drive(store, pinned_to(file), fails_on=third(file))
    assert begun.failures == 1
    multiply(monkeypatch, "NEON")
    assert drive(store, pinned_to(file), again=False)[0].failures == 0
    multiply(monkeypatch, "SVE", is_known=False)
    counting = Counting()
    resumed = driver.resume(store, begun.run_id, "inline", None, None, QUIET, make_work=counting.work)
    assert (resumed.reused, resumed.failures, len(counting.computed) > 0) == (0, 0, True)
    assert store.run_info(begun.run_id).arithmetic == ["SVE"]


@pytest.mark.slow
def test_any_history_gives_the_rows_that_are_computed(store: Store, file: Path) -> None:
    """Runs of some articles, n and importances, in a drawn order."""
    rows, draw = file.read_text().splitlines(), random.Random(7)
    some = in_another_folder(file)
    importances = ["position", "lexrank", "textrank"]
    for _ in range(6):
        chosen = sorted(draw.sample(range(len(rows)), draw.randint(2, 8)))
        some.write_text("".join(f"{rows[i]}\n" for i in chosen))
        asked = {
            "n": draw.sample([1, 3, 7, 9], draw.randint(1, 3)),
            "importance": draw.sample(importances, draw.randint(1, 2)),
        }
        drive(store, pinned_to(some, **asked))
    plan = pinned_to(file, n=[1, 3, 7, 9], importance=importances, bundle_size=2)
    outcome, _ = drive(store, plan)
    assert 0 < outcome.reused < outcome.summaries == 12 * SYSTEMS * 4
    assert equals_computed(store, plan, outcome.run_id)


def test_a_driver_that_is_replaced_while_it_copies_stops(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drive(store, pinned_to(file))
    monkeypatch.setattr(reuse, "ROWS_AT_ONCE", 1)  # a bundle at a time
    record, taken = RunWriter.record, []

    def taken_over(self: RunWriter, *arguments: object) -> None:
        record(self, *arguments)
        if not taken:
            taken.append(store.claim_run(self.id, "host-b", 1, take_over=True))

    with monkeypatch.context() as patch:
        patch.setattr(RunWriter, "record", taken_over)
        with pytest.raises(FencedError):
            drive(store, pinned_to(file))
    run = store.list_runs()[0]
    assert (run.articles_done, run.reused) == (4, 4 * SYSTEMS * 2)
    monkeypatch.setattr("socket.gethostname", lambda: "host-b")
    resumed = driver.resume(store, run.id, "inline", None, None, QUIET, take_over=True, make_work=Counting().work)
    assert (resumed.state, resumed.reused) == ("done", 120)
    assert equals_computed(store, pinned_to(file), run.id)


def test_an_article_that_failed_is_no_source_and_one_that_fails_gets_no_copies(store: Store, file: Path) -> None:
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    rows[5]["article"] += " Aargh."
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    first, _ = drive(store, pinned_to(file), fails_on="Aargh")
    assert (first.articles, first.failures) == (11, 1)
    second, computed = drive(store, pinned_to(file))
    assert {key for key, _, _ in computed} == {"5"}
    assert (second.articles, second.reused) == (12, 110)
    third, _ = drive(store, pinned_to(file, n=[1, 7, 9]), fails_on="Aargh")
    assert (third.state, third.articles, third.failures, third.reused) == ("done", 11, 1, 110)
    counting = Counting()
    resumed = driver.resume(store, third.run_id, "inline", None, None, QUIET, make_work=counting.work)
    assert (resumed.articles, resumed.failures, resumed.reused) == (12, 0, 120)
    assert {(key, n) for key, _, n in counting.computed} == {("5", 9)}


@pytest.mark.slow
def test_real_summaries_have_equal_texts_and_scores_that_agree(
    store: Store, tmp_path: Path, tiny_models: dict[str, Path], sample_rows: list[dict[str, str]]
) -> None:
    """Baselines, an oracle and a generator, copied from runs of another job, of fewer articles, and of fewer n."""
    short = tmp_path / "short.jsonl"
    rows = [{**row, "article": " ".join(row["article"].split()[:60])} for row in sample_rows[:3]]
    short.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    bert, bart = str(tiny_models["bert"]), str(tiny_models["bart"])
    systems = ["lead", "lead3", "textrank", "random", "oracle", bart]

    def asked(limit: int, n: list[int], **more: object) -> dict[str, object]:
        tiny = {"bertscore": {"model": bert, "num_layers": 2}, "bundle_size": 2}
        return {**tiny, "datasets": [{"name": str(short), "limit": limit}], "n": n, **more}

    def plan(limit: int, n: list[int]) -> Plan:
        return plan_job("baselines", "sample", asked(limit, n, encoder=bert, systems=systems))

    def run(to: Store, what: Plan, again: bool = True) -> Outcome:
        return driver.start(to, what, "inline", QUIET, reuse=again)

    run(store, plan_job("phase1", "sample", asked(1, [5], encoders=[bert])))
    run(store, plan(2, [1, 5]))
    whole = plan(3, [1, 5, 9])
    outcome = run(store, whole)
    # Of two articles 6 systems at 2 lengths, and what two of them wrote uncut.
    assert (outcome.state, outcome.reused) == ("done", 2 * (6 * 2 + 2))
    sql = f"select distinct reused_from from summaries where run_id = '{outcome.run_id}' and reused_from is not null"
    assert {source.split("-")[0] for (source,) in answers(store, sql)} == {"phase1", "baselines"}
    with open_store("sqlite:///alone.db") as alone:
        computed = everything(alone, run(alone, whole, again=False).run_id)["summaries"]
    found = everything(store, outcome.run_id)["summaries"]
    assert found.keys() == computed.keys()
    for key, row in found.items():
        # Attention sums over the padding of its batch, too, so a BERTScore may differ in its last digits.
        numbers, others = ([v for v in values if isinstance(v, float)] for values in (row, computed[key]))
        assert numbers == pytest.approx(others, abs=1e-6)
        assert [v for v in row if not isinstance(v, float)] == [v for v in computed[key] if not isinstance(v, float)]
