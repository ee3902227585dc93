"""The abstractive generators: frozen values that say what a model reads, how it writes, and what its summary is.

How they are loaded and run is in `core/models/generation.py`.
"""

import hashlib
import json
import string
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal

from core.errors import ModelError, RecipeError
from core.models import SMOLLM2_MODEL, ModelRef, is_folder, parse_model
from core.text.length import UNCUT, LengthUnit
from core.text.rows import cleaned

# The architectures (`model_type` in a checkpoint's config.json) whose prompt and settings are known here.
ARCHITECTURES = ("bart", "gpt2", "pegasus", "t5")
# How the classes of models that write are called (`architectures` in config.json).
_WRITES = ("ForCausalLM", "ForConditionalGeneration", "LMHeadModel")
Half = Literal["float16", "bfloat16"]
# Part of what a run records: with another rule of core/models/exact_length.py it is another number.
EXACT_RULE = "exactly n words, rule 1"


# No word of a language that NWS reads is longer on average, and a model that writes too much is to be seen doing so.
_TOKENS_PER_WORD, _TOKENS_PER_CHARACTER, _MORE_TOKENS = 8, 2, 32
_UNCUT_TOKENS = 256


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A prompt with the placeholders `{article}` and, if it asks for a number of words, `{n}`.

    A brace that is part of the prompt is written twice, as in `str.format`. `unit` is what `{n}` counts.

    Raises:
        RecipeError: it does not name the article once, or names anything else.
    """

    text: str
    unit: LengthUnit = field(default="words", repr=False)  # in a work there is that of the stage

    def __post_init__(self) -> None:
        if cleaned(self.text) != self.text:
            raise RecipeError("the prompt holds a NUL, or bytes that are no UTF-8: write it as text.")
        names = placeholders(self.text, ("n", "article"))
        if names.count("article") != 1:
            raise RecipeError(f"the prompt has to name {{article}} once, where the article stands: {self.text!r}")

    @property
    def asks_for_n(self) -> bool:
        """Whether a model is asked once for each n, and not once for a summary of its own length."""
        return "n" in placeholders(self.text, ("n", "article"))

    @property
    def short_sha256(self) -> str:
        """8 hex digits that identify the prompt."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:8]

    @property
    def tokens_text(self) -> str:
        """How many tokens a model may write (`most_new_tokens`), as a run records it."""
        if not self.asks_for_n:
            return str(_UNCUT_TOKENS)
        return f"{_tokens_each(self.unit)}n+{_MORE_TOKENS}" + ("" if self.unit == "words" else f", n in {self.unit}")

    def about(self, article: str, n: int) -> str:
        """The prompt for an article and a number of words."""
        return self.text.format(article=article.strip(), n=n)


def placeholders(prompt: str, known: Sequence[str]) -> list[str]:
    """The names that stand in braces in a prompt, in their order.

    Raises:
        RecipeError: one is not `known`, or the braces do not match.
    """
    try:
        fields = [field for field in string.Formatter().parse(prompt) if field[1] is not None]
    except ValueError as error:
        raise RecipeError(f"the prompt cannot be read: {error}. Write {{{{ and }}}} for braces.") from error
    for _, name, spec, conversion in fields:
        if name not in known or spec or conversion:
            named = [f"{{{one}}}" for one in known]
            raise RecipeError(
                f"the prompt has a placeholder {{{name}}} that cannot be filled: only {', '.join(named[:-1])} and "
                f"{named[-1]} are known, as they stand here. Write {{{{ and }}}} for braces."
            )
    return [str(name) for _, name, _, _ in fields]


DEFAULT_PROMPT = PromptTemplate(
    "Summarize the news article below in exactly {n} words, in the language of the article. "
    "Write nothing but the summary.\n\n{article}"
)
DEFAULT_PROMPTS: dict[LengthUnit, PromptTemplate] = {
    "words": DEFAULT_PROMPT,
    "characters": PromptTemplate(
        "Summarize the news article below in at most {n} characters, blanks included, in the language of the article. "
        "Write nothing but the summary.\n\n{article}",
        "characters",
    ),
}
"""What is asked for unless told otherwise, by what n counts."""


def most_new_tokens(n: int, unit: LengthUnit) -> int:
    """How many tokens a model may write that was asked for `n` words or characters, or (`UNCUT`) for no number."""
    return _UNCUT_TOKENS if n == UNCUT else _MORE_TOKENS + _tokens_each(unit) * n


