"""What a judge is asked about the summaries of a file, and how its replies are read."""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from core.errors import CorpusError, RecipeError
from core.models.endpoint import Endpoint
from core.models.endpoint_requests import Question
from core.models.prompt_template import placeholders
from core.text.reader import is_file, naming, read_rows
from core.text.rows import cleaned, name_of, text_of

DEFAULT_PROMPT = (
    "Below are a news article and a summary of it. How well does the summary tell what matters in the article, and "
    "nothing that the article does not say? It was kept short on purpose: do not mark it down for being short. Answer "
    "with one whole number from {low} (worst) to {high} (best), and with nothing else.\n\n"
    "Article:\n{article}\n\nSummary:\n{summary}\n\nScore:"
)
MOST_TOKENS = 512
"""Of a reply: enough for some sentences before the verdict."""
BYTES_PER_TOKEN = 4
"""About; for what `--dry-run` says."""
_WIDEST_SCALE = 1_000
_SYSTEM, _DOCUMENT, _SOURCE, _PREDICTION = "system", "document", "source", "prediction"
OF_JUDGE = "judge"
"""What the names of the fields that a judge adds begin with."""

# What some models think aloud before they answer.
_THOUGHT = re.compile(r".*</think>", re.DOTALL)
_THINKS_STILL = "<think>"
_LABEL = r"\b(?:score|rating|verdict|answer|winner)\b[^\w\-]{0,6}(?:is\b[^\w\-]{0,4})?"
_OPEN = r"[^\w\-−.,]*"
# Neither a decimal, a fraction, a range, nor a choice of two.
_NO_MORE = r"(?!\w)(?![.,:/\-–][0-9])(?!\s*/\s*[0-9])(?!\s*[-–]\s*[0-9])(?!\s*(?:to|of|out|or|and)\b)"


@dataclass(frozen=True, slots=True)
class Scale:
    """Whole numbers from the worst score to the best."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low} to {self.high}"


def parse_scale(text: str) -> Scale:
    """The value of `--scale`, e.g. `1,5`.

    Raises:
        RecipeError: it is no scale, or its numbers are further apart than a model can tell.
    """
    found = re.fullmatch(r" *([0-9]{1,4}) *, *([0-9]{1,4}) *", text)
    low, high = map(int, found.groups()) if found else (0, 0)
    if not low < high <= _WIDEST_SCALE:
        raise RecipeError(
            f"a scale goes from a whole number to a higher one, 0 to {_WIDEST_SCALE}, such as 1,5, not {text!r}.",
            settings=("scale",),
        )
    return Scale(low, high)


@dataclass(frozen=True)
class JudgePrompt:
    """What a judge is told, with a place for the text: `{summary}`.

    It may also name `{article}`, and `{low}` and `{high}`, the ends of the scale. A brace that is part of the prompt is
    written twice.

    Raises:
        RecipeError: it lacks the summary, names it twice, or names anything else.
    """

    text: str

    def __post_init__(self) -> None:
        if placeholders(self.text, ("article", "summary", "low", "high")).count("summary") != 1:
            shown = self.text if len(self.text) < 100 else f"{self.text[:100]} …"
            raise RecipeError(f"a judge's prompt has to name {{summary}} once: {shown!r}.")

    @property
    def sha256(self) -> str:
        """8 hex digits that identify the prompt."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:8]


def read_prompt(given: str | None) -> JudgePrompt:
    """The prompt that `--prompt` names: the text of a file, or the text itself; the default without one.

    Raises:
        RecipeError: it is none, or the file cannot be read.
    """
    try:
        text = Path(given).read_text(encoding="utf-8-sig") if given and is_file(Path(given)) else given
    except (OSError, UnicodeError) as error:
        raise RecipeError(f"the prompt {given} cannot be read: {error}.") from error
    return JudgePrompt(DEFAULT_PROMPT if text is None else cleaned(text))


