"""What a driver tells of itself, and what is shown beside it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.errors import FencedError
from core.types import BundleResult
from jobs.store import Progress

NOW = datetime(2026, 11, 22, 12, 30, 15, tzinfo=UTC)
AT = Progress(
    NOW,
    "sweep",
    finished=5,
    failed=1,
    total=None,
    span_seconds=2.5,
    span_finished=3,
    newest="00ff",
)


def test_what_is_noted_replaces_what_was_noted(store, run, spec):
    other = store.create_run(spec)
    assert store.progress(run[0]) is None
    for at in (AT, replace(AT, total=9, newest=None, noted_at=NOW + timedelta(seconds=5))):
        assert not store.writer(*run).heartbeat(at=at)
        assert store.progress(run[0]) == at
    store.writer(*run).heartbeat()  # which has nothing to tell
    assert store.progress(run[0]).total == 9
    assert store.progress(other) is None
    epoch = store.claim_run(run[0], "host-b", 12, take_over=True)
    with pytest.raises(FencedError):
        store.writer(*run).heartbeat(at=AT)
    assert store.progress(run[0]) is None  # the new driver begins anew
    store.writer(run[0], epoch).heartbeat(at=AT)
    assert store.progress(run[0]) == AT


def test_the_newest_failures_first(store, run, articles, failure):
    for number, article in enumerate(articles):
        store.writer(*run).record([([article], failure(article, f"reason {number}"))])
    found = store.failures(run[0], newest=3)
    assert [(reason.key, reason.message) for reason in found] == [(f"a{i}", f"reason {i}") for i in (3, 2, 1)]
    assert found[0].error_class == "OutOfMemoryError"
    store.writer(*run).record([([articles[3]], BundleResult((), ()))])  # it does not fail any more
    assert [reason.key for reason in store.failures(run[0], newest=1)] == ["a2"]
