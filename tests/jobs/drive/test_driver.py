"""The driver on the in-process pool: what it stores, what it leaves out, and what it survives."""

from pathlib import Path

import pytest
from stored_rows import everything
from undisturbed import QUIET

from bench import stub_work
from nws.core.errors import HubError, RecipeError, StoreError, StoreUnavailableError
from nws.jobs.drive import driver
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import RunWriter, Store

SMALL = {"datasets.limit": 5, "n": [1, 7], "bundle_size": 2}


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_job("phase1", "sample", SMALL)


def test_a_second_run_gives_the_same_rows_and_resuming_a_finished_one_does_nothing(
    store: Store, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (driver.start(store, plan, "inline", QUIET) for _ in range(2))
    assert everything(store, first.run_id) == everything(store, second.run_id)
    monkeypatch.setattr(driver, "open_pools", None)  # would fail if it were opened
    assert driver.resume(store, first.run_id, "inline", None, None, QUIET) == first


def test_a_failing_article_is_recorded_and_tried_again_on_resume(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "news.jsonl"
    good = '{"id": "%d", "article": "The mayor of the town opened a new bridge today.", "summary": "New bridge."}\n'
    file.write_text(good % 1 + '{"id": "2", "article": "...", "summary": "Nothing."}\n' + good % 3)
    plan = plan_job("phase1", "sample", {"datasets": [{"name": str(file)}], "n": [1, 7]})
    outcome = driver.start(store, plan, "inline", QUIET)
    assert (outcome.state, outcome.articles, outcome.failures) == ("done", 2, 1)
    (failure,) = store.failures(outcome.run_id)
    assert (failure.key, failure.error_class, failure.attempts) == ("2", "EmptyArticleError", 1)
    again = driver.resume(store, outcome.run_id, "inline", None, None, QUIET)
    assert (again.articles, again.failures) == (2, 1)
    assert store.failures(outcome.run_id)[0].attempts == 2
    file.write_text(good % 1)
    with pytest.raises(RecipeError, match="datasets"):
        driver.resume(store, outcome.run_id, "inline", None, None, QUIET)


def test_an_error_that_stops_the_run_is_kept_with_it(store: Store, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: object) -> None:
        raise StoreError("permission denied")

    monkeypatch.setattr(RunWriter, "record", refused)
    with pytest.raises(StoreError, match="permission denied"):
        driver.start(store, plan, "inline", QUIET)
    (run,) = store.list_runs()
    assert (run.state, run.error) == ("failed", "StoreError: permission denied")


def test_a_store_that_does_not_come_back_is_not_waited_for_again_to_write_the_end(
    store: Store, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[object] = []

    def away(*arguments: object) -> None:
        tried.append(arguments)
        raise StoreUnavailableError("gone")

    monkeypatch.setattr("nws.jobs.store.database.PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(RunWriter, "record", lambda self, *arguments: self.store.retried(away))
    monkeypatch.setattr(RunWriter, "finish", lambda self, *arguments: self.store.retried(lambda: away(*arguments)))
    with pytest.raises(StoreUnavailableError, match="gone"):
        driver.start(store, plan, "inline", QUIET, stub_work.work)
    assert tried.count(()) > 1
    assert [arguments[0] for arguments in tried if arguments] == ["failed"]


def test_a_model_that_is_not_there_is_found_before_there_is_a_run(store: Store) -> None:
    plan = plan_job("phase1", "sample", {**SMALL, "encoders": ["bert-base-uncased"]})
    with pytest.raises(HubError, match="bert-base-uncased"):
        driver.start(store, plan, "ray", QUIET)
    assert store.list_runs() == []
