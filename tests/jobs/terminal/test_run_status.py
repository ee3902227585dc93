"""How runs are listed, through the command line and a real store."""

from collections.abc import Callable
from pathlib import Path

import pytest

from core.learning.learner import UpdateStatistics
from jobs.store import PolicyCheckpoint, RoundResult, RunSpec, open_store

TOTAL = 30
NUMBERS = (0.0,) * 9


def trained(store_url: str, updates: int) -> None:
    """A run of two policies, of which one has had all its updates."""
    spec = RunSpec("phase2", {}, "hash", 0, "v", {}, {}, 4)
    with open_store(store_url) as store:
        run_id = store.create_run(spec, "phase2-x")
        epoch = store.claim_run(run_id, "host", 1)
        store.set_total(run_id, epoch, 8)
        for name, count in (("a", updates), ("b", TOTAL)):
            checkpoint = PolicyCheckpoint(name, 0, (3,), count, TOTAL, {}, b"")
            store.record_round(
                run_id, epoch, [RoundResult(name, UpdateStatistics(count - 1, *NUMBERS), [], (), checkpoint)]
            )
        store.create_run(spec, "phase2-waiting")


@pytest.mark.parametrize(("updates", "shown"), [(12, "0/8 (training: 42/60 updates)"), (TOTAL, "0/8")])
def test_the_list_tells_how_far_a_training_is(
    nws: Callable[..., object], tmp_path: Path, updates: int, shown: str
) -> None:
    trained(f"sqlite:///{tmp_path / 'nws.db'}", updates)
    waiting, training = nws("ls").out.splitlines()[-2:]
    assert waiting.split()[:3] == ["phase2-waiting", "pending", "0/?"]
    assert " ".join(training.split()).startswith(f"phase2-x running {shown} 0 0")
    waiting, training = nws("ls", "--json").json
    assert (training["updates"], training["total_updates"]) == (updates + TOTAL, 2 * TOTAL)
    assert "updates" not in waiting
