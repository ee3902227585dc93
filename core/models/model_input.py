"""Input of a generator: the token ids of prompt and article, cut to the model's window."""

import bisect
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from jinja2 import TemplateError

from nws.core.errors import ModelError
from nws.core.models.generators import Generator, PromptTemplate

TODAY = datetime(2024, 7, 26)
"""The date for chat templates that write one into a prompt. With today's, no summary could be repeated. Templates of
Llama 3 write this one where they have no clock."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The input for one article: the token `ids`, after `truncated` tokens of the article were cut away."""

    ids: list[int]
    truncated: int


MakePrompt: TypeAlias = Callable[[str, int, int], Prompt | None]
"""From an article, a number of words, and the room in tokens (with the special ones) to the input of the model.

None if there is no room for an article beside the prompt.
"""


def prompt_maker(generator: Generator, tokenizer: Any) -> MakePrompt:
    """The function that makes the prompts of a generator."""
    if generator.prompt is None:
        return _around(generator.prefix, generator.suffix, tokenizer)
    return _asking(generator.prompt, generator.chat, tokenizer)


def _around(prefix: str, suffix: str, tokenizer: Any) -> MakePrompt:
    """Prefix, as many tokens of the article as fit, suffix."""
    head, special = _special_tokens(tokenizer)
    tail = _ids(tokenizer, suffix) + special

    def make(text: str, n: int, room: int) -> Prompt | None:
        space = room - len(head + tail)
        # Tokenised as one text: a prefix that ends in a space changes the article's first token.
        ids = _ids(tokenizer, prefix + text.strip())
        return Prompt(head + ids[:space] + tail, max(0, len(ids) - space)) if space > 0 else None

    return make


def _asking(prompt: PromptTemplate, chat: bool, tokenizer: Any) -> MakePrompt:
    """A prompt with as many words of the article as fit, as a user's message in a chat template if there is one."""
    template = _fixed_clock() + tokenizer.get_chat_template() if chat else None

    def read(article: str, n: int) -> list[int]:
        message = prompt.about(article, n)
        if template is None:
            return _ids(tokenizer, message, special=True)
        messages = [{"role": "user", "content": message}]
        try:
            # Templates of models that think aloud first can be told not to; other templates ignore the option.
            text = tokenizer.apply_chat_template(
                messages, chat_template=template, tokenize=False, add_generation_prompt=True, enable_thinking=False
            )
        except TemplateError as error:
            raise ModelError(f"The checkpoint's chat template takes no message of a user alone: {error}.") from error
        return _ids(tokenizer, text)  # its special tokens are in the template

    def make(text: str, n: int, room: int) -> Prompt | None:
        ids = read(text, n)
        if len(ids) <= room:
            return Prompt(ids, 0)
        ends = [0, *(word.end() for word in re.finditer(r"\S+", text))]
        # The whole prompt is tokenized each time, since a token may reach over the end of the article.
        fitting = bisect.bisect_right(ends, room, key=lambda end: len(read(text[:end], n)))
        if fitting < 2:  # not even with the first word
            return None
        cut_ids = read(text[: ends[fitting - 1]], n)
        return Prompt(cut_ids, len(ids) - len(cut_ids))

    return make


def _fixed_clock() -> str:
    """A macro in place of the function `strftime_now` of transformers' templates: a function cannot be handed over."""
    codes = {f"%{letter}": TODAY.strftime(f"%{letter}") for letter in "aAbBcdDeFGHIjmMpSTuUVwWxXyY"}
    codes |= {f"%-{letter}": codes[f"%{letter}"].lstrip("0") or "0" for letter in "dmyHIMSj"}
    replaced = "".join(f"|replace({code!r}, {text!r})" for code, text in codes.items())
    # What comes last keeps a line break with which a template begins.
    return f"{{% macro strftime_now(format) %}}{{{{ format{replaced} }}}}{{% endmacro %}}{{{{ '' }}}}"


def _ids(tokenizer: Any, text: str, special: bool = False) -> list[int]:
    # Not verbose: the caller cuts a text that is longer than the window.
    ids: list[int] = tokenizer(text, add_special_tokens=special, verbose=False)["input_ids"]
    return ids


def _special_tokens(tokenizer: Any) -> tuple[list[int], list[int]]:
    """The ids that the tokenizer puts before and after a text."""
    encoded = tokenizer("a", return_special_tokens_mask=True)
    ids, special = encoded["input_ids"], encoded["special_tokens_mask"]
    first = special.index(0)
    last = len(ids) - special[::-1].index(0)
    return ids[:first], ids[last:]
