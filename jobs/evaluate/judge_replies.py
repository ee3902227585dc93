"""The file of a judge's replies: one line each, written when it came, so that nothing is paid for twice."""

import errno
import fcntl
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from core.errors import CorpusError, RecipeError
from core.summarizers.endpoint_replies import USAGE, EndpointAnswer
from jobs.evaluate.judge_questions import Asked

_HEAD = b'{"question": "'


@dataclass(frozen=True, slots=True)
class Reply:
    """What a judge wrote, "" if that was nothing; why it ended; who says to have written it; and the tokens it took."""

    text: str
    finish: str | None
    answered_by: str | None
    tokens: Mapping[str, int]


class Replies:
    """The replies that a file holds, by question and attempt, and those that are added to it.

    Each is one line, written whole by one call and not changed any more. Whatever ends the process, what was written
    stays; a line that was torn is removed when the file is opened again.

    Attributes:
        added: how many have been added.
    """

    def __init__(self, path: Path, file: IO[bytes] | None, known: dict[tuple[str, int], Reply]) -> None:
        self.path = path
        self.added = 0
        self._file = file
        self._known = known

    def get(self, asked: Asked, attempt: int) -> Reply | None:
        """The reply to a question; None where it has not been answered."""
        return self._known.get((asked.key, attempt))

    def add(self, asked: Asked, attempt: int, answer: EndpointAnswer, read: Callable[[Reply], object]) -> object:
        """Keep a reply, with the verdict that `read` finds in it, for those who read the file.

        Returns:
            The verdict.

        Raises:
            OSError: it cannot be written.
        """
        line: dict[str, object] = {"question": asked.key, "attempt": attempt, "about": asked.about}
        line |= {"made_by": asked.made_by, "draw": asked.sent(attempt).draw, "reply": answer.text, **answer.extra}
        reply = _reply(line)
        line["verdict"] = read(reply)
        written = json.dumps(line, ensure_ascii=False).encode() + b"\n"
        if self._file is not None and self._file.write(written) < len(written):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        self._known[asked.key, attempt] = reply
        self.added += 1
        return line["verdict"]


@contextmanager
def open_replies(path: Path, *, to_write: bool) -> Iterator[Replies]:
    """The replies of a file, which is made if it does not exist. Nothing is changed unless `to_write`.

    Raises:
        CorpusError: it holds a line that is no reply.
        RecipeError: it cannot be opened, or another process adds to it.
    """
    try:
        if not to_write:
            content = path.read_bytes() if path.exists() else b""
            yield Replies(path, None, _known(path, content)[0])
            return
        with path.open("ab+", buffering=0) as file:
            _lock(path, file)
            file.seek(0)
            content = file.read()
            known, whole = _known(path, content)
            file.truncate(whole)
            if whole and not content[:whole].endswith(b"\n"):
                file.write(b"\n")
            yield Replies(path, file, known)
    except OSError as error:
        raise RecipeError(f"{path} cannot be read or written ({error.strerror or error}).") from error


def _lock(path: Path, file: IO[bytes]) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise RecipeError(f"Another process adds to {path}: wait for its end, or choose another -o.") from error


def _known(path: Path, content: bytes) -> tuple[dict[tuple[str, int], Reply], int]:
    """The replies of a file, and how many of its bytes hold them: a last line that was torn does not count."""
    known: dict[tuple[str, int], Reply] = {}
    whole = 0
    lines = content.splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        try:
            found = json.loads(line)
            known[found["question"], int(found["attempt"])] = _reply(found)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            ours = line.startswith(_HEAD) or _HEAD.startswith(line)
            if number == len(lines) and not line.endswith(b"\n") and ours:
                break
            raise CorpusError(
                f"{path}, line {number}: this is no reply that nws judge has kept. Take the line out, or choose "
                "another -o."
            ) from error
        whole += len(line)
    return known, whole


def _reply(line: Mapping[str, object]) -> Reply:
    text = line["reply"]
    if not isinstance(text, str):
        raise TypeError("a reply is text")
    counts = {name: count for name in USAGE if isinstance(count := line.get(name), int)}
    finish, by = (found if isinstance(found := line.get(name), str) else None for name in ("finish", "answered_by"))
    return Reply(text, finish, by, Counter(counts))
