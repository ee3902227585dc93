"""A language model behind an endpoint judges summaries: what it is asked, and how a score is read from its reply.

`nws judge` asks it about the summaries of a file. A plugin that has a `Judge` among its `METRICS` makes it a metric of
a run.
"""

import functools
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from nws.core.errors import EndpointError, NwsError, RecipeError
from nws.core.models.endpoint import Endpoint, EndpointAnswer, default_url
from nws.core.models.generators import placeholders
from nws.core.text.model_outputs import without_thoughts

if TYPE_CHECKING:  # with it comes the client of `openai`, which takes a second
    from nws.core.models.endpoint_requests import LoadedEndpoint

DEFAULT_PROMPT = (
    "Below are a news article and a summary of it. How well does the summary tell what matters in the article, and "
    "nothing that the article does not say? It was kept short on purpose: do not mark it down for being short. Answer "
    "with one whole number from {low} (worst) to {high} (best), and with nothing else.\n\n"
    "Article:\n{article}\n\nSummary:\n{summary}\n\nScore:"
)
MOST_TOKENS = 512
"""The most tokens of a reply: enough for some sentences before the score."""
_WIDEST_SCALE = 1_000
_SHOWN_CHARACTERS = 100
_CUT = "length"  # `finish_reason` of a reply that has used up its tokens

_LABEL = (
    r"(?:\b(?:score|rating|verdict|answer|winner)\b|(?:점수|평점)[는은]?)"
    r"(?:\s*(?:\(|on a scale (?:of|from)\s)\s*[0-9]+\s*(?:-|–|~|to)\s*[0-9]+\)?)?[^\w\-]{0,6}(?:is\b[^\w\-]{0,4})?"
)
_BRACKETED = r"\[\[(?P<score>[0-9]{1,4})\]\]"
_BEFORE = r"[^\w\-−.,]*"
# What may not follow a score, since then it is part of a decimal, a fraction, a range, or a choice of two.
_NO_MORE = r"(?!(?!점)\w)(?![.,:/\-–][0-9])(?!\s*/\s*[0-9])(?!\s*[-–]\s*[0-9])(?!\s*(?:to|of|out|or|and)\b)"
# What must follow a score: the end of the text, of a line or of a sentence, or a reason. So "2 facts are missing" is no
# score of 2.
_END = (
    r"(?:\s*(?:points?|stars?|점(?:입니다|이다)?))?[*_`\"'”’)\]}]*\s*"
    r"(?:$|\n|…|[.;:!?](?!\S*\w)|[-–—(]\s*[^\W\d]|,\s*[\"'\n]|,?\s*(?:because|since|as|which)\b)"
)


