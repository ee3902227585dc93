"""`nws` as a process of its own: what others on the machine see of it, and how it ends when it is told to."""

import socket
import time
from pathlib import Path

import nws_process
import psutil
import pytest


def shown_by_ps(folder: Path, *arguments: str) -> str:
    """What `ps` shows of a command that waits for a server, which never answers, once it shows something else."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        process = nws_process.start(folder, *(argument.replace("PORT", port) for argument in arguments))
        try:
            started = " ".join(psutil.Process(process.pid).cmdline())
            for _ in range(300):
                if (shown := " ".join(psutil.Process(process.pid).cmdline())) != started:
                    return shown
                time.sleep(0.1)
            return started
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
