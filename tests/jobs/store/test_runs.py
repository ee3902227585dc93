import dataclasses
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from stored_rows import rows

from nws.core.errors import FencedError, StoreError
from nws.jobs.store import Progress, open_store


def test_a_new_run_is_pending_and_comes_back_as_it_was(store, spec):
    before = datetime.now(UTC)
    run_id = store.create_run(spec)
    info = store.run_info(run_id)
    for field in dataclasses.fields(spec):
        assert getattr(info, field.name) == getattr(spec, field.name)
    assert run_id.startswith("phase1-2")
    assert (info.state, info.driver_epoch, info.total_articles) == ("pending", 0, None)
    assert before - timedelta(seconds=1) < info.created_at <= datetime.now(UTC)
    assert info.created_at.utcoffset() == timedelta(0)
    assert (info.started_at, info.finished_at, info.heartbeat_at, info.error) == (None,) * 4
    assert (info.articles_done, info.summaries, info.failures) == (0, 0, 0)


def test_claiming_and_finishing(store, spec):
    run_id = store.create_run(spec)
    epoch = store.claim_run(run_id, "host-a", 11)
    for version, ways in (("0.1.0+abc", ["MKL"]), ("0.2.0", ["MKL", "oneDNN"]), ("0.2.0", ["MKL"])):
        store.writer(run_id, epoch).start("2 x 1 CPU", version, {})
        store.writer(run_id, epoch).note_workers("2 x 1 CPU: some", ways)
    store.writer(run_id, epoch).set_total(400)
    running = store.run_info(run_id)
    assert (running.state, running.driver_epoch, running.total_articles) == ("running", epoch, 400)
    assert (running.driver_host, running.driver_pid, running.device) == ("host-a", 11, "2 x 1 CPU: some")
    assert (running.code_version, running.arithmetic) == ("0.1.0+abc, 0.2.0", ["MKL", "oneDNN"])
    store.writer(run_id, epoch).finish("failed", "disk full")
    with pytest.raises(FencedError, match=f"is 'failed'.*nws resume {run_id}"):
        store.writer(run_id, epoch).set_total(1)
    failed = store.run_info(run_id)
    assert (failed.state, failed.error) == ("failed", "disk full")
    assert failed.started_at <= failed.finished_at

    assert store.claim_run(run_id, "host-b", 12) == epoch + 1
    again = store.run_info(run_id)
    assert (again.state, again.error, again.finished_at) == ("running", None, None)
    assert again.started_at == failed.started_at
    assert again.driver_host == "host-b"


def test_claiming_an_unknown_run_lists_the_newest(store, spec):
    with pytest.raises(StoreError, match=r"no run 'phase1-x'\. It has no run yet"):
        store.claim_run("phase1-x", "host", 1)
    ids = [store.create_run(spec) for _ in range(7)]
    for ask in (store.run_info, lambda name: store.claim_run(name, "host", 1)):
        with pytest.raises(
            StoreError, match=rf"no run 'phase1-x'\. The newest runs are {', '.join(reversed(ids[2:]))}"
        ):
            ask("phase1-x")
    assert [run.id for run in store.list_runs()] == ids[::-1]
    store.create_run(dataclasses.replace(spec, recipe_hash="beef"))
    assert (store.find_run("cafe"), store.find_run("none")) == (ids[-1], None)


def test_a_replaced_driver_can_write_nothing(store, run, articles, sweep, failure):
    run_id, old = run
    store.writer(run_id, old).record([(articles[:1], sweep(articles[:1]))])
    new = store.claim_run(run_id, "host-b", 22, take_over=True)
    for write in (
        lambda: store.writer(run_id, old).record([(articles, sweep(articles))]),
        lambda: store.writer(run_id, old).record([(articles[:2], failure(articles[1]))]),
        lambda: store.writer(run_id, old).start("cpu", "x", {"lead": "control"}),
        lambda: store.writer(run_id, old).set_total(9),
        lambda: store.writer(run_id, old).note_workers("cpu", ["MKL"]),
        lambda: store.writer(run_id, old).finish("done"),
    ):
        with pytest.raises(FencedError, match=r"taken over by pid 22 on host-b .*\(driver 2; this is driver 1\)"):
            write()
    info = store.run_info(run_id)
    assert (info.state, info.articles_done, info.failures, info.total_articles) == ("running", 1, 0, None)
    assert rows(store, "SELECT COUNT(*) FROM articles") == [(1,)]
    store.writer(run_id, new).record([(articles, sweep(articles))])
    assert store.run_info(run_id).articles_done == 4


def test_times_do_not_depend_on_the_time_zone(store_url, spec, monkeypatch):
    import time

    with open_store(store_url) as store:
        run_id = store.create_run(spec)
        created = store.run_info(run_id).created_at
    for name in ("TZ", "PGTZ"):
        monkeypatch.setenv(name, "Asia/Seoul")
    time.tzset()
    try:
        with open_store(store_url) as store:
            assert store.run_info(run_id).created_at == created
            assert store.run_info(run_id).created_at.tzinfo is UTC
            later = store.run_info(store.create_run(spec)).created_at
            assert created < later < created + timedelta(minutes=5)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_run_whose_driver_lives_is_refused(store, spec):
    run_id = store.create_run(spec)
    epoch = store.claim_run(run_id, "host-a", os.getpid())
    message = f"being driven by pid {os.getpid()} on host-a, whose last heartbeat was at .*--take-over"
    for host in ("host-a", "host-b"):
        with pytest.raises(StoreError, match=message):
            store.claim_run(run_id, host, 22)
        with pytest.raises(StoreError, match=message):
            store.require_free(run_id, host)
    assert store.require_free(run_id, "host-b", take_over=True).driver_epoch == epoch
    assert store.claim_run(run_id, "host-b", 22, take_over=True) == epoch + 1
    with pytest.raises(FencedError):
        store.writer(run_id, epoch).heartbeat()


