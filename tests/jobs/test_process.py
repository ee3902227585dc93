"""`nws` as a process of its own: what others on the machine see of it, and how it ends when it is told to."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import nws_process
import psutil
import pytest

from nws.jobs.store import open_store


def shown_by_ps(folder: Path, *arguments: str) -> str:
    """What `ps` shows of a command that waits for a server, which never answers, once it does not show HUNTER2."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        process = nws_process.start(folder, *(argument.replace("PORT", port) for argument in arguments))
        try:
            # Not the first that is different: a title is written over the arguments, and a look may fall in between.
            # Nor while the program is being exchanged, when there are none.
            while not (shown := " ".join(psutil.Process(process.pid).cmdline())) or "HUNTER2" in shown:
                assert process.poll() is None
                time.sleep(0.1)
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
    assert "--store" in shown_by_ps(tmp_path, *arguments)


@pytest.mark.slow
def test_a_closed_terminal_ends_a_run_in_order(tmp_path: Path) -> None:
    # With that terminal gone, whatever is printed fails: the run must be ended all the same.
    terminal, theirs = os.openpty()
    process = nws_process.start(
        *(tmp_path, "submit", "phase1", "--engine", "inline"),
        program=nws_process.STUB,
        out=theirs,
        NWS_STUB_SECONDS="0.5",
    )
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


INTERRUPTED_WHILE_FREEING = """
import os, signal, sys, time, weakref
from nws.jobs import cli

def work():
    def freed(reference):
        os.kill(os.getpid(), int(sys.argv[1]))
        for _ in range(1000):  # Python looks for signals
            pass
    article = type("Article", (), {})()
    reference = weakref.ref(article, freed)
    del article
    time.sleep(60)

cli.app = work
cli.main()
"""


@pytest.mark.parametrize(
    ("signum", "ignored"),
    [(signal.SIGINT, signal.SIGQUIT), (signal.SIGTERM, signal.SIGQUIT), (signal.SIGTERM, signal.SIGINT)],
)
def test_a_signal_that_comes_while_an_object_is_freed_is_not_lost(signum: int, ignored: int) -> None:
    """Python drops what is raised then, and Ctrl-C did nothing."""
    told = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_WHILE_FREEING, str(int(signum))],
        cwd=nws_process.ROOT,
        preexec_fn=lambda: signal.signal(ignored, signal.SIG_IGN),
        stderr=subprocess.PIPE,
        text=True,
        timeout=30,
        check=False,
    )
    assert told.returncode == -signal.SIGINT, told.stderr
    assert told.stderr.endswith("KeyboardInterrupt\n")


@pytest.mark.parametrize("buffer", ["", "1"])
def test_a_full_disk_behind_stdout_is_told_in_words(tmp_path: Path, buffer: str) -> None:
    with open_store(f"sqlite:///{tmp_path}/nws.db"), Path("/dev/full").open("w") as full:
        told = subprocess.run(
            [*nws_process.NWS, "ls"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(nws_process.ROOT), "PYTHONUNBUFFERED": buffer},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert told.returncode == 1
    assert told.stderr.startswith("Error: no more can be written, to where it is printed or to a file: No space left")
    assert len(told.stderr.splitlines()) == 1
