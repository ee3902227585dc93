"""`nws` as a process of its own: what others on the machine see of it, and how it ends when it is told to."""

import os
import signal
import socket
import time
from pathlib import Path

import nws_process
import psutil
import pytest

from jobs.store import open_store


def shown_by_ps(folder: Path, *arguments: str) -> str:
    """What `ps` shows of a command that waits for a server, which never answers, once it shows something else."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        process = nws_process.start(folder, *(argument.replace("PORT", port) for argument in arguments))
        try:
            started = " ".join(psutil.Process(process.pid).cmdline())
            shown = started
            while shown == started and process.poll() is None:
                time.sleep(0.1)
                shown = " ".join(psutil.Process(process.pid).cmdline())
            return shown
        finally:
            process.kill()
            process.communicate()


@pytest.mark.parametrize(
    "arguments",
    [
        ("ls", "--store", "postgresql://ann:HUNTER2@127.0.0.1:PORT/news"),
        ("ls", "--store=postgresql://ann@127.0.0.1:PORT/news?password=HUNTER2"),
    ],
)
def test_a_password_on_the_command_line_is_not_shown_by_ps(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    shown = shown_by_ps(tmp_path, *arguments)
    assert "HUNTER2" not in shown
    assert "--store" in shown


def test_a_closed_terminal_ends_a_run_in_order(tmp_path: Path) -> None:
    # With that terminal gone, whatever is printed fails: the run must be ended all the same.
    terminal, theirs = os.openpty()
    process = nws_process.start(tmp_path, "submit", "phase1", "--engine", "inline", out=theirs)
    os.close(theirs)
    nws_process.wait_for_rows(tmp_path / "nws.db", process)
    # The kernel does both at once; stopped, the process can print nothing in between.
    process.send_signal(signal.SIGSTOP)
    os.close(terminal)
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGCONT)
    assert process.wait(60) == 130
    with open_store(f"sqlite:///{tmp_path}/nws.db", read_only=True) as store:
        (run,) = store.list_runs()
    assert (run.state, run.error) == ("interrupted", None)
    assert run.summaries > 0
