"""A run in which article after article fails for one reason is stopped, and one with a few bad articles is not."""

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console

from bench import stub_work
from cluster.article_work import Work
from core.errors import DeviceError, NwsError, PluginError
from core.stage import Stage
from core.types import Article, BundleResult, Failure, SegmentedArticle, Summary
from jobs.drive import driver
from jobs.drive.pools import MakeWork
from jobs.drive.run import EqualFailures
from jobs.recipes.job import make_plan
from jobs.recipes.load import load_recipe
from jobs.recipes.plan import Plan
from jobs.recipes.sweep_recipe import Phase1Recipe
from jobs.store import open_store

QUIET = Console(file=io.StringIO())
CUBLAS = "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"


def planned(folder: Path, **settings: Any) -> Plan:
    """A run over 40 articles."""
    rows = [
        {"id": f"a{i}", "article": f"The mayor opened bridge number {i} today.", "summary": "A bridge."}
        for i in range(40)
    ]
    (folder / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    recipe = {"datasets": [{"name": str(folder / "news.jsonl")}], "n": [1], "bundle_size": 4, **settings}
    return make_plan(load_recipe(Phase1Recipe, "sample", recipe))


def raising(bad: Any, error: type[Exception], message: str) -> MakeWork:
    """Work whose sweeper raises for bad articles; `{key}` in the message becomes the article's."""

    def work(stage: Stage, device: str, fraction: float | None) -> Work:
        real = stub_work.work(stage, device, fraction)

        def make() -> Any:
            sweep = real.make_sweeper()

            def raising_sweep(articles: Sequence[SegmentedArticle]) -> list[Summary]:
                for segmented in articles:
                    if bad(int(segmented.article.key[1:])):
                        raise error(message.format(key=segmented.article.key))
                return sweep(articles)

            return raising_sweep

        return replace(real, make_sweeper=make)

    return work


MENDED = stub_work.work


def test_a_plugin_that_always_raises_stops_the_run_and_resume_does_the_rest(tmp_path: Path) -> None:
    always = raising(lambda number: number >= 2, PluginError, "article {key!r}: line 3: no such key")
    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as store:
        with pytest.raises(NwsError, match=r"^10 articles in a row .*line 3: no such key.*nws resume"):
            driver.start(store, planned(tmp_path, stop_after_equal_failures=10), "inline", QUIET, always)
        (run,) = store.list_runs()
        assert (run.state, run.articles_done) == ("failed", 2)
        assert "10 articles in a row failed for the same reason" in str(run.error)
        assert {failure.key for failure in store.failures(run.id)} == {f"a{i}" for i in range(2, 12)}
        outcome = driver.resume(store, run.id, "inline", None, None, QUIET, make_work=MENDED)
        assert (outcome.state, outcome.articles, outcome.failures) == ("done", 40, 0)


@pytest.mark.parametrize(
    ("bad", "settings"),
    [
        (lambda number: number % 10 != 9, {"stop_after_equal_failures": 10}),  # nine, then a good one
        (lambda number: number == 7, {"stop_after_equal_failures": 2}),
        (lambda number: True, {"stop_after_equal_failures": None}),
        (lambda number: True, {}),  # fewer than the default
    ],
)
def test_bad_articles_among_good_ones_do_not_stop_it_nor_if_it_is_turned_off(
    bad: Any, settings: dict[str, Any], tmp_path: Path
) -> None:
    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as store:
        make_work = raising(bad, ValueError, "cannot")
        outcome = driver.start(store, planned(tmp_path, **settings), "inline", QUIET, make_work)
        assert (outcome.state, outcome.failures) == ("done", sum(map(bad, range(40))))


def test_an_error_of_the_gpu_stops_an_inline_run_and_no_article_has_failed(tmp_path: Path) -> None:
    make_work = raising(lambda number: number >= 9, RuntimeError, CUBLAS)
    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as store:
        with pytest.raises(DeviceError, match="CUBLAS_STATUS_ALLOC_FAILED"):
            driver.start(store, planned(tmp_path), "inline", QUIET, make_work)
        (run,) = store.list_runs()
        assert (run.state, run.articles_done, run.failures) == ("failed", 8, 0)
        assert "The GPU has no memory left" in str(run.error)
        outcome = driver.resume(store, run.id, "inline", None, None, QUIET, make_work=MENDED)
        assert (outcome.state, outcome.articles, outcome.failures) == ("done", 40, 0)


def test_failures_are_equal_whatever_the_articles_are_called() -> None:
    articles = [Article("d", "s", key, key, ("r",)) for key in ("1", "12", "x.y")]
    seen = EqualFailures("run", 3)

    def look(article: Article, message: str) -> None:
        seen.look([((article,), BundleResult((), (Failure(article.id, "ValueError", message, 1, "node"),)))])

    for article in articles[:2]:
        look(article, f"{article.key} ({article.id}): took 121 s")
    look(articles[2], "took 122 s")  # another reason
    for article in articles[:2]:
        look(article, f"{article.key} ({article.id}): took 121 s")
    with pytest.raises(NwsError):
        look(articles[2], f"x.y ({articles[2].id}): took 121 s")


def test_memory_of_many_articles_together_is_tried_for_each_alone(tmp_path: Path) -> None:
    def work(stage: Stage, device: str, fraction: float | None) -> Work:
        real = stub_work.work(stage, device, fraction)

        def make() -> Any:
            sweep = real.make_sweeper()

            def only_alone(articles: Sequence[SegmentedArticle]) -> list[Summary]:
                if len(articles) > 1:
                    raise torch.OutOfMemoryError("CUDA out of memory")
                return sweep(articles)

            return only_alone

        return replace(real, make_sweeper=make)

    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as store:
        outcome = driver.start(store, planned(tmp_path), "inline", QUIET, work)
        assert (outcome.state, outcome.articles, outcome.failures) == ("done", 40, 0)