@dataclass(frozen=True)
class JudgeQuestion:
    """One question to a judge.

    Attributes:
        text: what the judge reads.
        about: whose summary it is on, for those who read the file of replies.
        made_by: all else that decides the reply, as text.
    """

    text: str
    about: str
    made_by: str

    @property
    def sent(self) -> Question:
        """What is sent, at temperature 0."""
        return Question(self.text, MOST_TOKENS)

    @cached_property
    def key(self) -> str:
        """32 hex digits: of what is sent where, and how the reply is read."""
        sent = [self.made_by, self.text, self.sent.most_tokens, 0]  # the temperature
        return hashlib.sha256(json.dumps(sent).encode()).hexdigest()[:32]

    @property
    def tokens(self) -> int:
        """About how many tokens the model reads."""
        return -(-len(self.text.encode()) // BYTES_PER_TOKEN)


@dataclass(frozen=True)
class Judge:
    """Who judges, and how.

    Attributes:
        endpoint: the model and where it is; its own prompt is not used.
        prompt: what it is told.
        scale: of its scores.
        seed: that is sent with each request.
    """

    endpoint: Endpoint
    prompt: JudgePrompt
    scale: Scale
    seed: int

    @cached_property
    def signature(self) -> str:
        """All that decides a reply but the texts."""
        scale = f"scale:{self.scale.low}-{self.scale.high}"
        parts = [self.endpoint.model, self.endpoint.url.rstrip("/"), f"prompt:{self.prompt.sha256}", scale]
        return "|".join(["judge", *parts, "temperature:0", f"seed:{self.seed}"])

    def question(self, article: str, summary: str, about: str) -> JudgeQuestion:
        """The question on a summary."""
        text = self.prompt.text.format(article=article, summary=summary, low=self.scale.low, high=self.scale.high)
        return JudgeQuestion(text, about, self.signature)


@dataclass(frozen=True, slots=True)
class JudgedText:
    """A summary of a file.

    Attributes:
        question: on it.
        fields: those of the file, which stand beside the judge's.
    """

    system: str
    document: str
    question: JudgeQuestion
    fields: Mapping[str, Any]


def read_texts(path: Path, judge: Judge, limit: int | None) -> list[JudgedText]:
    """The rows of a JSONL, CSV or Parquet file with the fields `system`, `document`, `source` and `prediction`.

    They come by document and system, in the order of the file.

    Args:
        path: the file.
        judge: who is to be asked about them.
        limit: how many documents at most, the first of the file.

    Raises:
        CorpusError: a row is malformed or there twice (named by its line), or there is none.
        RecipeError: a field has a name that is the judge's.
    """
    by_document: dict[str, dict[str, JudgedText]] = {}
    systems: dict[str, int] = {}
    for where, row in read_rows(path):
        with naming(path, where):
            text = _judged_text(row, judge)
        if limit is not None and text.document not in by_document and len(by_document) == limit:
            continue
        systems.setdefault(text.system, len(systems))
        of_document = by_document.setdefault(text.document, {})
        if text.system in of_document:
            raise CorpusError(f"{path}, {where}: system {text.system!r} has document {text.document!r} already.")
        of_document[text.system] = text
    if not by_document:
        raise CorpusError(f"{path} holds no row.")
    return [texts[name] for texts in by_document.values() for name in sorted(texts, key=systems.__getitem__)]


def _judged_text(row: Mapping[str, object], judge: Judge) -> JudgedText:
    if taken := [name for name in row if name == OF_JUDGE or name.startswith(f"{OF_JUDGE}_")]:
        raise RecipeError(f"The field {taken[0]!r} is the judge's own, and there already: rename it in the file.")
    texts = {name: name_of(row, name) for name in (_SYSTEM, _DOCUMENT)}
    texts |= {name: text_of(row, name) for name in (_SOURCE, _PREDICTION)}
    system, document, article, summary = texts.values()
    question = judge.question(article, summary, f"{system}, {document}")
    return JudgedText(system, document, question, {name: _value(value) for name, value in row.items()} | texts)


def _value(value: object) -> object:
    """As JSON has it: no number that is not finite, and text for what JSON does not know."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, bool | int | str | list | dict | None) else str(value)


def read_score(reply: str, scale: Scale) -> int | None:
    """The score that a reply states: alone, behind a label such as "Score:", or in double brackets.

    Nothing is guessed: a reply that could be read in two ways holds none. "It has 3 mistakes" is no score of 3.

    Returns:
        A whole number of the scale; None where the reply states none, several, or one that is not on the scale.
    """
    answer = _THOUGHT.sub("", reply)
    if _THINKS_STILL in answer:
        return None
    number = rf"(?P<score>[0-9]{{1,4}})(?:\.0+(?![0-9]))?(?:\s*(?:/|out of)\s*{scale.high}(?![0-9.,]*[0-9]))?"
    if found := re.fullmatch(rf"{_OPEN}(?:{_LABEL})?{number}(?:\s*points?|점)?\W*", answer, re.IGNORECASE):
        stated = {int(found["score"])}
    else:
        patterns = (rf"{_LABEL}{number}{_NO_MORE}", r"\[\[(?P<score>[0-9]{1,4})\]\]")
        stated = {int(one["score"]) for pattern in patterns for one in re.finditer(pattern, answer, re.IGNORECASE)}
    score = stated.pop() if len(stated) == 1 else None
    return score if score is not None and scale.low <= score <= scale.high else None
