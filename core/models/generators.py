"""Descriptions of the abstractive generators: prompt, generation settings, and which part of the output is the summary.

`core/models/generation.py` loads and runs them.
"""

import hashlib
import json
import string
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal, get_args

from nws.core.errors import ModelError, RecipeError
from nws.core.models import SMOLLM2_MODEL, ModelRef, is_folder, parse_model
from nws.core.text.length import UNCUT, LengthUnit
from nws.core.text.model_outputs import DEFAULT_CLEANING, Cleaning, cleaning_mark
from nws.core.text.rows import storable
from nws.core.types import AT_MOST, LengthRule

# The architectures (`model_type` in a checkpoint's config.json) whose prompt and settings are known here.
ARCHITECTURES = ("bart", "gpt2", "pegasus", "t5")
# Endings of the names of classes that generate text (`architectures` in config.json).
_WRITES = ("ForCausalLM", "ForConditionalGeneration", "LMHeadModel")
Half = Literal["float16", "bfloat16"]
# Recorded with a run. If the rule of core/models/exact_length.py changes, change this number.
EXACT_RULE = "exactly n words, rule 1"
DRAFTS, DRAWN_AGAIN, _AMONG, _TEMPERATURE = 8, 3, 50, 0.3  # again: where none of the drafts ended by itself
# The window of a model with examples. The examples have 450 tokens, and headlines were no better with 350 words of an
# article than with 150.
_EXAMPLES, _MOST_TOKENS = Path(__file__).with_name("headlines.txt"), 710
DRAFTS_ENDED = "drafts_ended"  # the key of `Summary.extra` with the number of drafts that ended by themselves
AT_MOST_RULE = (
    f"at most n, rule 1, the likeliest a word of {DRAFTS} drafts, of n/2 or more if one is; "
    f"{DRAWN_AGAIN} times more if none ends"
)


# More tokens than words take on average in any language, so that it shows if a model writes too much.
_TOKENS_EACH: dict[LengthUnit, int] = {"words": 8, "characters": 2}
_MORE_TOKENS, _UNCUT_TOKENS = 32, 256


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A prompt with the placeholders `{article}` and, if it asks for a number of words, `{n}`.

    A brace that is part of the prompt is written twice, as in `str.format`.

    Attributes:
        text: the prompt.
        unit: the unit of `{n}`. It is not in the `repr`, since a stage has one unit for all its systems.

    Raises:
        RecipeError: the prompt does not have `{article}` exactly once, or has another placeholder.
    """

    text: str
    unit: LengthUnit = field(default="words", repr=False)

    def __post_init__(self) -> None:
        if storable(self.text) != self.text:
            raise RecipeError("the prompt has a NUL, or bytes that are not UTF-8. Write it as text.")
        names = placeholders(self.text, ("n", "article"))
        if names.count("article") != 1:
            raise RecipeError(f"the prompt must have {{article}} once, in the place of the article: {self.text!r}")

    @property
    def asks_for_n(self) -> bool:
        """Whether the prompt asks for a summary of each n, and not for one summary whose length the model chooses."""
        return "n" in placeholders(self.text, ("n", "article"))

    @property
    def short_sha256(self) -> str:
        """The 8 hex digits that identify the prompt."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:8]

    @property
    def tokens_text(self) -> str:
        """The formula of `most_new_tokens`, which a run records."""
        if not self.asks_for_n:
            return str(_UNCUT_TOKENS)
        return f"{_TOKENS_EACH[self.unit]}n+{_MORE_TOKENS}" + ("" if self.unit == "words" else f", n in {self.unit}")

    def about(self, article: str, n: int) -> str:
        """Return the prompt for an article and a number of words."""
        return self.text.format(article=article.strip(), n=n)


