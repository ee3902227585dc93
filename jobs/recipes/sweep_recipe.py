"""The recipes of a sweep over n, which differ in how they choose systems.

`phase1` combines every encoder with every importance, and `baselines` names its systems.
"""

import os
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, Field, field_validator

from nws.core.errors import ModelError, did_you_mean
from nws.core.models.endpoint import PREFIX, plain_parameters
from nws.core.models.generators import KNOWN_GENERATORS, PromptTemplate, parse_generator
from nws.core.systems.chunk_systems import IMPORTANCE
from nws.core.systems.extractive_baselines import BASELINES
from nws.core.systems.rulers import OTHER_ARTICLE, PERSON, REFERENCE_WORDS
from nws.core.types import LengthRule
from nws.jobs.recipes.base import (
    ENCODER,
    IF_SET,
    ONCE,
    SEED,
    Flag,
    ModelText,
    PositiveInt,
    RunRecipe,
    Seed,
    Strict,
    model_name,
    names_of,
    require_different,
)

STUDY = ("textrank", "lexrank", "position")
"""The importances of the study."""
ON_REQUEST = frozenset({PERSON, OTHER_ARTICLE})
"""Rulers that are not in the default recipe. They come with `reference-words` where the articles allow them."""


class Phase1Recipe(RunRecipe):
    """A Phase 1 sweep: every encoder with every importance, and the controls.

    Attributes:
        encoders: models that embed sentences and chunks: bert-base-uncased, xlnet-base-cased,
            electra-base-discriminator, all-MiniLM-L6-v2, a folder, or a Hub id (organisation/name[@revision]).
        importance: methods that weigh sentences (`IMPORTANCE` in `core/systems/chunk_systems.py`).
        rulers: systems that content kept is compared with (`core/systems/rulers.py`). With `reference-words`, NWS adds
            `other-article` where there are other articles, and `person` where every article has two references.
    """

    job: ClassVar[str] = "phase1"

    encoders: Annotated[tuple[str, ...], Field(min_length=1), Flag("--encoder NAME", "Systems")] = ("all-MiniLM-L6-v2",)
    importance: Annotated[tuple[str, ...], names_of(IMPORTANCE), Field(min_length=1)] = STUDY
    rulers: Annotated[tuple[Literal["reference-words", "person", "other-article"], ...], ONCE] = (REFERENCE_WORDS,)
    seed: Annotated[Seed, SEED] = 0

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models that embed sentences and chunks."""
        return self.encoders

    @field_validator("encoders")
    @classmethod
    def _have_different_names(cls, encoders: tuple[str, ...]) -> tuple[str, ...]:
        require_different([model_name(encoder) for encoder in encoders], "encoders")
        return encoders


MOST_DRAFTS = 100
IF_GIVEN = Field(exclude_if=lambda value: value is None)
"""Leaves a value out of the hash if it is None. 0 is not left out."""


class EndpointRecipe(Strict):
    """How NWS asks the endpoint of systems `openai:MODEL`.

    Attributes:
        base_url: URL before `/chat/completions`; default: OPENAI_BASE_URL. The key is read from OPENAI_API_KEY, and
            is never in a recipe.
        concurrency: maximum number of requests, and of articles, that a run has under way.
        drafts: number of further answers to ask for when the first answer has the wrong length. NWS then chooses the
            answer that fits best. Each costs tokens. Default: 0, and 4 for an endpoint on this machine.
        parameters: parameters of requests, by name. A value sets the parameter, and `null` removes it. The value
            `max_tokens`, `seed` or `temperature` stands for the number that NWS computes for that parameter.
        input_price, output_price: price of a million tokens read and written, in any currency, for the cost of a run.
        cached_input_price: price of a million tokens that the endpoint read from its cache; default: `input_price`.
    """

    base_url: str | None = None
    concurrency: PositiveInt = 8
    drafts: Annotated[Annotated[int, Field(ge=0, le=MOST_DRAFTS)] | None, IF_GIVEN] = None
    parameters: Annotated[Annotated[dict[str, Any], AfterValidator(plain_parameters)] | None, IF_SET] = None
    input_price: Annotated[float, Field(ge=0)] | None = None
    output_price: Annotated[float, Field(ge=0)] | None = None
    cached_input_price: Annotated[Annotated[float, Field(ge=0)] | None, IF_GIVEN] = None


def _has_its_places(prompt: str | None) -> str | None:
    if prompt is not None:
        PromptTemplate(prompt)
    return prompt


class BaselinesRecipe(RunRecipe):
    """The baselines: other ways to summarise at the same lengths.

    Attributes:
        systems: systems that write: lead3, lead2+chunks, lead3-search, textrank, centroid, textrank-words, lexrank,
            position, oracle, lead, random, reference-words, person, other-article; or a generator: bart-large-cnn,
            bart-large-xsum, pegasus-cnn_dailymail, t5-large, gpt2-xl, smollm2, a folder, a Hub id, or openai:MODEL.
        encoder: model that embeds sentences and chunks: a known name, a folder, or a Hub id.
        prompt: prompt for generators that NWS does not know by name. The article replaces {article}. A prompt with {n}
            asks for a summary of each n, and a prompt without {n} for one uncut summary. Default: the format that
            checkpoints of BART, GPT-2, PEGASUS and T5 were trained with, and NWS's own prompt for all others
            (docs/generators.md).
        length: how generators meet n if their prompt asks for it. `exactly`: checkpoints cannot write another number of
            words. `at_most`: the model ends its text within n words, and comparisons are length-matched. `free`: longer
            texts are cut. Endpoints are asked for this length, and their texts are cut where they are too long.
        endpoint: settings of systems `openai:MODEL`.
    """

    job: ClassVar[str] = "baselines"

    systems: Annotated[tuple[str, ...], Field(min_length=1), Flag("--system NAME", "Systems")] = tuple(
        name for name in BASELINES if name not in ON_REQUEST
    )
    encoder: Annotated[ModelText, ENCODER] = "all-MiniLM-L6-v2"
    prompt: Annotated[str | None, AfterValidator(_has_its_places), IF_SET, Flag("--prompt TEXT", "Systems")] = None
    seed: Annotated[Seed, SEED] = 0
    length: Annotated[LengthRule, Field(exclude_if=lambda length: length == "exactly")] = "exactly"
    endpoint: Annotated[EndpointRecipe | None, IF_SET] = None

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models that embed sentences and chunks."""
        return (self.encoder,)

    @field_validator("systems")
    @classmethod
    def _are_known_and_differ(cls, systems: tuple[str, ...]) -> tuple[str, ...]:
        require_different([_signature(system) for system in systems], "systems")
        return systems


SweepRecipe: TypeAlias = Phase1Recipe | BaselinesRecipe


def _signature(system: str) -> str:
    if system in BASELINES:
        return system
    if system.startswith(PREFIX):
        if system == PREFIX:
            raise ValueError(f"{PREFIX} needs the name of a model, such as {PREFIX}MODEL")
        return system
    try:
        return parse_generator(system).signature
    except ModelError as error:
        if os.path.isdir(system):
            raise ValueError(str(error)) from error
        raise ValueError(
            f"there is no system {system!r}.{did_you_mean(system, [*BASELINES, *KNOWN_GENERATORS])} "
            f"The baselines are {', '.join(BASELINES)}. The generators are {', '.join(KNOWN_GENERATORS)}, a folder, or "
            "a Hub id (organisation/name). Do not name systems of plugins or predictions here."
        ) from error