def _tokens_each(unit: LengthUnit) -> int:
    return _TOKENS_PER_WORD if unit == "words" else _TOKENS_PER_CHARACTER


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model writes, named as in transformers' `GenerationConfig`. None: as the checkpoint states it.

    `min_length` and `max_length` count the tokens of a summary with its special ones, `max_new_tokens` what is added to
    a prompt. `top_k`: each token is drawn among the k most probable ones; None: beam search.
    """

    num_beams: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    max_new_tokens: int | None = None
    length_penalty: float | None = None
    no_repeat_ngram_size: int | None = None
    early_stopping: bool | None = None
    top_k: int | None = None

    def stated(self) -> dict[str, int | float | bool]:
        """The values that are not None, by name."""
        values = ((option.name, getattr(self, option.name)) for option in fields(self))
        return {name: value for name, value in values if value is not None}

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.stated().items())


@dataclass(frozen=True, slots=True)
class Generator:
    """A system that writes summaries of its own.

    Attributes:
        model: which weights.
        architecture: of `ARCHITECTURES`, or with a prompt any other; "" while it is not known, which is until the files
            of a model from the Hub are looked at. The attributes below, but for `prompt`, then have no meaning yet.
        prefix: stands before the article.
        suffix: stands after the article; never cut away.
        prompt: what the model is asked for, in place of prefix and suffix.
        chat: the prompt is a user's message in the chat template of the checkpoint.
        exact: with a prompt that asks for n words, only texts of n words can be written; `is_exact` says whether.
        settings: how the model writes.
        checkpoint_first: a checkpoint that states how long its summaries may be is used with its own settings, not
            with `settings`.
        sentences: how many sentences of the output are the summary; None: all.
        line_mark: what the model writes for a new line; "" if it has nothing of its own.
        half: the 16-bit type that the model can run in, where the device has it.
    """

    model: ModelRef
    architecture: str = ""
    prefix: str = ""
    suffix: str = ""
    prompt: PromptTemplate | None = None
    chat: bool = False
    exact: bool = True
    settings: Settings = Settings()
    checkpoint_first: bool = False
    sentences: int | None = None
    line_mark: str = ""
    half: Half = "float16"

    @property
    def signature(self) -> str:
        """The name under which its summaries are stored."""
        prompt = f"|prompt={self.prompt.short_sha256}" if self.prompt else ""
        return self.model.name + prompt + ("|exact" if self.is_exact else "")

    @property
    def has_uncut(self) -> bool:
        """Whether it writes once, at a length of its own, and not once for each n."""
        return self.prompt is None or not self.prompt.asks_for_n

    @property
    def is_exact(self) -> bool:
        """Whether it can write no other number of words than it was asked for (`core.models.exact_length`)."""
        return self.exact and self.prompt is not None and self.prompt.asks_for_n and self.prompt.unit == "words"

    @property
    def models(self) -> tuple[ModelRef, ...]:
        """What has to be on the machine where it writes."""
        return (self.model,)

    @property
    def revision(self) -> str:
        """What a run records: which weights, and every option that changes the summaries."""
        return f"{self.model}|{self.options}"

    @property
    def options(self) -> str:
        """Every option that changes the summaries."""
        if not self.architecture:
            return "prompt and settings of its architecture"
        if self.prompt:
            template = "chat template of the checkpoint" if self.chat else "no chat template"
            settings = f"{self.settings}, max_new_tokens={self.prompt.tokens_text}"
            parts = [self.architecture, template, f"prompt={self.prompt.text!r}", settings]
            parts += [EXACT_RULE] if self.is_exact else []
            return "|".join([*parts, f"{self.half} where the device has it"])
        first = "settings of the checkpoint, or if it states no length " if self.checkpoint_first else ""
        parts = [self.architecture, f"prefix={self.prefix!r}", f"suffix={self.suffix!r}", f"{first}{self.settings}"]
        parts += [f"first {self.sentences} sentences"] if self.sentences else []
        parts += [f"{self.line_mark} is a new line"] if self.line_mark else []
        parts += ["draws seeded by content"] if self.settings.top_k else []
        return "|".join([*parts, f"{self.half} where the device has it"])


def for_architecture(model: ModelRef, architecture: str) -> Generator:
    """`model` with the prompt and the settings that its architecture was published with (sources: docs/generators.md).

    The architecture is one of `ARCHITECTURES`.
    """
    match architecture:
        case "bart":
            # Lewis et al. 2020, for CNN/DailyMail. The space is the `prefix` in the configuration of both checkpoints.
            settings = Settings(4, 56, 142, None, 2.0, 3, early_stopping=True)
            return Generator(model, "bart", prefix=" ", settings=settings, checkpoint_first=True)
        case "pegasus":
            # Zhang et al. 2020, for CNN/DailyMail; the length of at least 32 is the published checkpoint's.
            settings = Settings(8, 32, 128, None, 0.8)
            return Generator(
                model, "pegasus", settings=settings, checkpoint_first=True, line_mark="<n>", half="bfloat16"
            )
        case "t5":
            # `task_specific_params.summarization` in the configuration of google-t5/t5-large.
            settings = Settings(4, 30, 200, None, 2.0, 3, early_stopping=True)
            return Generator(model, "t5", prefix="summarize: ", settings=settings, half="bfloat16")
        case _:  # gpt2: Radford et al. 2019, section 3.6
            settings = Settings(num_beams=1, max_new_tokens=100, top_k=2)
            return Generator(model, "gpt2", suffix="\nTL;DR:", settings=settings, sentences=3)


def _asked(model: ModelRef, architecture: str, prompt: PromptTemplate, chat: bool, exact: bool = True) -> Generator:
    """A checkpoint that follows instructions: greedy, in bfloat16, since that is what such checkpoints are saved in."""
    settings = Settings(num_beams=1)
    return Generator(model, architecture, prompt=prompt, chat=chat, exact=exact, settings=settings, half="bfloat16")


# No commits could be verified when this was written: they are looked up at submission and recorded.
KNOWN_GENERATORS = {
    generator.model.name: generator
    for generator in (
        for_architecture(ModelRef("bart-large-xsum", "facebook/bart-large-xsum", "main"), "bart"),
        for_architecture(ModelRef("bart-large-cnn", "facebook/bart-large-cnn", "main"), "bart"),
        for_architecture(ModelRef("t5-large", "google-t5/t5-large", "main"), "t5"),
        for_architecture(ModelRef("pegasus-cnn_dailymail", "google/pegasus-cnn_dailymail", "main"), "pegasus"),
        for_architecture(ModelRef("gpt2-xl", "openai-community/gpt2-xl", "main"), "gpt2"),
        _asked(SMOLLM2_MODEL, "llama", DEFAULT_PROMPT, chat=True),
    )
}


def parse_generator(
    text: str, prompt: PromptTemplate | None = None, exact: bool = True, unit: LengthUnit = "words"
) -> Generator:
    """The generator that a recipe or flag names: a known name, a local folder, or a Hub id (`org/name[@revision]`).

    `prompt` is what it is asked for, unless it is one of `KNOWN_GENERATORS` that has none. Without one, a checkpoint of
    one of `ARCHITECTURES` has the prefix and suffix of its architecture, and any other that of `DEFAULT_PROMPTS`, which
    asks for `unit`. `exact` is as in `Generator`.

    Raises:
        ModelError: there is no such thing, or the folder holds no generator.
    """
    model = parse_model(text, {name: generator.model for name, generator in KNOWN_GENERATORS.items()})
    known = KNOWN_GENERATORS.get(model.name)
    if known is not None and known.model.source == model.source:
        if known.prompt is None:
            return replace(known, model=model)
        return replace(known, model=model, prompt=prompt or DEFAULT_PROMPTS[unit], exact=exact)
    generator = Generator(model, prompt=prompt, exact=exact)
    return complete(generator, Path(model.source), unit) if is_folder(model) else generator


def complete(generator: Generator, folder: Path, unit: LengthUnit = "words") -> Generator:
    """`generator` with what follows from the configuration and the tokenizer of the checkpoint in `folder`.

    `unit` is what the prompt asks for, unless it has one already.

    Raises:
        ModelError: the folder states no architecture, or one that does not write.
    """
    if generator.architecture:
        return generator
    try:
        configuration = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        architecture = str(configuration["model_type"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"The folder {folder} holds no generator: its config.json states no model_type ({error!r}). Give a folder "
            f"that transformers' `save_pretrained` wrote, or one of {', '.join(KNOWN_GENERATORS)}."
        ) from error
    if generator.prompt is None and architecture in ARCHITECTURES:
        return for_architecture(generator.model, architecture)
    classes = [str(name) for name in configuration.get("architectures") or ()]
    if not any(name.endswith(_WRITES) for name in classes):
        raise ModelError(
            f"{generator.model.source} is no generator: its config.json names {', '.join(classes) or 'no class'}, and "
            f"a model that writes is called …{' or …'.join(_WRITES)}. Give such a checkpoint, or one of "
            f"{', '.join(KNOWN_GENERATORS)}."
        )
    prompt = generator.prompt or DEFAULT_PROMPTS[unit]
    return _asked(generator.model, architecture, prompt, _has_chat_template(folder), generator.exact)


def _has_chat_template(folder: Path) -> bool:
    """Whether a tokenizer has one, in either of the files where transformers looks; loads no tokenizer."""
    if (folder / "chat_template.jinja").is_file():
        return True
    try:
        return bool(json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8")).get("chat_template"))
    except (OSError, ValueError, AttributeError):
        return False