def placeholders(prompt: str, allowed: Sequence[str]) -> list[str]:
    """List the names of the placeholders in a prompt, in their order.

    Raises:
        RecipeError: a name is not `allowed`, or the braces do not match.
    """
    try:
        parts = [part for part in string.Formatter().parse(prompt) if part[1] is not None]
    except ValueError as error:
        raise RecipeError(f"the prompt cannot be read: {error}. Write {{{{ and }}}} for braces.") from error
    for _, name, spec, conversion in parts:
        if name not in allowed or spec or conversion:
            named = [f"{{{placeholder}}}" for placeholder in allowed]
            raise RecipeError(
                f"the prompt has an unknown placeholder {{{name}}}. Only {', '.join(named[:-1])} and {named[-1]} are "
                "known, exactly as written here. Write {{ and }} for braces."
            )
    return [str(name) for _, name, _, _ in parts]


# The article comes first and n last, so the prompts for one article begin alike, and are read once for all n.
_SUMMARIZE = (
    "{article}\n\nSummarize the news article above, in the language of the article. Write nothing but the summary, in "
)
DEFAULT_PROMPT = PromptTemplate(_SUMMARIZE + "exactly {n} words.")
DEFAULT_PROMPTS: dict[LengthUnit, PromptTemplate] = {
    "words": DEFAULT_PROMPT,
    "characters": PromptTemplate(_SUMMARIZE + "at most {n} characters, blanks included.", "characters"),
}
"""The prompts of a run that names none, by the unit of n."""
HEADLINE_PROMPTS: dict[LengthUnit, PromptTemplate] = {
    unit: PromptTemplate(
        "{article}\n\nWrite a headline for the news article above, in the language of the article. "
        f"Write nothing but the headline, in at most {{n}} {unit}.\n\nHeadline:",
        unit,
    )
    for unit in get_args(LengthUnit)
}
"""The default prompts if texts are to end by themselves within n."""


def default_prompt(unit: LengthUnit, length: LengthRule) -> PromptTemplate:
    """Return the prompt of a run that names none."""
    return (HEADLINE_PROMPTS if length == AT_MOST else DEFAULT_PROMPTS)[unit]


def most_new_tokens(n: int, unit: LengthUnit) -> int:
    """Return the limit of new tokens for a summary of `n` words or characters; for an uncut one, n is `UNCUT`."""
    return _UNCUT_TOKENS if n == UNCUT else _MORE_TOKENS + _TOKENS_EACH[unit] * n


@dataclass(frozen=True, slots=True)
class Settings:
    """Generation settings, named as in transformers' `GenerationConfig`. None leaves a setting to the checkpoint.

    Attributes:
        min_length, max_length: limits for the tokens of a summary, including special tokens.
        max_new_tokens: the most tokens that are added to a prompt.
        top_k: the number of most probable tokens among which each token is drawn; None for beam search.
        temperature: the divisor of the log-probabilities before a draw.
    """

    num_beams: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    max_new_tokens: int | None = None
    length_penalty: float | None = None
    no_repeat_ngram_size: int | None = None
    early_stopping: bool | None = None
    top_k: int | None = None
    temperature: float | None = None

    def stated(self) -> dict[str, int | float | bool]:
        """Return the values that are not None, by name."""
        values = ((option.name, getattr(self, option.name)) for option in fields(self))
        return {name: value for name, value in values if value is not None}

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.stated().items())


