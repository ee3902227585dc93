"""The watchdog of a driver: a process beside it that stores its end where the driver cannot.

Ray ends a driver in C++ when its cluster is gone, and the kernel ends one that takes too much memory: then no handler
and no exit hook of Python runs. The watchdog holds a pipe whose other end only the driver has. When it breaks without a
word, the driver is dead. It is a child and not a parent of the driver, so that signals, terminal, pid and exit code
stay the driver's own; therefore it cannot know what the driver died of.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator

from nws.jobs.installation import python_command


@contextlib.contextmanager
def watchdog(store_url: str, run_id: str, epoch: int) -> Iterator[None]:
    """Should this process die before the block ends, its run becomes 'failed', with who died as its error.

    Args:
        store_url: in full, with its password. It goes through the pipe: others can read the arguments of a process.
        run_id: which run this process drives.
        epoch: of this driver. A run that another one has is left alone.
    """
    from nws.jobs.store.runs import DRIVER_DIED  # not for the watchdog itself, which takes next to no memory

    process = subprocess.Popen(
        python_command("nws.jobs.drive.watchdog"),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,  # Ctrl-C and the end of a Ray job are for the driver
        text=True,
    )
    error = (
        f"{DRIVER_DIED}: the driver, pid {os.getpid()} on {socket.gethostname()}, ended without a word. It was "
        "killed (kill -9, out of memory), or it crashed, or Ray ended it because its cluster was gone"
    )
    message = {"store": store_url, "run": run_id, "epoch": epoch, "error": error}
    assert process.stdin is not None
    with contextlib.suppress(OSError):  # a driver without a watchdog is still a driver
        print(json.dumps(message), file=process.stdin, flush=True)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            process.communicate("ended")


def main() -> None:
    """Wait for the end of the driver; if it says nothing, store that it is dead."""
    line = sys.stdin.readline()
    if not line or sys.stdin.read():
        return
    message = json.loads(line)

    # Only now: until then a watchdog takes next to no memory.
    from nws.core.errors import StoreError
    from nws.jobs.store import open_store
    from nws.jobs.store.address import parse_address
    from nws.jobs.store.database import patiently

    path = parse_address(message["store"]).path
    if path is not None and not path.exists():  # opening it would create it
        return

    def finish() -> None:
        with open_store(message["store"]) as store:
            store.writer(message["run"], message["epoch"]).finish("failed", message["error"])

    with contextlib.suppress(StoreError):  # another driver has it, or the store is gone for good
        patiently(finish, lambda line: None)


if __name__ == "__main__":
    main()
