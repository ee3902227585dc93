"""What is stored of a driver that dies without a word: real processes, ended as Ray's C++ ends them."""

import subprocess
import sys
from pathlib import Path

from hostile_server import eventually

from nws.jobs.store import RunSpec, Store, open_store

ROOT = Path(__file__).parents[3]
SPEC = RunSpec("phase1", {}, "hash", 0, "v", {}, {}, 1)
DYING = """
import os, sys
from nws.jobs.drive.watchdog import watchdog
url, run_id, epoch = sys.argv[1:]
with watchdog(url, run_id, int(epoch)):
    print(os.getpid(), flush=True)
    input()
    os._exit(1)
"""


def dying(store: Store, run_id: str, epoch: int) -> subprocess.Popen[str]:
    """A driver that dies of the next line it reads."""
    command = [sys.executable, "-c", DYING, store.url, run_id, str(epoch)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert int(process.stdout.readline()) == process.pid
    return process


def claimed(store: Store) -> tuple[str, int]:
    run_id = store.create_run(SPEC)
    return run_id, store.claim_run(run_id, "here", 1)


def test_a_driver_that_dies_without_a_word_leaves_a_failed_run(store: Store) -> None:
    run_id, epoch = claimed(store)
    process = dying(store, run_id, epoch)
    assert store.run_info(run_id).state == "running"
    process.communicate("die\n")
    assert eventually(lambda: store.run_info(run_id).state != "running"), "nobody has stored the end of the driver"
    run = store.run_info(run_id)
    assert run.state == "failed"
    assert run.error is not None
    assert run.error.startswith(f"DriverDiedError: the driver, pid {process.pid} on ")
    assert store.claim_run(run_id, "here", 2) == epoch + 1


def test_a_store_that_is_gone_is_not_made_again(store: Store, tmp_path: Path) -> None:
    run_id, epoch = claimed(store)
    process = dying(store, run_id, epoch)
    store.close()
    for file in tmp_path.glob("nws.db*"):
        file.unlink()
    with open_store(f"sqlite:///{tmp_path / 'y.db'}") as other_store:
        other, other_epoch = claimed(other_store)
        process.communicate("die\n")
        dying(other_store, other, other_epoch).communicate("die\n")
        assert eventually(lambda: other_store.run_info(other).state != "running")
    assert not (tmp_path / "nws.db").exists()
