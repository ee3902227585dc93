"""A step whose end cannot be foreseen: what is being done, and for how long already."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from jobs.terminal.console import ERR

_SECONDS_BETWEEN_LINES = 5.0
_WORTH_TELLING_SECONDS = 2.0


@contextmanager
def busy(step: str, at_once: bool = False, console: Console = ERR) -> Iterator[None]:
    """Show that `step` goes on while the block runs: a spinner on a terminal, elsewhere a line every five seconds.

    The first line comes after two seconds, or at once if it is to be a command's first sign of life. On a terminal a
    line stays of a step that took two seconds or more. Nothing else may be printed in the block.
    """
    started = time.monotonic()
    with _spinner(console, step) if console.is_terminal else _lines(console, step, at_once):
        yield
    seconds = time.monotonic() - started
    if console.is_terminal and seconds >= _WORTH_TELLING_SECONDS:
        console.print(f"{step} · {seconds:.0f} s", markup=False, highlight=False)


@contextmanager
def _spinner(console: Console, step: str) -> Iterator[None]:
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        progress.add_task(f"{step} …", total=None)
        yield


@contextmanager
def _lines(console: Console, step: str, at_once: bool) -> Iterator[None]:
    started = time.monotonic()
    ended = threading.Event()

    def tell(text: str) -> None:
        console.print(text, markup=False, highlight=False)

    def tell_on() -> None:
        if not at_once:
            if ended.wait(_WORTH_TELLING_SECONDS):
                return
            tell(f"{step} …")
        while not ended.wait(_SECONDS_BETWEEN_LINES):
            tell(f"{step} … {time.monotonic() - started:.0f} s")

    if at_once:
        tell(f"{step} …")
    thread = threading.Thread(target=tell_on, name="busy", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
