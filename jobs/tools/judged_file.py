"""`nws judge`: the summaries of a file with a judge's scores, and its replies in a file, so that each is paid once."""

import contextlib
import fcntl
import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from rich.console import Console

from nws.core.analysis.intervals import mean_interval
from nws.core.errors import CorpusError, EndpointError, NwsError, RecipeError
from nws.core.findings.scores import CONFIDENCE, Interval
from nws.core.metrics.judge import MOST_TOKENS, Judge, without_score
from nws.core.models.endpoint import BYTES_PER_TOKEN, USAGE, EndpointAnswer, Question, token_limit
from nws.core.text.length import count_words
from nws.core.text.reader import is_file, naming, read_rows
from nws.core.text.rows import cleaned, name_of, text_of
from nws.core.text.text_marks import AS_IT_IS, Preparation
from nws.jobs.report.numerals import counted, decimals, interval_text, listed
from nws.jobs.report.printed_lines import print_line
from nws.jobs.report.table import Cell, Table
from nws.jobs.report.wording import small_sample_caution

_MOST_WITHOUT_SCORE = 20
"""The number of questions in a row without a score after which no more are asked."""
_JUDGE = "judge"  # the names of the fields that a judge adds begin with it
_NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True)
class JudgedText:
    """A summary of a file.

    Attributes:
        message: the question on it.
        key: 32 hex digits of all that decides the reply. Equal summaries of an article have one key.
        fields: those of the file, which stand beside the judge's.
    """

    system: str
    document: str
    message: str
    key: str
    fields: Mapping[str, Any]


def read_prompt(text: str) -> str:
    """Read the prompt that `--prompt` names: the text of a file, or the text itself.

    Raises:
        RecipeError: the file cannot be read.
    """
    try:
        return cleaned(Path(text).read_text(encoding="utf-8-sig") if text and is_file(Path(text)) else text)
    except (OSError, UnicodeError) as error:
        raise RecipeError(f"The prompt {text} cannot be read: {error}.") from error


def read_texts(path: Path, judge: Judge, limit: int | None, preparation: Preparation = AS_IT_IS) -> list[JudgedText]:
    """Read the rows of a JSONL, CSV or Parquet file: `system`, `document`, `source` and `prediction`.

    Args:
        path: the file.
        judge: the judge that is to be asked.
        limit: the most documents, which are the first of the file.
        preparation: the preparation of the texts.

    Raises:
        CorpusError: a row is malformed or there twice (named by its line), or there is none.
        RecipeError: a field has a name that is the judge's.
    """
    texts: dict[tuple[str, str], JudgedText] = {}
    documents: set[str] = set()
    for line, row in read_rows(path):
        with naming(path, line):
            text = _judged_text(row, judge, preparation)
        if limit is not None and len(documents) == limit and text.document not in documents:
            continue
        if (text.system, text.document) in texts:
            raise CorpusError(f"{path}, {line}: system {text.system!r} already has document {text.document!r}.")
        documents.add(text.document)
        texts[text.system, text.document] = text
    if not texts:
        raise CorpusError(f"{path} holds no row.")
    return list(texts.values())


def _judged_text(row: Mapping[str, object], judge: Judge, preparation: Preparation) -> JudgedText:
    if taken := [name for name in row if name == _JUDGE or name.startswith(f"{_JUDGE}_")]:
        raise RecipeError(f"The file already has the judge's field {taken[0]!r}: rename it in the file.")
    names = {name: name_of(row, name) for name in ("system", "document")}
    texts = {name: preparation.text(text_of(row, name)) for name in ("source", "prediction")}
    message = judge.message(texts["source"], texts["prediction"])
    sent = json.dumps([judge.signature, message, MOST_TOKENS, 0])  # the temperature
    key = hashlib.sha256(sent.encode()).hexdigest()[:32]
    fields = {name: _json_value(value) for name, value in row.items()}
    return JudgedText(names["system"], names["document"], message, key, fields | names | texts)


def _json_value(value: object) -> object:
    """Return a value as JSON has it: None for a number that is not finite, and text for what JSON does not know."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, bool | int | str | list | dict | None) else str(value)


def read_replies(content: bytes) -> dict[str, dict[str, Any]]:
    """Read the lines of a file of replies by their question's key. Lines that are no replies are skipped."""
    replies: dict[str, dict[str, Any]] = {}
    for line in content.splitlines():
        with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
            reply = json.loads(line)
            if isinstance(reply["reply"], str):
                replies[str(reply["question"])] = reply
    return replies


