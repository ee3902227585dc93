"""The input of a generator: the token ids of prompt and article, cut to the model's window, and how they are read."""

import bisect
import copy
import inspect
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np
import torch
from jinja2 import TemplateError
from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

from nws.core.errors import ModelError
from nws.core.models.batching import to_device
from nws.core.models.generators import Generator, PromptTemplate

TODAY = datetime(2024, 7, 26)
"""The date for chat templates that write one into a prompt. With today's date, no summary could be repeated. Templates
of Llama 3 write this date if they have no clock."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The input for an article: the token `ids`, after `truncated` tokens of the article were cut off."""

    ids: list[int]
    truncated: int


MakePrompt: TypeAlias = Callable[[str, int, int], Prompt | None]
"""A function from an article, a number of words, and the room in tokens (with special tokens) to the model's input.

It returns None if there is no room for an article beside the prompt.
"""


def prompt_maker(generator: Generator, tokenizer: Any) -> MakePrompt:
    """Return the function that makes the prompts of a generator."""
    if generator.prompt is None:
        return _around(generator.prefix, generator.suffix, tokenizer)
    return _asking(generator.prompt, generator.chat, tokenizer)


def _around(prefix: str, suffix: str, tokenizer: Any) -> MakePrompt:
    """Return a function that joins the prefix, as many tokens of the article as fit, and the suffix."""
    head, special = _special_tokens(tokenizer)
    tail = _ids(tokenizer, suffix) + special

    def make(text: str, n: int, room: int) -> Prompt | None:
        space = room - len(head + tail)
        # Tokenized as one text, since a prefix that ends in a space changes the article's first token.
        ids = _ids(tokenizer, prefix + text.strip())
        return Prompt(head + ids[:space] + tail, max(0, len(ids) - space)) if space > 0 else None

    return make


def _asking(prompt: PromptTemplate, chat: bool, tokenizer: Any) -> MakePrompt:
    """Return a function that fills a prompt with as many words of the article as fit, in a chat template if wanted."""
    template = _fixed_clock() + tokenizer.get_chat_template() if chat else None

    def read(article: str, n: int) -> list[int]:
        message = prompt.about(article, n)
        if template is None:
            return _ids(tokenizer, message, special=True)
        messages = [{"role": "user", "content": message}]
        try:
            # Templates of models that think first can be told not to. Other templates ignore the option.
            text = tokenizer.apply_chat_template(
                messages, chat_template=template, tokenize=False, add_generation_prompt=True, enable_thinking=False
            )
        except TemplateError as error:
            raise ModelError(f"The checkpoint's chat template does not take a single user message: {error}.") from error
        return _ids(tokenizer, text)  # its special tokens are in the template

    def make(text: str, n: int, room: int) -> Prompt | None:
        ids = read(text, n)
        if len(ids) <= room:
            return Prompt(ids, 0)
        ends = [0, *(word.end() for word in re.finditer(r"\S+", text))]
        # The whole prompt is tokenized each time, since a token may extend over the end of the article.
        fitting = bisect.bisect_right(ends, room, key=lambda end: len(read(text[:end], n)))
        if fitting < 2:  # not even with the first word
            return None
        cut_ids = read(text[: ends[fitting - 1]], n)
        return Prompt(cut_ids, len(ids) - len(cut_ids))

    return make


def _fixed_clock() -> str:
    """Return a macro that replaces the function `strftime_now` of transformers' templates, which is not an argument."""
    codes = {f"%{letter}": TODAY.strftime(f"%{letter}") for letter in "aAbBcdDeFGHIjmMpSTuUVwWxXyY"}
    codes |= {f"%-{letter}": codes[f"%{letter}"].lstrip("0") or "0" for letter in "dmyHIMSj"}
    replaced = "".join(f"|replace({code!r}, {text!r})" for code, text in codes.items())
    # The last part keeps a line break at the beginning of a template.
    return f"{{% macro strftime_now(format) %}}{{{{ format{replaced} }}}}{{% endmacro %}}{{{{ '' }}}}"


def _ids(tokenizer: Any, text: str, special: bool = False) -> list[int]:
    # Not verbose, since the caller cuts texts that are longer than the window.
    ids: list[int] = tokenizer(text, add_special_tokens=special, verbose=False)["input_ids"]
    return ids