def test_a_run_whose_driver_is_gone_is_free(store, spec, monkeypatch):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    run_id = store.create_run(spec)
    store.claim_run(run_id, "host-a", ended.pid)
    with pytest.raises(StoreError, match="being driven"):  # from elsewhere, its process cannot be seen
        store.require_free(run_id, "host-b")
    assert store.require_free(run_id, "host-a").id == run_id
    assert store.claim_run(run_id, "host-a", os.getpid()) == 2
    monkeypatch.setattr("nws.jobs.store.runs.SILENT_SECONDS", 0.0)
    assert store.claim_run(run_id, "host-b", 22) == 3


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_heartbeat_of_a_clock_that_is_off_is_no_sign_of_life(store, spec, hours, monkeypatch):
    class Off(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + timedelta(hours=hours)

    run_id = store.create_run(spec)
    with monkeypatch.context() as patch:
        for module in ("runs", "lifecycle", "run_writer"):
            patch.setattr(f"nws.jobs.store.{module}.datetime", Off)
        epoch = store.claim_run(run_id, "host-a", os.getpid())
        with pytest.raises(StoreError, match="being driven"):
            store.require_free(run_id, "host-b")
    assert store.claim_run(run_id, "host-b", 22) == epoch + 1
    with pytest.raises(FencedError):
        store.writer(run_id, epoch).heartbeat()


def test_cancelling(store, spec):
    run_id = store.create_run(spec)
    assert not store.cancel_run(run_id, "host-a")  # nobody drives it yet
    cancelled = store.run_info(run_id)
    assert (cancelled.state, cancelled.error) == ("interrupted", "cancelled")
    epoch = store.claim_run(run_id, "host-a", os.getpid())
    assert not store.writer(run_id, epoch).heartbeat()  # resuming it is a new beginning
    assert store.cancel_run(run_id, "host-b")
    assert store.writer(run_id, epoch).heartbeat()
    store.writer(run_id, epoch).finish("done")
    assert not store.cancel_run(run_id, "host-a")
    assert store.run_info(run_id).state == "done"
    with pytest.raises(StoreError, match="no run 'x'"):
        store.cancel_run("x", "host-a")


def test_a_submission_takes_a_run_from_the_jobs_before_it(store, spec):
    run_id = store.create_run(spec)
    assert store.submit_again(run_id, "host-a", "http://head:8265", take_over=False) == 1
    with pytest.raises(FencedError, match=r"epoch 0.*cancelled, submitted again or claimed.*epoch 1, pending"):
        store.claim_run(run_id, "host-b", 1, epoch=0)
    assert store.claim_run(run_id, "host-b", 2, epoch=1) == 2
    assert store.run_info(run_id).address == "http://head:8265"
    with pytest.raises(FencedError):
        store.claim_run(run_id, "host-b", 3, epoch=1)
    assert store.claim_run(run_id, "host-b", 2, epoch=1) == 3  # the answer to the first claim was lost


def test_a_run_with_a_living_driver_is_submitted_again_only_to_replace_it(store, run):
    run_id, epoch = run
    with pytest.raises(StoreError, match="is being driven by"):
        store.submit_again(run_id, "host-b", "http://head:8265", take_over=False)
    assert store.submit_again(run_id, "host-b", "http://head:8265", take_over=True) == epoch + 1
    with pytest.raises(FencedError, match="cancelled or resubmitted meanwhile"):
        store.writer(run_id, epoch).heartbeat()
    info = store.run_info(run_id)
    assert (info.state, info.driver_host, info.driver_pid) == ("pending", None, None)


def test_who_was_asked_to_stop_before_its_next_claim_is_still_asked(store, spec):
    run_id = store.create_run(spec)
    held = store.claim_run(run_id, "host-a", 1, epoch=0)
    assert store.cancel_run(run_id, "host-b")
    assert store.writer(run_id, store.claim_run(run_id, "host-a", 1, epoch=held)).heartbeat()
    store.writer(run_id, held + 1).finish("interrupted")
    assert not store.writer(run_id, store.claim_run(run_id, "host-a", 1)).heartbeat()


def test_what_is_noted_replaces_what_was_noted(store, run, spec):
    now = datetime(2026, 11, 22, 12, 30, 15, tzinfo=UTC)
    first = Progress(now, "sweep", "articles", 5, 1, None, 2.5, 3, "00ff")
    other = store.create_run(spec)
    assert store.progress(run[0]) is None
    for at in (first, dataclasses.replace(first, total=9, newest=None, recorded_at=now + timedelta(seconds=5))):
        assert not store.writer(*run).heartbeat(at=at)
        assert store.progress(run[0]) == at
    store.writer(*run).heartbeat()  # which has nothing to tell
    assert store.progress(run[0]).total == 9
    assert store.progress(other) is None
    epoch = store.claim_run(run[0], "host-b", 12, take_over=True)
    with pytest.raises(FencedError):
        store.writer(*run).heartbeat(at=first)
    assert store.progress(run[0]) is None  # the new driver begins anew
    store.writer(run[0], epoch).heartbeat(at=first)
    assert store.progress(run[0]) == first