@dataclass(frozen=True, slots=True)
class Generator:
    """A checkpoint as a system that generates summaries.

    Attributes:
        model: the checkpoint.
        architecture: one of `ARCHITECTURES`, or with a prompt any other; "" until the files of a Hub model have been
            read (`complete`). Until then, only `model`, `prompt` and `length` have a meaning.
        prefix: the text before the article.
        suffix: the text after the article, which is never cut.
        prompt: the instruction, instead of prefix and suffix.
        chat: whether the prompt is a user's message in the chat template of the checkpoint.
        length: the way in which it meets n, if the prompt asks for n (`is_exact`, `drafts`).
        most_tokens: the window that is used, if it is smaller than the model's.
        settings: the settings of generation.
        checkpoint_first: whether the checkpoint's own settings replace `settings` if they limit the length.
        sentences: the number of sentences of the output that are the summary; None for all.
        line_mark: the model's sign for a new line; "" if it has no such sign.
        half: the 16-bit type that the model can run in, if the device has it.
        clean_outputs: what to remove from its outputs.
    """

    model: ModelRef
    architecture: str = ""
    prefix: str = ""
    suffix: str = ""
    prompt: PromptTemplate | None = None
    chat: bool = False
    length: LengthRule = "exactly"
    most_tokens: int | None = None
    settings: Settings = Settings()
    checkpoint_first: bool = False
    sentences: int | None = None
    line_mark: str = ""
    half: Half = "float16"
    clean_outputs: tuple[Cleaning, ...] = DEFAULT_CLEANING

    @property
    def signature(self) -> str:
        """The name under which its summaries are stored."""
        prompt = f"|prompt={self.prompt.short_sha256}" if self.prompt else ""
        rule = "|exact" if self.is_exact else f"|{AT_MOST}" if self.drafts else ""
        return f"{self.model.name}{prompt}{rule}{cleaning_mark(self.clean_outputs)}"

    @property
    def has_uncut(self) -> bool:
        """Whether it generates one summary, whose length it chooses, and not one for each n."""
        return self.prompt is None or not self.prompt.asks_for_n

    @property
    def is_exact(self) -> bool:
        """Whether its summaries have exactly n words (`nws.core.models.exact_length`)."""
        asks = self.prompt is not None and self.prompt.asks_for_n and self.prompt.unit == "words"
        return self.length == "exactly" and asks

    @property
    def drafts(self) -> bool:
        """Whether it writes several drafts of at most n words or characters (`nws.core.models.drafts`)."""
        return self.length == AT_MOST and not self.has_uncut

    @property
    def revision(self) -> str:
        """The revision that a run records: the model at its revision, and every option that changes the summaries."""
        return f"{self.model}|{self.options}{cleaning_mark(self.clean_outputs)}"

    @property
    def options(self) -> str:
        """Every option that changes the summaries."""
        if not self.architecture:
            return "prompt and settings of its architecture"
        if self.prompt:
            template = "chat template of the checkpoint" if self.chat else "no chat template"
            parts = [template, f"prompt={self.prompt.text!r}"]
            parts += [f"{self.settings}, max_new_tokens={self.prompt.tokens_text}"]
            parts += [EXACT_RULE] if self.is_exact else [AT_MOST_RULE] if self.drafts else []
            parts += [f"window of {self.most_tokens} tokens"] if self.most_tokens else []
        else:
            first = "settings of the checkpoint, or if it states no length " if self.checkpoint_first else ""
            parts = [f"prefix={self.prefix!r}", f"suffix={self.suffix!r}", f"{first}{self.settings}"]
            parts += [f"first {self.sentences} sentences"] if self.sentences else []
            parts += [f"{self.line_mark} is a new line"] if self.line_mark else []
            parts += ["draws seeded by content"] if self.settings.top_k else []
        return "|".join([self.architecture, *parts, f"{self.half} where the device has it"])