def _special_tokens(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the ids that the tokenizer puts before and after a text."""
    encoded = tokenizer("a", return_special_tokens_mask=True)
    ids, special = encoded["input_ids"], encoded["special_tokens_mask"]
    first = special.index(0)
    last = len(ids) - special[::-1].index(0)
    return ids[:first], ids[last:]


@dataclass(frozen=True, slots=True)
class PromptReader:
    """What a model without an encoder has read of some prompts, so that it can read on from there more than once.

    Padding may stand anywhere between tokens, since the attention mask counts positions.

    Attributes:
        model: the model, whose `generate` reads.
        config: the `GenerationConfig` for reading, which writes one token.
        device: the device of the model.
        read: rows of equal length with the ids of the tokens that were read; None is padding.
        cache: the keys and values of these rows; None if nothing was read.
    """

    model: Any
    config: Any
    device: torch.device
    read: Sequence[Sequence[int | None]] = ((),)
    cache: Any = None

    def after(self, prompts: Sequence[Sequence[int]], rows: Sequence[int]) -> "PromptReader":
        """Return a reader that has read `prompts`, each of which goes on from one of the `rows` that were read."""
        inputs, read = self.inputs(prompts, rows), self._laid_out(prompts, rows)
        cache = inputs.get("past_key_values")
        if len(read[0]) > len(self.read[0]):
            self.model.generation_config = self.config
            cache = self.model.generate(**inputs, generation_config=self.config).past_key_values
        return replace(self, read=read, cache=cache)

    def inputs(self, prompts: Sequence[Sequence[int]], rows: Sequence[int], copies: int = 1) -> dict[str, Any]:
        """Return the inputs of `generate` for copies of each prompt, each of which goes on from one of the `rows`."""
        inputs: dict[str, Any] = padded_inputs(self._laid_out(prompts, rows), self.config.pad_token_id, self.device)
        inputs = {name: values.repeat_interleave(copies, 0) for name, values in inputs.items()}
        if self.cache is not None:
            # A shallow copy suffices: reading on replaces the tensors of a layer, but does not change them.
            cache = copy.copy(self.cache)
            cache.layers = [copy.copy(layer) for layer in cache.layers]
            cache.batch_select_indices(torch.tensor(rows, device=self.device).repeat_interleave(copies))
            inputs["past_key_values"] = cache
        return inputs

    def _laid_out(self, prompts: Sequence[Sequence[int]], rows: Sequence[int]) -> list[list[int | None]]:
        """Lay out rows of equal length: what was read, padding, and the rest of the prompt."""
        read = [self.read[row] for row in rows]
        rests = [ids[len(row) - row.count(None) :] for ids, row in zip(prompts, read, strict=True)]
        width = max(map(len, rests))
        return [[*row, *[None] * (width - len(rest)), *rest] for row, rest in zip(read, rests, strict=True)]


def has_copies(model: Any) -> bool:
    """Return whether what a model has read can be copied, because it is keys and values, and not a state."""
    return _layers(model) <= {DynamicLayer, DynamicSlidingWindowLayer}


def reads_on(model: Any) -> bool:
    """Return whether a model can read on from a copy of what it has read, with padding in between.

    It cannot if it slides a window, also over padding, or counts positions itself.
    """
    return _layers(model) == {DynamicLayer} and "position_ids" in inspect.signature(model.forward).parameters


def _layers(model: Any) -> set[type]:
    """Return the kinds of layers in the cache of a model without an encoder."""
    return {type(layer) for layer in DynamicCache(config=model.config).layers}


def padded_inputs(rows: Sequence[Sequence[int | None]], fill: int, device: torch.device) -> dict[str, torch.Tensor]:
    """Make `input_ids` and `attention_mask`, (rows, width) int64, of rows of equal length, where None is padding."""
    ids = np.array([[fill if token is None else token for token in row] for row in rows], dtype=np.int64)
    mask = np.array([[token is not None for token in row] for row in rows], dtype=np.int64)
    return {"input_ids": to_device(ids, device), "attention_mask": to_device(mask, device)}


def shared(rows: Sequence[Sequence[int]]) -> list[int]:
    """Return the ids with which all rows begin."""
    columns = itertools.takewhile(lambda column: len(set(column)) == 1, zip(*rows, strict=False))
    return [column[0] for column in columns]
