"""The heartbeat of a driver, on a real store."""

import io
import time

import pytest
from hostile_server import eventually
from rich.console import Console

from nws.core.errors import CancelledError, StoreError, StoreUnavailableError
from nws.jobs.drive.run import Run
from nws.jobs.store import RunSpec, RunWriter, Store, runs

SPEC = RunSpec("phase1", {}, "hash", 0, "v", {}, {}, 1)


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nws.jobs.drive.run.BEAT_SECONDS", 0.02)


def run_of(store: Store, stream: io.StringIO | None = None, **options: float) -> tuple[str, Run]:
    run_id = store.create_run(SPEC)
    epoch = store.claim_run(run_id, "here", 1)
    return run_id, Run(store, run_id, epoch, Console(file=stream or io.StringIO()), **options)


def is_stopped(run: Run) -> bool:
    try:
        run.check()
    except (CancelledError, StoreError):
        return True
    return False


def test_a_living_driver_is_heard_of_and_what_it_says_is_stored(store: Store) -> None:
    stream = io.StringIO()
    run_id, run = run_of(store, stream)
    with run:
        before = store.run_info(run_id).heartbeat_at
        assert eventually(lambda: store.run_info(run_id).heartbeat_at > before)
        run.say("first")
        run.note("second [bold]")
        assert eventually(lambda: len(store.log(run_id)) == 2)
        run.say("last")
    assert [(number, line.text) for number, line in store.log(run_id)] == [
        (1, "first"),
        (2, "second [bold]"),
        (3, "last"),
    ]
    assert [line.text for _, line in store.log(run_id, after=2)] == ["last"]
    assert stream.getvalue() == "first\nlast\n"


def test_a_store_that_is_away_stops_nothing_and_loses_no_line(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id, run = run_of(store)
    beat, away = RunWriter.heartbeat, []

    def sometimes(*arguments: object) -> bool:
        if len(away) < 3:
            away.append(arguments)
            raise StoreUnavailableError("gone")
        return beat(*arguments)

    monkeypatch.setattr(RunWriter, "heartbeat", sometimes)
    with run:
        for text in ("a", "b", "c"):
            run.note(text)
            time.sleep(0.03)
        assert eventually(lambda: len(store.log(run_id)) == 3)
    assert [line.text for _, line in store.log(run_id)] == ["a", "b", "c"]


def test_lines_whose_storing_was_not_confirmed_are_not_repeated(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id, run = run_of(store)
    beat, lost = RunWriter.heartbeat, []

    def unconfirmed(*arguments: object) -> bool:
        answer = beat(*arguments)
        if arguments[1] and len(lost) < 3:
            lost.append(arguments)
            raise StoreUnavailableError("the connection broke after the commit")
        return answer

    monkeypatch.setattr(RunWriter, "heartbeat", unconfirmed)
    with run:
        for text in ("a", "b", "b", "c"):
            run.note(text)
            time.sleep(0.03)
        assert eventually(lambda: len(lost) == 3)
        run.note("d")
    assert [line.text for _, line in store.log(run_id)] == ["a", "b", "b", "c", "d"]


def test_a_run_whose_driver_hangs_can_be_taken_elsewhere(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "SILENT_SECONDS", 1.5)
    run_id, run = run_of(store, stuck_after=0.1)
    with run:

        def can_be_taken() -> bool:
            try:
                store.claim_run(run_id, "elsewhere", 2)
            except StoreError:
                return False
            return True

        assert not can_be_taken()
        assert eventually(can_be_taken)
        assert "has made no progress for" in store.log(run_id)[0][1].text
        # It moves again: its next beat tells it that it was replaced.
        assert eventually(lambda: is_stopped(run))