def for_architecture(model: ModelRef, architecture: str) -> Generator:
    """Make the generator of a model with the prompt and settings that its architecture was published with.

    The sources are in docs/generators.md.

    Args:
        model: a checkpoint.
        architecture: one of `ARCHITECTURES`.
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


def _instructed(
    model: ModelRef, architecture: str, prompt: PromptTemplate, chat: bool, length: LengthRule = "exactly"
) -> Generator:
    """Make the generator of a checkpoint with a prompt: greedy search or drafts, in bfloat16, their usual type."""
    generator = Generator(model, architecture, prompt=prompt, chat=chat, length=length, half="bfloat16")
    drawn = Settings(num_beams=1, top_k=_AMONG, temperature=_TEMPERATURE)
    return replace(generator, settings=drawn if generator.drafts else Settings(num_beams=1))


# No commits could be verified when this was written. They are looked up at submission, and recorded.
KNOWN_GENERATORS = {
    generator.model.name: generator
    for generator in (
        for_architecture(ModelRef("bart-large-xsum", "facebook/bart-large-xsum", "main"), "bart"),
        for_architecture(ModelRef("bart-large-cnn", "facebook/bart-large-cnn", "main"), "bart"),
        for_architecture(ModelRef("t5-large", "google-t5/t5-large", "main"), "t5"),
        for_architecture(ModelRef("pegasus-cnn_dailymail", "google/pegasus-cnn_dailymail", "main"), "pegasus"),
        for_architecture(ModelRef("gpt2-xl", "openai-community/gpt2-xl", "main"), "gpt2"),
        _instructed(SMOLLM2_MODEL, "llama", DEFAULT_PROMPT, chat=True),
    )
}


def parse_generator(
    text: str, prompt: PromptTemplate | None = None, length: LengthRule = "exactly", unit: LengthUnit = "words"
) -> Generator:
    """Parse the name of a generator: a known name, a local folder, or a Hub id (`org/name[@revision]`).

    Args:
        text: the name.
        prompt: the prompt; not used for those of `KNOWN_GENERATORS` that have none. Without a prompt, a checkpoint of
            `ARCHITECTURES` has the prefix and suffix of its architecture, and any other one the `default_prompt`.
        length: see `Generator`. It also decides the `default_prompt`.
        unit: the unit of n.

    Raises:
        ModelError: there is no such model, or the folder has no generator.
    """
    model = parse_model(text, {name: generator.model for name, generator in KNOWN_GENERATORS.items()})
    known = KNOWN_GENERATORS.get(model.name)
    if known is not None and known.model.source == model.source:
        if known.prompt is None:
            return replace(known, model=model)
        if prompt is None and length == AT_MOST:
            # The model is too small to follow an instruction, but it continues examples, which are all invented.
            examples = _EXAMPLES.read_text(encoding="utf-8").strip()
            most = "9" if unit == "words" else "50"  # the limit of each example
            prompt = PromptTemplate(examples.replace("{most}", most).replace("{unit}", unit), unit)
            return replace(_instructed(model, known.architecture, prompt, False, length), most_tokens=_MOST_TOKENS)
        return _instructed(model, known.architecture, prompt or default_prompt(unit, length), known.chat, length)
    generator = Generator(model, prompt=prompt, length=length)
    return complete(generator, Path(model.source), unit) if is_folder(model) else generator


def complete(generator: Generator, folder: Path, unit: LengthUnit = "words") -> Generator:
    """Complete a generator with what the configuration and the tokenizer of the checkpoint in `folder` say.

    Without a prompt, it gets the `default_prompt` for `unit`.

    Raises:
        ModelError: the folder states no architecture, or one that does not generate text.
    """
    if generator.architecture:
        return generator
    try:
        configuration = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        architecture = str(configuration["model_type"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"The folder {folder} has no generator: its config.json states no model_type ({error!r}). Give a folder "
            f"that transformers' `save_pretrained` wrote, or one of {', '.join(KNOWN_GENERATORS)}."
        ) from error
    if generator.prompt is None and architecture in ARCHITECTURES:
        return for_architecture(generator.model, architecture)
    classes = [str(name) for name in configuration.get("architectures") or ()]
    if not any(name.endswith(_WRITES) for name in classes):
        raise ModelError(
            f"{generator.model.source} is not a generator: its config.json names {', '.join(classes) or 'no class'}, "
            f"but models that write text are called …{' or …'.join(_WRITES)}. Give such a checkpoint, or one of "
            f"{', '.join(KNOWN_GENERATORS)}."
        )
    prompt = generator.prompt or default_prompt(unit, generator.length)
    return _instructed(generator.model, architecture, prompt, _has_chat_template(folder), generator.length)


def _has_chat_template(folder: Path) -> bool:
    """Return whether a tokenizer has a chat template, in either of the files where transformers looks."""
    if (folder / "chat_template.jinja").is_file():
        return True
    try:
        return bool(json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8")).get("chat_template"))
    except (OSError, ValueError, AttributeError):
        return False
