"""A judge's replies in a file: one line each, written when it came, so that nothing is paid for twice."""

import errno
import fcntl
import functools
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from core.errors import CorpusError, EndpointError, NwsError, RecipeError
from core.models.endpoint import USAGE, EndpointAnswer
from core.models.endpoint_requests import LoadedEndpoint
from jobs.tools.judge_questions import Judge, JudgedText, JudgeQuestion, read_score

_MOST_FAILED = 20
"""Requests in a row that fail, or first replies without a score, before none is sent any more."""
_QUOTED = 100
# What OpenAI's API says of a reply that has used up its tokens.
_CUT = "length"
_HEAD = b'{"question": "'


@dataclass(frozen=True, slots=True)
class KeptReply:
    """What a judge wrote, "" if that was nothing; why it ended; who says to have written it; and the tokens it took."""

    text: str
    finish: str | None
    answered_by: str | None
    tokens: Mapping[str, int]


class Replies:
    """The replies that a file holds, by question, and those that are added to it.

    Each is one line, written whole by one call and not changed any more. Whatever ends the process, what was written
    stays; a line that was torn is removed when the file is opened again.

    Attributes:
        added: how many have been added.
    """

    def __init__(self, path: Path, file: IO[bytes] | None, known: dict[str, KeptReply]) -> None:
        self.path = path
        self.added = 0
        self._file = file
        self._known = known

    def get(self, question: JudgeQuestion) -> KeptReply | None:
        """The reply to a question; None where it has not been answered."""
        return self._known.get(question.key)

    def add(
        self, question: JudgeQuestion, answer: EndpointAnswer, read: Callable[[KeptReply], int | None]
    ) -> int | None:
        """Keep a reply, with the score that `read` finds in it, for those who read the file.

        Returns:
            The score.

        Raises:
            OSError: it cannot be written.
        """
        line: dict[str, object] = {"question": question.key, "about": question.about, "made_by": question.made_by}
        line |= {"reply": answer.text, **answer.extra}
        reply = _reply(line)
        score = read(reply)
        written = json.dumps(line | {"verdict": score}, ensure_ascii=False).encode() + b"\n"
        if self._file is not None and self._file.write(written) < len(written):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        self._known[question.key] = reply
        self.added += 1
        return score


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


def _known(path: Path, content: bytes) -> tuple[dict[str, KeptReply], int]:
    """The replies of a file, and how many of its bytes hold them: a last line that was torn does not count."""
    known: dict[str, KeptReply] = {}
    whole = 0
    lines = content.splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        try:
            found = json.loads(line)
            known[str(found["question"])] = _reply(found)
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


def _reply(line: Mapping[str, object]) -> KeptReply:
    text = line["reply"]
    if not isinstance(text, str):
        raise TypeError("a reply is text")
    counts = {name: count for name in USAGE if isinstance(count := line.get(name), int)}
    finish, by = (found if isinstance(found := line.get(name), str) else None for name in ("finish", "answered_by"))
    return KeptReply(text, finish, by, Counter(counts))


class Judging:
    """The questions on some summaries, and what is known of their scores.

    Attributes:
        judge: who is asked.
        texts: the summaries.
        replies: to these questions, and maybe to others.
        questions: each once: equal summaries of an article are asked about once.
        errors: of requests that got no reply.
    """

    def __init__(self, judge: Judge, texts: Sequence[JudgedText], replies: Replies) -> None:
        self.judge, self.texts, self.replies = judge, texts, replies
        self.errors: list[EndpointError] = []
        self._failed_in_a_row = 0
        self.questions = list({text.question.key: text.question for text in texts}.values())
        self._some_score = any(self.score(question) is not None for question in self.questions)

    @property
    def unasked(self) -> list[JudgeQuestion]:
        """The questions without a reply."""
        return [question for question in self.questions if self.replies.get(question) is None]

    def score(self, question: JudgeQuestion) -> int | None:
        """The score that the reply states; None where there is none."""
        reply = self.replies.get(question)
        return None if reply is None else self._read(reply)

    def _read(self, reply: KeptReply) -> int | None:
        """The score that a reply states; None where it states none, or was cut before its end."""
        return None if reply.finish == _CUT else read_score(reply.text, self.judge.scale)

    def ask(self) -> None:
        """Send what has not been answered yet, and keep each reply as it comes. Nothing is sent if nothing is missing.

        Raises:
            EndpointError: the endpoint does not answer at all, or refuses the key or the model.
            NwsError: it has stopped to answer, or answers with anything but scores.
            OSError: a reply cannot be written.
        """
        if missing := self.unasked:
            endpoint = LoadedEndpoint(self.judge.endpoint, self.judge.seed)
            endpoint.complete([question.sent for question in missing], functools.partial(self._hear, missing))

    def _hear(self, missing: Sequence[JudgeQuestion], place: int, answer: EndpointAnswer | EndpointError) -> None:
        if isinstance(answer, EndpointError):
            self.errors.append(answer)
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= _MOST_FAILED:
                raise NwsError(
                    f"{self._failed_in_a_row} requests in a row failed, and no more are sent. The last: {answer} What "
                    f"was answered is in {self.replies.path}: the same command goes on from there."
                )
            return
        score = self.replies.add(missing[place], answer, self._read)
        self._failed_in_a_row = 0
        self._some_score |= score is not None
        if not self._some_score and self.replies.added >= _MOST_FAILED:
            raise NwsError(
                f"None of {self.replies.added} replies holds a score, and no more are asked for. The last: "
                f"{answer.text[:_QUOTED]!r}. All are in {self.replies.path}. Take a larger model, or another --prompt."
            )
