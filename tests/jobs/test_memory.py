"""A driver's memory does not grow with what it has stored."""

import gc
import tracemalloc
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from undisturbed import QUIET

from bench import stub_work
from nws.core.types import Landed
from nws.jobs.drive import driver
from nws.jobs.recipes.job import plan_job
from nws.jobs.store import RunWriter, open_store

pytestmark = pytest.mark.slow

ARTICLES, WARM_UP, STEP = 1500, 500, 100
# Sets of the ids of what has been read would take 200 bytes more, a summary's text or scores thousands.
MOST_BYTES_AN_ARTICLE = 150


def test_what_has_been_stored_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub_work.write_articles(tmp_path / "news.jsonl", ARTICLES)
    asked = {"datasets": [{"name": str(tmp_path / "news.jsonl")}], "n": [7], "bundle_size": 20}
    plan = plan_job("phase1", "sample", asked)
    held: list[int] = []
    record, stored = RunWriter.record, 0

    def metered(self: RunWriter, landed: Sequence[Landed], *rest: object) -> None:
        nonlocal stored
        record(self, landed, *rest)
        stored += sum(len(bundle) for bundle, _ in landed)
        if stored >= WARM_UP and stored % STEP == 0:
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])

    monkeypatch.setenv("NWS_STUB_SECONDS", "0")
    monkeypatch.setattr(RunWriter, "record", metered)
    with open_store(f"sqlite:///{tmp_path}/nws.db") as store:
        tracemalloc.start()
        try:
            outcome = driver.start(store, plan, "inline", QUIET, stub_work.work)
        finally:
            tracemalloc.stop()
    assert (outcome.state, outcome.articles) == ("done", ARTICLES)
    # What is kept of articles grows at every step. What a library caches once, 100 KB at times, grows at one of them.
    assert median(after - before for before, after in pairwise(held)) < MOST_BYTES_AN_ARTICLE * STEP
