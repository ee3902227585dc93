"""The watchdog of a driver: a process beside the driver that stores its end where the driver cannot.

Ray ends a driver in C++ when its cluster is gone, and the kernel ends a process that takes too much memory. Then no
handler and no exit hook of Python runs. The watchdog holds one end of a pipe, and only the driver holds the other. When
the pipe breaks without a message, the driver is dead. The watchdog is a child of the driver, not its parent: signals,
terminal, pid and exit code stay the driver's own. Therefore the watchdog cannot know why the driver died.
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
    """Watch this process while the block runs: if it dies, its run becomes 'failed' with an error that names it.

    Args:
        store_url: the full URL, with its password. It goes through the pipe, since others can read arguments.
        run_id: the run that this process drives.
        epoch: the epoch of this driver. If another driver has the run by then, the run is left alone.
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
        f"{DRIVER_DIED}: the driver, pid {os.getpid()} on {socket.gethostname()}, ended without an error message. It "
        "was killed (kill -9, out of memory), it crashed, or Ray ended it because the cluster was gone"
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
    """Wait for the end of the driver. If it sends no message, store that it is dead."""
    line = sys.stdin.readline()
    if not line or sys.stdin.read():
        return
    message = json.loads(line)

    # Imported only now, so that a waiting watchdog takes next to no memory.
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
