"""What drivers found in the datasets of a run, on both databases."""

import pytest

from core.errors import FencedError
from core.text.corpus import ReadBefore
from jobs.store import RunSpec, Store, articles

FIRST = (ReadBefore("sha256:1", b"abcdefghij"), ReadBefore("commit", b"\0\xff"))


def test_what_was_read_is_kept_for_the_code_that_read_it(
    store: Store, spec: RunSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(articles, "PART_BYTES", 4)
    run_id, other_id = store.create_run(spec), store.create_run(spec)
    epoch = store.claim_run(run_id, "here", 1)
    writer = store.writer(run_id, epoch)
    assert store.datasets_read(run_id, "code") == ()
    writer.keep_read("code", FIRST)
    assert store.datasets_read(run_id, "code") == FIRST
    assert store.datasets_read(run_id, "other code") == store.datasets_read(other_id, "code") == ()
    writer.keep_read("code", ())  # known already
    assert store.datasets_read(run_id, "code") == FIRST
    writer.keep_read("other code", FIRST[:1])
    assert store.datasets_read(run_id, "code") == ()
    assert store.datasets_read(run_id, "other code") == FIRST[:1]
    assert store.claim_run(run_id, "there", 2, take_over=True) > epoch
    with pytest.raises(FencedError):
        writer.keep_read("code", FIRST)
    store.writer(run_id, epoch + 1).finish("interrupted")
    store.remove_run(run_id, "here")
    assert store.datasets_read(run_id, "other code") == ()