def stored_replies(path: Path) -> dict[str, dict[str, Any]]:
    """Read the replies in a file, none where there is no file.

    Raises:
        RecipeError: the file cannot be read.
    """
    try:
        return read_replies(path.read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise RecipeError(f"{path} cannot be read ({error.strerror or error}). Choose another -o.") from error


@contextlib.contextmanager
def open_replies(path: Path) -> Iterator[tuple[dict[str, dict[str, Any]], IO[bytes]]]:
    """Open a file of replies: those in it, and the file to add to. It is made if missing; a torn line is ended.

    Raises:
        RecipeError: the file cannot be read or written, or another process adds to it.
    """
    try:
        with path.open("ab+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise RecipeError(
                    f"Another process writes to {path}: wait until it ends, or choose another -o."
                ) from error
            file.seek(0)
            content = file.read()
            if content and not content.endswith(b"\n"):
                file.write(b"\n")
            yield read_replies(content), file
    except OSError as error:
        raise RecipeError(f"{path} cannot be read or written ({error.strerror or error}).") from error


class Judging:
    """The questions on some summaries, and the replies to them.

    Attributes:
        judge: the judge that is asked.
        texts: the summaries.
        replies: the replies to these questions, and maybe to others, by the question's key.
        questions: a summary for each question, by key: equal summaries of an article are asked about once.
        added: the number of replies that have come.
        errors: the errors of requests that got no reply.
    """

    def __init__(self, judge: Judge, texts: Sequence[JudgedText], replies: dict[str, dict[str, Any]]) -> None:
        self.judge, self.texts, self.replies = judge, texts, replies
        self.questions: dict[str, JudgedText] = {}
        for text in texts:
            self.questions.setdefault(text.key, text)
        self.added = 0
        self.errors: list[EndpointError] = []
        self._without_score = 0

    @property
    def unasked(self) -> list[JudgedText]:
        """A summary for each question without a reply."""
        return [text for key, text in self.questions.items() if key not in self.replies]

    def score(self, key: str) -> int | None:
        """Return the score that the reply to a question states; None where there is none."""
        reply = self.replies.get(key)
        return None if reply is None else self.judge.score(reply["reply"], reply.get("finish"))

    def ask(self, file: IO[bytes]) -> None:
        """Ask the questions without a reply, and add each reply to a file as it comes.

        Raises:
            EndpointError: the endpoint does not answer at all, or refuses the key or the model.
            NwsError: too many questions in a row brought no score.
            OSError: a reply cannot be written.
        """
        from nws.core.models.endpoint_requests import LoadedEndpoint

        if missing := self.unasked:
            questions = [Question(text.message, MOST_TOKENS, self.judge.seed) for text in missing]
            endpoint = LoadedEndpoint(self.judge.endpoint, self.judge.seed)
            endpoint.ask(questions, lambda place, answer: self._record(missing[place], answer, file))

    def _record(self, text: JudgedText, answer: EndpointAnswer | EndpointError, file: IO[bytes]) -> None:
        if isinstance(answer, EndpointError):
            self.errors.append(answer)
            score, reason = None, str(answer)
        else:
            score = self.judge.score(answer.text, answer.extra.get("finish"))
            reason = f"{self.judge.endpoint.model} {without_score(answer)}."
            about = {"question": text.key, "about": f"{text.system}, {text.document}", "made_by": self.judge.signature}
            problem = {"problem": answer.problem} if answer.problem else {}
            reply = {**about, "reply": answer.text, **answer.extra, **problem, "verdict": score}
            file.write(json.dumps(reply, ensure_ascii=False).encode() + b"\n")
            file.flush()
            self.replies[text.key] = reply
            self.added += 1
        self._without_score = self._without_score + 1 if score is None else 0
        if self._without_score == _MOST_WITHOUT_SCORE:
            raise NwsError(
                f"{self._without_score} questions in a row brought no score, so no more are asked. The last: {reason} "
                "All replies are stored: the same command continues from there."
            )

    def rows(self) -> list[dict[str, Any]]:
        """List the summaries that have a score, with it and what made it."""
        return [
            {
                **text.fields,
                "words": text.fields.get("words", count_words(text.fields["prediction"])),
                _JUDGE: score,
                f"{_JUDGE}_model": self.judge.endpoint.model,
                f"{_JUDGE}_answered_by": _answered_by(self.replies[text.key]),
                f"{_JUDGE}_signature": self.judge.signature,
            }
            for text in self.texts
            if (score := self.score(text.key)) is not None
        ]

    def summary(self) -> dict[str, Any]:
        """Return what `nws judge --json` prints: every number, and what made it; systems from the best mean down."""
        judge = self.judge
        replies = [self.replies[key] for key in self.questions if key in self.replies]
        return {
            "model": judge.endpoint.model,
            "base_url": judge.endpoint.url,
            "prompt": judge.prompt,
            "prompt_sha256": judge.prompt_sha256,
            "scale": [judge.scale.low, judge.scale.high],
            "seed": judge.seed,
            "max_tokens": MOST_TOKENS,
            "parameters": judge.endpoint.parameters,
            "signature": judge.signature,
            "confidence": CONFIDENCE,
            "questions": len(self.questions),
            "no_verdict": sum(self.score(str(reply["question"])) is None for reply in replies),
            "unanswered": len(self.questions) - len(replies),
            "answered_by": dict(sorted(Counter(map(_answered_by, replies)).items())),
            "tokens": {
                name: sum(reply[name] for reply in replies if isinstance(reply.get(name), int)) for name in USAGE
            },
            "systems": self._systems(),
        }

    def _systems(self) -> list[dict[str, Any]]:
        scores: dict[str, list[int | None]] = {}
        for text in self.texts:
            scores.setdefault(text.system, []).append(self.score(text.key))
        systems = []
        for name, values in scores.items():
            stated = [score for score in values if score is not None]
            mean = asdict(mean_interval(stated)) if stated else None
            without = len(values) - len(stated)
            systems.append({"system": name, "summaries": len(stated), "no_verdict": without, "mean": mean})
        return sorted(
            systems, key=lambda system: (-system["mean"]["mean"] if system["mean"] else 0.0, system["system"])
        )


def _answered_by(reply: Mapping[str, Any]) -> str:
    return str(reply.get("answered_by", _NOT_STATED))


def print_judged(judging: Judging, out: Path, console: Console) -> None:
    """Print who judged, what it said of each system, and what a reader must know of it."""
    judge, numbers = judging.judge, judging.summary()
    answered = [f"{name} ({count})" for name, count in numbers["answered_by"].items()] or ["nobody"]
    made_by = f"prompt {judge.prompt_sha256}, seed {judge.seed}"
    print_line(console, f"Judge: {judge.endpoint.model}, scores from {judge.scale}; {made_by}")
    print_line(console, f"Answered by {listed(answered)}.")
    console.print()
    rows = [
        (system["system"], system["summaries"], _mean_cell(system["mean"]), system["no_verdict"])
        for system in numbers["systems"]
    ]
    columns = ("system", "summaries", "mean score", "no score")
    Table(columns, rows, notes=("Below a mean: its 95 % CI.",)).print(console)
    console.print()
    for caution in _cautions(numbers):
        print_line(console, caution, style="yellow")
    read, written, cached = numbers["tokens"].values()
    tokens = f"{read:,} tokens read{f' ({cached:,} from its cache)' if cached else ''} and {written:,} written"
    print_line(console, f"In all: {tokens}, as far as the endpoint counts them.", style="dim")
    advice = f"Compare it with people: nws correlate {out} --metrics judge --human FIELD"
    print_line(console, f"A judge is not a person. {advice}", style="dim")


def _mean_cell(mean: Mapping[str, Any] | None) -> Cell:
    if mean is None:
        return Cell("none")
    interval = Interval(**mean)
    return Cell(decimals(interval.mean, 2), interval_text(interval, 2))


def _cautions(numbers: Mapping[str, Any]) -> Iterator[str]:
    if count := numbers["no_verdict"]:
        yield f"Not counted: {counted(count, 'reply')} without a score. Another --seed asks all questions anew."
    if count := numbers["unanswered"]:
        yield f"{counted(count, 'question')} got no reply. Repeat the command to ask only these."
    if len(numbers["answered_by"]) > 1:
        yield "Several models have answered under this name: their scores are mixed here. See judge_answered_by."
    if caution := small_sample_caution(min(system["summaries"] for system in numbers["systems"]), "summaries"):
        yield caution


def print_dry_run(judging: Judging, path: Path, as_json: bool, console: Console) -> None:
    """Print what would be sent: requests, and about how many tokens."""
    unasked, endpoint = judging.unasked, judging.judge.endpoint
    limit = token_limit(endpoint.request(Question("", MOST_TOKENS, judging.judge.seed)))
    numbers = {
        "questions": len(judging.questions),
        "requests": len(unasked),
        "tokens": sum(-(-len(text.message.encode()) // BYTES_PER_TOKEN) for text in unasked),
        "most_written": None if limit is None else limit * len(unasked),
    }
    if as_json:
        print(json.dumps(numbers))
        return
    answered = len(judging.questions) - len(unasked)
    most = "without a limit" if limit is None else f"at most {limit * len(unasked):,}"
    for line in (
        f"{counted(len(unasked), 'request')} to {endpoint.model} at {endpoint.url}, about {numbers['tokens']:,} tokens "
        f"to read, and {most} to write. A greeting of a few tokens is sent first.",
        f"{counted(len(judging.questions), 'question')} in all. {path} has the answers to {answered} of them.",
    ):
        print_line(console, line)
