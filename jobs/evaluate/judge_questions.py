"""What a judge is asked: prompts, the scale, and the questions on summaries."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from core.errors import RecipeError
from core.summarizers.endpoint import Endpoint
from core.summarizers.endpoint_requests import Question
from core.summarizers.prompt_template import placeholders
from core.text.files import is_file
from core.text.rows import cleaned

POINTWISE = (
    "Below are a news article and a summary of it. How well does the summary tell what matters in the article, and "
    "nothing that the article does not say? It was kept short on purpose: do not mark it down for being short. Answer "
    "with one whole number from {low} (worst) to {high} (best), and with nothing else.\n\n"
    "Article:\n{article}\n\nSummary:\n{summary}\n\nScore:"
)
PAIRWISE = (
    "Below are a news article and two summaries of it, A and B. Which of them tells better what matters in the "
    "article, and nothing that the article does not say? Both were kept short on purpose. Answer with A, B or tie, and "
    "with nothing else.\n\n"
    "Article:\n{article}\n\nSummary A:\n{a}\n\nSummary B:\n{b}\n\nVerdict:"
)
MOST_TOKENS = 512
"""Of a reply: enough for some sentences before the verdict."""
BYTES_PER_TOKEN = 4
"""About; for what `--dry-run` says."""
MOST_REPEATS = 100
ATTEMPTS = 2
"""A reply that holds no verdict is asked for once more."""
_WIDEST_SCALE = 1_000
# Between the draws of the first attempts and those of the second.
_SECOND = 1_000


@dataclass(frozen=True, slots=True)
class Scale:
    """Whole numbers from the worst score to the best.

    Raises:
        RecipeError: they are not in this order, negative, or further apart than a model can tell.
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high <= _WIDEST_SCALE:
            raise RecipeError(
                f"a scale goes from a whole number to a higher one, 0 to {_WIDEST_SCALE}, not from {self.low} to "
                f"{self.high}.",
                settings=("scale",),
            )

    def __str__(self) -> str:
        return f"{self.low} to {self.high}"


def parse_scale(text: str) -> Scale:
    """The value of `--scale`, e.g. `1,5`.

    Raises:
        RecipeError: it is no scale.
    """
    low, comma, high = (part.strip() for part in text.partition(","))
    if not (comma and low.isascii() and low.isdecimal() and high.isascii() and high.isdecimal()):
        raise RecipeError(f"a scale is two whole numbers with a comma between them, such as 1,5, not {text!r}.")
    return Scale(int(low[:9]), int(high[:9]))


@dataclass(frozen=True)
class JudgePrompt:
    """What a judge is told, with places for the texts: `{summary}`, or in pairs `{a}` and `{b}`.

    It may also name `{article}`, and where one summary is judged `{low}` and `{high}`, the ends of the scale. A brace
    that is part of the prompt is written twice.

    Raises:
        RecipeError: it lacks a summary, names one twice, or names anything else.
    """

    text: str
    pairwise: bool

    def __post_init__(self) -> None:
        if cleaned(self.text) != self.text:
            raise RecipeError("the prompt holds a NUL, or bytes that are no UTF-8: write it as text.")
        needed = ("a", "b") if self.pairwise else ("summary",)
        names = placeholders(self.text, ("article", *needed, *(() if self.pairwise else ("low", "high"))))
        for name in needed:
            if names.count(name) != 1:
                shown = self.text if len(self.text) < 100 else f"{self.text[:100]} …"
                raise RecipeError(f"a judge's prompt has to name {{{name}}} once: {shown!r}.")

    @property
    def sha256(self) -> str:
        """8 hex digits that identify the prompt."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:8]


def read_prompt(given: str | None, pairwise: bool) -> JudgePrompt:
    """The prompt that `--prompt` names: the text of a file, or the text itself; the default without one.

    Raises:
        RecipeError: it is none, or the file cannot be read.
    """
    if given is None:
        return JudgePrompt(PAIRWISE if pairwise else POINTWISE, pairwise)
    if not is_file(Path(given)):
        try:
            return JudgePrompt(given, pairwise)
        except RecipeError as error:
            raise error if "{" in given else RecipeError(f"{error} There is no file of this name, either.") from error
    try:
        return JudgePrompt(cleaned(Path(given).read_text(encoding="utf-8-sig")), pairwise)
    except (OSError, UnicodeError) as error:
        raise RecipeError(f"the prompt {given} cannot be read: {error}.") from error


@dataclass(frozen=True)
class Asked:
    """One question to a judge.

    Attributes:
        question: what is sent.
        about: whose summaries it is on, for those who read the file of replies.
        made_by: all that decides the reply, as text.
    """

    question: Question
    about: str
    made_by: str

    @cached_property
    def key(self) -> str:
        """32 hex digits: of what is sent where, and how the reply is read."""
        sent = [self.made_by, self.question.text, self.question.most_tokens, self.question.draw]
        return hashlib.sha256(json.dumps(sent).encode()).hexdigest()[:32]

    @property
    def tokens(self) -> int:
        """About how many tokens the model reads."""
        return -(-len(self.question.text.encode()) // BYTES_PER_TOKEN)

    def sent(self, attempt: int) -> Question:
        """What is sent; the second attempt is drawn, since the same request would get the same reply."""
        draw = self.question.draw + _SECOND * (attempt - 1)
        return Question(self.question.text, self.question.most_tokens, draw)


@dataclass(frozen=True)
class Judge:
    """Who judges, and how.

    Attributes:
        endpoint: the model and where it is; its own prompt is not used.
        prompt: what it is told.
        scale: of its scores; pairs have none.
        seed: of its draws.
        repeats: how often each question is asked. Once is at temperature 0. More than once, all are drawn at
            temperature 1, each by a seed of its own: at 0 a model would repeat itself, and agree with nobody.

    Raises:
        RecipeError: it is asked too often.
    """

    endpoint: Endpoint
    prompt: JudgePrompt
    scale: Scale
    seed: int
    repeats: int

    def __post_init__(self) -> None:
        if not 1 <= self.repeats <= MOST_REPEATS:
            raise RecipeError(f"a question is asked 1 to {MOST_REPEATS} times, not {self.repeats}.")

    @cached_property
    def signature(self) -> str:
        """All that decides a reply but the texts and the draw."""
        scale = "pair" if self.prompt.pairwise else f"scale:{self.scale.low}-{self.scale.high}"
        parts = [self.endpoint.model, self.endpoint.url.rstrip("/"), f"prompt:{self.prompt.sha256}", scale]
        return "|".join(["judge", *parts, f"temperature:{int(self.repeats > 1)}", f"seed:{self.seed}"])

    def on_summary(self, article: str, summary: str, about: str) -> tuple[Asked, ...]:
        """The questions on one summary, one for each repeat."""
        text = self.prompt.text.format(article=article, summary=summary, low=self.scale.low, high=self.scale.high)
        return self._repeated(text, about)

    def on_pair(self, article: str, a: str, b: str, about: str) -> tuple[tuple[Asked, Asked], ...]:
        """For each repeat the question with `a` before `b`, and the one with `b` before `a`."""
        orders = [
            self._repeated(self.prompt.text.format(article=article, a=one, b=other), about)
            for one, other in ((a, b), (b, a))
        ]
        return tuple(zip(*orders, strict=True))

    def _repeated(self, text: str, about: str) -> tuple[Asked, ...]:
        draws = range(1, self.repeats + 1) if self.repeats > 1 else (0,)
        return tuple(Asked(Question(text, MOST_TOKENS, draw), about, self.signature) for draw in draws)
