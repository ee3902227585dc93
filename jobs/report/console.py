"""A console to which no text that comes from outside, such as the name of a file, can send a command."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
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
        """Yield the segments of a renderable, each without control characters."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(escape_controls(segment.text), segment.style)


ERR = PrintableConsole(stderr=True, soft_wrap=True)
"""For all that is not data."""


def escape_controls(text: str) -> str:
    """Escape the control characters of a text, except tab and new line."""
    return _NOT_TEXT.sub(lambda match: repr(match.group())[1:-1], text)


def printable(text: str) -> str:
    """Put a text on one line, with control characters escaped."""
    return escape_controls(text).replace("\t", "\\t").replace("\n", "\\n")


@contextmanager
def busy(step: str, console: Console = ERR) -> Iterator[None]:
    """Show that `step` goes on while the block runs: a spinner on a terminal, elsewhere a line."""
    if console.is_terminal:
        with console.status(Text(f"{step} …")):
            yield
    else:
        console.print(f"{step} …", markup=False, highlight=False)
        yield