@dataclass(frozen=True, slots=True)
class Scale:
    """Whole numbers from the worst score to the best."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low} to {self.high}"


@dataclass(frozen=True)
class Judge:
    """A model that scores summaries, with everything that decides its replies except the texts.

    As a metric, it is called with each summary.

    Attributes:
        endpoint: the model and its address. The prompt of the endpoint is not used.
        prompt: the message to the model. It has to name `{summary}`, and may name `{article}` and the ends of the
            scale, `{low}` and `{high}`. A brace that is part of the prompt is written twice.
        scale: the scale of the scores.
        seed: the seed that is sent with each request.

    Raises:
        RecipeError: the prompt does not name the summary exactly once, or names something unknown.
    """

    endpoint: Endpoint
    prompt: str = DEFAULT_PROMPT
    scale: Scale = Scale(1, 5)
    seed: int = 0

    def __post_init__(self) -> None:
        if placeholders(self.prompt, ("article", "summary", "low", "high")).count("summary") != 1:
            is_long = len(self.prompt) > _SHOWN_CHARACTERS
            shown = f"{self.prompt[:_SHOWN_CHARACTERS]} …" if is_long else self.prompt
            raise RecipeError(f"a judge's prompt has to name {{summary}} once: {shown!r}.")

    @property
    def prompt_sha256(self) -> str:
        """8 hex digits that identify the prompt."""
        return hashlib.sha256(self.prompt.encode()).hexdigest()[:8]

    @property
    def signature(self) -> str:
        """Everything that decides a reply except the texts."""
        scale = f"scale:{self.scale.low}-{self.scale.high}"
        parts = [self.endpoint.model, self.endpoint.url.rstrip("/"), f"prompt:{self.prompt_sha256}", scale]
        changed = [f"parameters:{json.dumps(self.endpoint.parameters)}"] if self.endpoint.parameters else []
        return "|".join(["judge", *parts, "temperature:0", f"seed:{self.seed}", *changed])

    def message(self, article: str, summary: str) -> str:
        """Return the message that the model gets about a summary."""
        return self.prompt.format(article=article, summary=summary, low=self.scale.low, high=self.scale.high)

    def score(self, reply: str, finish: object) -> int | None:
        """Return the score that a reply states; None where it states none, or was cut off before its end (`finish`)."""
        return None if finish == _CUT else read_score(reply, self.scale)

    def __call__(self, summary: str, references: Sequence[str], article: str) -> float:
        """Ask for the score of one summary, and return it. References are not read.

        Raises:
            EndpointError: the endpoint does not answer, or refuses the key or the model.
            NwsError: the reply holds no score.
        """
        from nws.core.models.endpoint import Question

        (answer,) = _loaded(self).ask([Question(self.message(article, summary), MOST_TOKENS, self.seed)])
        if isinstance(answer, EndpointError):
            raise answer
        score = self.score(answer.text, answer.extra.get("finish"))
        if score is None:
            raise NwsError(f"{self.endpoint.model} {without_score(answer)}.")
        return float(score)


@functools.cache
def _loaded(judge: Judge) -> "LoadedEndpoint":
    from nws.core.models.endpoint_requests import LoadedEndpoint

    return LoadedEndpoint(judge.endpoint, judge.seed)


def make_judge(
    model: str,
    url: str | None = None,
    prompt: str = DEFAULT_PROMPT,
    scale: tuple[int, int] = (1, 5),
    seed: int = 0,
    concurrency: int = 8,
    parameters: Mapping[str, Any] = MappingProxyType({}),
) -> Judge:
    """Make a judge from plain values. Without a URL, the endpoint is that of the environment.

    Raises:
        RecipeError: the URL, the prompt, the scale or a parameter is invalid.
    """
    if not 0 <= scale[0] < scale[1] <= _WIDEST_SCALE:
        raise RecipeError(
            f"a scale goes from a whole number to a higher one, 0 to {_WIDEST_SCALE}, such as 1,5, not "
            f"{scale[0]},{scale[1]}.",
            settings=("scale",),
        )
    # Outputs are not cleaned: `read_score` removes thoughts itself, and replies are stored whole.
    endpoint = Endpoint(model, url or default_url(), concurrency=concurrency, parameters=parameters, clean_outputs=())
    return Judge(endpoint, prompt, Scale(*scale), seed)


def without_score(answer: EndpointAnswer) -> str:
    """Return what a model did whose reply holds no score, in words that follow the model's name."""
    return answer.problem or f"stated no score: {answer.text[:_SHOWN_CHARACTERS]!r}"


def read_score(reply: str, scale: Scale) -> int | None:
    """Read the score that a reply states.

    It stands alone, also on the first or last line, or after "Score:", or in double brackets.

    Nothing is guessed. A reply that could be read in two ways has no score, and "It has 3 mistakes" is no score of 3.

    Returns:
        A whole number on the scale; None where the reply states no score, several, or one that is not on the scale.
    """
    answer = without_thoughts(reply)
    if answer is None:
        return None
    number = rf"(?P<score>[0-9]{{1,4}})(?:\.0+(?![0-9]))?(?:\s*(?:/|out of)\s*{scale.high}(?![0-9.,]*[0-9]))?"
    alone = re.compile(rf"{_BEFORE}(?:{_LABEL})?{number}(?:\s*points?|점)?\W*", re.IGNORECASE)
    if whole := alone.fullmatch(answer):
        stated = {int(whole["score"])}
    else:
        labelled = [*re.finditer(rf"{_LABEL}{number}{_NO_MORE}(?P<end>(?={_END}))?", answer, re.IGNORECASE)]
        if any(match["end"] is None for match in labelled):
            return None
        stated = {
            int(match["score"]) for match in (*labelled, *re.finditer(_BRACKETED, answer), *_on_a_line(alone, answer))
        }
    score = stated.pop() if len(stated) == 1 else None
    return score if score is not None and scale.low <= score <= scale.high else None


def _on_a_line(alone: re.Pattern[str], answer: str) -> list[re.Match[str]]:
    """Find a number that is the first or last line, where no other line begins with a number, as in a list."""
    lines = [line for line in answer.splitlines() if line.strip()]
    numbered = [line for line in lines if re.match(r"\W*[0-9]", line)]
    is_alone = len(numbered) == 1 and numbered[0] in (lines[0], lines[-1])
    return [match] if is_alone and (match := alone.fullmatch(numbered[0])) else []
