"""A run in which article after article fails for one reason is stopped, and one with a few bad articles is not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from failing_work import failing_work
from undisturbed import QUIET

from bench import stub_work
from nws.core.article import Article
from nws.core.errors import DeviceError, NwsError, PluginError
from nws.jobs.drive import driver
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import Store

CUBLAS = "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"


def planned(folder: Path, **settings: Any) -> Plan:
    """A run over 40 articles."""
    rows = [
        {"id": f"a{i}", "article": f"The mayor opened bridge number {i} today.", "summary": "A bridge."}
        for i in range(40)
    ]
    (folder / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    recipe = {"datasets": [{"name": str(folder / "news.jsonl")}], "n": [1], "bundle_size": 4, **settings}
    return plan_job("phase1", "sample", recipe)


def number(article: Article) -> int:
    return int(article.key[1:])


def resumed(store: Store, run_id: str) -> tuple[str, int, int]:
    """How the run stands once everything works."""
    outcome = driver.resume(store, run_id, "inline", None, None, QUIET, make_work=stub_work.work)
    return outcome.state, outcome.articles, outcome.failures


def test_a_plugin_that_always_raises_stops_the_run_and_resume_does_the_rest(store: Store, tmp_path: Path) -> None:
    """Whatever the articles are called."""
    always = failing_work(lambda article: number(article) >= 2, PluginError, "article {key!r}: line 3: no such key")
    with pytest.raises(NwsError, match=r"^10 articles in a row .*line 3: no such key.*nws resume"):
        driver.start(store, planned(tmp_path, stop_after_equal_failures=10), "inline", QUIET, always)
    (run,) = store.list_runs()
    assert (run.state, run.articles_done) == ("failed", 2)
    assert "10 articles in a row failed for the same reason" in str(run.error)
    assert {failure.key for failure in store.failures(run.id)} == {f"a{i}" for i in range(2, 12)}
    assert resumed(store, run.id) == ("done", 40, 0)


@pytest.mark.parametrize(
    ("bad", "message", "settings"),
    [
        (lambda article: number(article) % 10 != 9, "cannot", {"stop_after_equal_failures": 10}),  # then a good one
        (lambda article: True, "cannot {key}1", {"stop_after_equal_failures": 2}),  # another reason for each
        (lambda article: True, "cannot", {"stop_after_equal_failures": None}),
        (lambda article: True, "cannot", {}),  # fewer than the default
    ],
)
def test_bad_articles_among_good_ones_do_not_stop_it_nor_if_it_is_turned_off(
    bad: Callable[[Article], bool], message: str, settings: dict[str, Any], store: Store, tmp_path: Path
) -> None:
    plan = planned(tmp_path, **settings)
    outcome = driver.start(store, plan, "inline", QUIET, failing_work(bad, ValueError, message))
    assert (outcome.state, outcome.failures) == ("done", sum(map(bad, plan.corpora[0])))


def test_an_error_of_the_gpu_stops_an_inline_run_and_no_article_has_failed(store: Store, tmp_path: Path) -> None:
    broken = failing_work(lambda article: number(article) >= 9, RuntimeError, CUBLAS)
    with pytest.raises(DeviceError, match="CUBLAS_STATUS_ALLOC_FAILED"):
        driver.start(store, planned(tmp_path), "inline", QUIET, broken)
    (run,) = store.list_runs()
    assert (run.state, run.articles_done, run.failures) == ("failed", 8, 0)
    assert "The GPU has no memory left" in str(run.error)
    assert resumed(store, run.id) == ("done", 40, 0)
