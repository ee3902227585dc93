"""Texts of at most n words: a model draws drafts at random, and the likeliest draft that ended by itself is chosen.

A draft ends where the model ends it, by its own token or by a new line. It also ends before a word beyond n. Then the
model would have gone on, and the draft is not chosen if another one ended by itself. If none did, the text is the
beginning of a draft: the one after which an end was most probable.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from transformers import LogitsProcessor

from nws.core.text.length import LengthUnit, count_words, length_of

# A text that ends in such a sign, or in such an English word, is not over, whatever the model says.
_GOES_ON = re.compile(
    r"(?:[,;:–—-]|\b(?:an?|the|and|or|of|to|with|from|for|by|than|his|her|its|their))\s*$", re.IGNORECASE
)


@dataclass(slots=True)
class _Written:
    """A draft, as far as it is written.

    Attributes:
        text: the decoded tokens.
        log_likelihood: the log-likelihood of its tokens and, once it is over, of its end, in nats.
        is_over: whether the draft is finished.
        has_ended: whether the model ended it.
        likeliest_end: the highest log-probability of an end so far, and the text before it.
    """

    tokens: list[int] = field(default_factory=list)
    text: str = ""
    log_likelihood: float = 0.0
    is_over: bool = False
    has_ended: bool = False
    likeliest_end: tuple[float, str] = (-np.inf, "")


class Drafting(LogitsProcessor):
    """A processor of scores that lets each row draw a text of at most n words or characters.

    The search is greedy, and only the token that is drawn here has a score.

    Args:
        tokenizer: the tokenizer of the model.
        draw: a processor that gives the drawn token the highest score.
        ends: the ids of the tokens that end a text.
        rows: the number of drafts.
        n: the most words or characters, at least 1.
        unit: the unit of n.
    """

    def __init__(
        self, tokenizer: Any, draw: LogitsProcessor, ends: Sequence[int], rows: int, n: int, unit: LengthUnit
    ) -> None:
        self._tokenizer, self._draw, self._n, self._unit = tokenizer, draw, n, unit
        self._end = ends[0]
        new_lines = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in ("\n", "\n\n"))
        found = {ids[-1] for ids in new_lines if ids and "\n" in tokenizer.decode(ids[-1:])}
        self._stops = {*ends, *tokenizer.all_special_ids}
        self._ends = sorted({*self._stops, *found})
        self._rows = [_Written() for _ in range(rows)]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Turn scores (rows, vocabulary) into scores of the same shape: -inf except for one token of each row."""
        log_p = torch.log_softmax(scores.float(), dim=1)
        drawn = self._draw(input_ids, log_p).argmax(1)
        of_drawn, of_end = log_p.gather(1, drawn[:, None])[:, 0], log_p[:, self._ends].logsumexp(1)
        values = zip(self._rows, drawn.tolist(), of_drawn.tolist(), of_end.tolist(), strict=True)
        tokens = torch.tensor([self._next(*row) for row in values], device=scores.device)
        return torch.full_like(scores, -torch.inf).scatter(1, tokens[:, None], 0.0)

    def _next(self, row: _Written, drawn: int, log_p: float, log_p_end: float) -> int:
        """Return the next token of a row: the one that was drawn, or the end."""
        if row.is_over:
            return self._end
        if row.text:
            row.likeliest_end = max(row.likeliest_end, (log_p_end, row.text))
        text = self._tokenizer.decode([*row.tokens, drawn], skip_special_tokens=True).lstrip()
        row.has_ended = drawn in self._stops or "\n" in text  # a new line before the text does not count
        row.is_over = row.has_ended or length_of(text, self._unit) > self._n
        row.log_likelihood += log_p_end if row.is_over else log_p
        if row.is_over:
            return self._end
        row.tokens.append(drawn)
        row.text = text
        return drawn

    def best(self, count: int) -> list[tuple[str, int]]:
        """Return the chosen text of each `count` rows, and the number of rows that ended by themselves, with a word."""
        starts = range(0, len(self._rows), count)
        return [_best(self._rows[start : start + count], self._n, self._unit) for start in starts]


def _best(rows: Sequence[_Written], n: int, unit: LengthUnit) -> tuple[str, int]:
    """Return the text with the highest likelihood per word among those that ended by themselves, and their number.

    Texts of at least half of n are preferred, since small models like titles of two words, which say little.
    """
    ended = [row for row in rows if row.has_ended and count_words(row.text) and not _GOES_ON.search(row.text)]
    if ended:
        long = [row for row in ended if 2 * length_of(row.text, unit) >= n] or ended
        return max(long, key=lambda row: row.log_likelihood / count_words(row.text)).text, len(ended)
    ends = [row.likeliest_end for row in rows if count_words(row.likeliest_end[1])]
    return max(ends, default=(0.0, ""))[1], 0
