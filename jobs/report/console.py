"""A console to which no text that comes from outside, such as the name of a file, can send a command."""

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TimeElapsedColumn
from rich.segment import Segment
from rich.text import Text

# C0 but tab and new line, DEL, C1; embeddings, overrides and isolates of Unicode's bidirectional algorithm, which
# reorder a line where it is shown; and halves of surrogate pairs, which stand for bytes that are no UTF-8.
_NOT_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class PrintableConsole(Console):
    """A console that prints text as it is, `[bold]` and `:cat:` too, but for control characters, which it writes out.

    Its own, for colours and bars, stay. `options` are those of rich's `Console`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of a renderable, each without control characters."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(written_out(segment.text), segment.style)


ERR = PrintableConsole(stderr=True, soft_wrap=True)
"""For all that is not data."""


def written_out(text: str) -> str:
    """`text` with control characters escaped, except tab and new line."""
    return _NOT_TEXT.sub(lambda match: repr(match.group())[1:-1], text)


def printable(text: str) -> str:
    """`text` on one line, with control characters escaped."""
    return written_out(text).replace("\t", "\\t").replace("\n", "\\n")


_SECONDS_BETWEEN_LINES = 5.0
_WORTH_TELLING_SECONDS = 2.0


@contextmanager
def busy(
    step: str, at_once: bool = False, console: Console = ERR, so_far: Callable[[], str] = lambda: ""
) -> Iterator[None]:
    """Show that `step` goes on while the block runs: a spinner on a terminal, elsewhere a line every five seconds.

    The first line comes after two seconds, or at once if it is to be a command's first sign of life. On a terminal a
    line stays of a step that took two seconds or more. `so_far` says what is done of it, behind the step. Nothing else
    may be printed in the block.
    """
    started = time.monotonic()
    with _spinner(console, step, so_far) if console.is_terminal else _lines(console, step, at_once, so_far):
        yield
    seconds = time.monotonic() - started
    if console.is_terminal and seconds >= _WORTH_TELLING_SECONDS:
        console.print(f"{step} · {seconds:.0f} s", markup=False, highlight=False)


@contextmanager
def _spinner(console: Console, step: str, so_far: Callable[[], str]) -> Iterator[None]:
    columns = (SpinnerColumn(), _Told(step, so_far), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        progress.add_task(step, total=None)
        yield


class _Told(ProgressColumn):
    """The step, and what is done of it now."""

    def __init__(self, step: str, so_far: Callable[[], str]) -> None:
        super().__init__()
        self._step, self._so_far = step, so_far

    def render(self, task: Task) -> Text:
        return Text(f"{self._step}{self._so_far()} …")


@contextmanager
def _lines(console: Console, step: str, at_once: bool, so_far: Callable[[], str]) -> Iterator[None]:
    started = time.monotonic()
    ended = threading.Event()

    def tell(text: str) -> None:
        console.print(text, markup=False, highlight=False)

    def tell_on() -> None:
        if not at_once:
            if ended.wait(_WORTH_TELLING_SECONDS):
                return
            tell(f"{step}{so_far()} …")
        while not ended.wait(_SECONDS_BETWEEN_LINES):
            tell(f"{step}{so_far()} … {time.monotonic() - started:.0f} s")

    if at_once:
        tell(f"{step} …")
    thread = threading.Thread(target=tell_on, name="busy", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
