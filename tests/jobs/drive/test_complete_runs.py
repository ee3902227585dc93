"""A run is done only if all that was announced is done or failed, and every article is one of those it began with."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from stored_rows import rows
from undisturbed import QUIET

from bench import stub_work
from nws.core.errors import CorpusError, StoreError
from nws.core.text.dataset import Dataset, open_rows
from nws.core.types import Landed
from nws.jobs.drive import driver
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import RunWriter, Store

STUB = stub_work.work
ARTICLES = 40
WORDS = 2_000  # more than a file object reads ahead


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NWS_STUB_SECONDS", "0")
    stub_work.write_articles(tmp_path / "news.jsonl", ARTICLES, WORDS)
    return tmp_path / "news.jsonl"


def pinned_to(file: Path) -> Plan:
    small = {"datasets": [{"name": str(file)}], "n": [1, 7], "bundle_size": 2}
    return plan_job("phase1", "sample", small)


def in_two_stages(plan: Plan) -> Plan:
    (stage,) = plan.stages
    halves = [stage.systems[:2], stage.systems[2:]]
    return replace(plan, stages=tuple(replace(stage, name=f"half-{i}", systems=half) for i, half in enumerate(halves)))


def after_bundles(monkeypatch: pytest.MonkeyPatch, bundles: int, do: Callable[[], object]) -> list[Landed]:
    """Do something as soon as so many bundles are stored; the list grows with all that are."""
    record, stored = RunWriter.record, list[Landed]()

    def recorded(self: RunWriter, landed: Sequence[Landed], *rest: object) -> None:
        record(self, landed, *rest)
        stored.extend(landed)
        if len(stored) == bundles:
            do()

    monkeypatch.setattr(RunWriter, "record", recorded)
    return stored


def rewrite(file: Path) -> None:
    """In place, every article with another text."""
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    file.write_text("".join(json.dumps({**row, "article": f"New {row['article']}"}) + "\n" for row in rows))


def cut(file: Path) -> None:
    file.write_text("".join(file.read_text().splitlines(keepends=True)[: ARTICLES // 2]))


def texts(store: Store) -> dict[str, str]:
    return dict(rows(store, "select key, text from articles"))


@pytest.mark.parametrize("change", [rewrite, cut])
def test_a_file_that_changes_while_a_run_reads_it_ends_the_run_and_none_of_the_change_is_stored(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    before = file.read_text()
    written = {row["id"]: row["article"] for row in map(json.loads, before.splitlines())}
    with monkeypatch.context() as patch:
        after_bundles(patch, 2, lambda: change(file))
        with pytest.raises(CorpusError, match=r"news\.jsonl was changed"):
            driver.start(store, pinned_to(file), "inline", QUIET, STUB)
    (run,) = store.list_runs()
    assert run.state == "failed"
    assert "news.jsonl was changed while it was in use" in str(run.error)
    assert 0 < run.articles_done < ARTICLES
    assert texts(store).items() <= written.items()

    file.write_text(before)
    resumed = driver.resume(store, run.id, "inline", None, None, QUIET, make_work=STUB)
    assert (resumed.state, resumed.articles, resumed.failures) == ("done", ARTICLES, 0)
    assert texts(store) == written


class Stream:
    """Rows of a stream, of which each reading gives so many."""

    def __init__(self, *sizes: int) -> None:
        self._sizes = iter(sizes)

    def __iter__(self) -> Iterator[dict[str, str]]:
        return iter([{"article": f"The town opened bridge {i}.", "summary": "x"} for i in range(next(self._sizes))])


def streamed(plan: Plan, *sizes: int) -> Plan:
    """Read to be opened, to draw the panel, and then by each stage."""
    spec = Dataset("org/news", streaming=True, limit=100)
    return replace(plan, corpora=(open_rows(Stream(1, 6, *sizes), "org/news", "org/news@abc", "abc", spec),))


@pytest.mark.parametrize("sizes", [(6, 4), (4, 6)])
def test_a_stream_that_gives_fewer_articles_to_one_stage_leaves_the_run_undone(
    store: Store, file: Path, sizes: tuple[int, int]
) -> None:
    with pytest.raises(StoreError, match="of its 6 articles, 2 have neither"):
        driver.start(store, streamed(in_two_stages(pinned_to(file)), *sizes), "inline", QUIET, STUB)
    (run,) = store.list_runs()
    assert run.state == "failed"


@pytest.mark.parametrize(("replaced", "what"), [(False, "deleted or moved away"), (True, "replaced by another file")])
def test_a_store_that_is_deleted_or_replaced_under_a_run_stops_it_at_once(
    store: Store, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replaced: bool, what: str
) -> None:
    path = tmp_path / "nws.db"

    def remove() -> None:
        path.rename(tmp_path / "old.db")
        if replaced:
            path.write_bytes((tmp_path / "old.db").read_bytes())

    stored = after_bundles(monkeypatch, 2, remove)
    with pytest.raises(StoreError, match=what):
        driver.start(store, pinned_to(file), "inline", QUIET, STUB)
    assert len(stored) == 2
    assert path.exists() == replaced
