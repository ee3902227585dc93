"""The part of recipes that all jobs share: articles, lengths, metrics, seed and machines, and the flags that set it."""

import hashlib
import inspect
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    ValidationInfo,
    WrapValidator,
    field_validator,
    model_validator,
)

from nws.core.errors import ModelError, did_you_mean
from nws.core.models import KNOWN_MODELS, LANGUAGE_MODELS, ModelRef, parse_model
from nws.core.plugins.load import PluginSpec
from nws.core.systems.predictions import PredictionsSpec, parse_predictions
from nws.core.text.cutting import Units
from nws.core.text.dataset import IF_SET as IF_SET
from nws.core.text.dataset import Dataset
from nws.core.text.length import LengthUnit, parse_lengths
from nws.core.text.model_outputs import DEFAULT_CLEANING, Cleaning, parse_cleaning
from nws.core.text.rows import Lists
from nws.core.types import Precision

_ATTRIBUTE = re.compile(r"^    (?P<names>\w+(, \w+)*): (?P<text>.+(\n        .+)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag of `nws submit`, which stands in the type of the recipe's field that it sets.

    If a flag stands at several fields, it sets all of them.

    Attributes:
        typed: its name and the placeholder of its value, such as `--limit N`. A switch, which sets true, has none.
        panel: the heading under which `--help` lists it.
        inside: the key in the field, or in each of its parts, that is set; "" for the field itself.
        least: the smallest whole number that it takes; None if it takes text.
        told: its help; by default the description of the attribute in the class's docstring.
    """

    typed: str
    panel: str
    inside: str = ""
    least: int | None = None
    told: str = ""

    @property
    def name(self) -> str:
        """The name of the setting in errors, such as `test_limit`."""
        return self.typed.split()[0].removeprefix("--").replace("-", "_")


def attributes(kind: type) -> dict[str, str]:
    """Return the description of each attribute of a class, from its docstring and those of its base classes."""
    descriptions: dict[str, str] = {}
    for part in reversed(kind.__mro__):
        for match in _ATTRIBUTE.finditer(inspect.cleandoc(part.__doc__ or "")):
            descriptions |= dict.fromkeys(match["names"].split(", "), " ".join(match["text"].split()))
    return descriptions


def require_different(names: Iterable[str], kind: str) -> None:
    """Raise a ValueError, for a validator, if two of a kind have the same name."""
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"two {kind} are called {name!r}, so their summaries could not be distinguished")


ONCE = AfterValidator(lambda values: tuple(dict.fromkeys(values)))


def names_of(known: Collection[str]) -> AfterValidator:
    """Make a validator for a field of names: each counts once, and an unknown name is a ValueError."""

    def require_known(names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in known:
                raise ValueError(f"{name!r} is not one of {', '.join(known)}.{did_you_mean(name, known)}")
        return tuple(dict.fromkeys(names))

    return AfterValidator(require_known)


def _different_labels(labels: dict[str, str]) -> dict[str, str]:
    require_different(labels.values(), "systems")
    return labels


Seed = Annotated[int, Field(ge=0, lt=2**63)]
Label = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
# The largest number that a column of whole numbers holds in every database.
PositiveInt = Annotated[int, Field(ge=1, lt=2**31)]


def model_name(model: str, known: Mapping[str, ModelRef] = KNOWN_MODELS) -> str:
    """Return the name of the model in a recipe, or raise a ValueError, for a validator."""
    try:
        return parse_model(model, known).name
    except ModelError as error:
        raise ValueError(str(error)) from error


def _that_names_a_model(text: str, known: Mapping[str, ModelRef]) -> str:
    model_name(text, known)
    return text


ModelText = Annotated[str, AfterValidator(partial(_that_names_a_model, known=KNOWN_MODELS))]
"""A known name of a model, a folder, or a Hub id."""
LanguageModelText = Annotated[str, AfterValidator(partial(_that_names_a_model, known=LANGUAGE_MODELS))]
"""A known name of a causal language model, a folder, or a Hub id."""


def typed(parse: Callable[[str], Any]) -> BeforeValidator:
    """Make a validator for a field that also takes typed text, which `parse` turns into its value."""
    return BeforeValidator(lambda value: parse(value) if isinstance(value, str) else value)


Lengths = Annotated[
    tuple[PositiveInt, ...],
    typed(parse_lengths),
    Field(min_length=1, validate_default=True),
    Flag("--n N,N", "Systems"),
]
AUTO: Any = "auto"
LengthsOrAuto = Annotated[
    Lengths,
    WrapValidator(lambda value, validate: () if value == AUTO else validate(value)),
    PlainSerializer(lambda lengths: lengths or AUTO),
]
"""Lengths, or () for `auto`, which becomes lengths when the run is planned."""
MaxChars = Annotated[
    tuple[PositiveInt, ...] | None,
    typed(parse_lengths),
    Field(min_length=1),
    IF_SET,
    Flag("--max-chars N,N", "Systems"),
]
LENGTHS = ("n", "max_chars")
"""Two keys of which a recipe has one: an override of either replaces both."""
NOT_BOTH = "give either n (words) or max_chars (characters), not both, since a run has one unit of length"


class Strict(BaseModel):
    """A part of a recipe. Unknown keys and infinite numbers are errors, also in its parts that are classes of core."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


Datasets = Annotated[tuple[Annotated[Dataset, typed(lambda name: {"name": name})], ...], Field(min_length=1)]
FIELD_FLAGS = (
    *(Flag(f"--{name}-field NAME", "Articles", f"{name}_field") for name in ("text", "reference", "key")),
    Flag("--clean-texts KINDS", "Articles", "clean_texts"),
    Flag("--join-references", "Articles", "join_references"),
)
Plugin = Annotated[PluginSpec, typed(lambda name: {"plugin": name})]
Prediction = Annotated[PredictionsSpec, typed(parse_predictions)]
Predictions = Annotated[tuple[Prediction, ...], IF_SET]
CleanOutputs = Annotated[
    tuple[Cleaning, ...],
    BeforeValidator(parse_cleaning),
    Field(exclude_if=lambda cleaning: cleaning == DEFAULT_CLEANING),
    Flag("--clean-outputs NAME,NAME", "Systems"),
]
ENCODER = Flag("--encoder NAME", "Systems")
SEED = Flag("--seed N", "Systems", least=0)


class BertScoreRecipe(Strict):
    """Options of BERTScore.

    Attributes:
        model: backbone of BERTScore: a known name, a folder, or a Hub id.
        num_layers: layer of that backbone. Default: the layer in the recipe, or for another backbone the layer that is
            tuned for it.
        rescale: always off. The key is here so that runs of earlier recipes are found by their hash.
    """

    model: ModelText = "bert-base-uncased"
    num_layers: PositiveInt | None = None
    rescale: Literal[False] = False


class RougeRecipe(Strict):
    """Options of ROUGE. `auto` is rouge_score's tokenizer for English articles and Kiwi's morphemes for Korean ones."""

    stemmer: bool = False
    tokenizer: Literal["auto", "rouge_score", "kiwi", "mecab", "okt", "char"] = "auto"


# The shares of a GPU that an actor can ask for. With other shares, a part of each GPU would stay unused.
SHARES = (1, 0.5, 0.25)


def _divides_a_gpu(share: float | None) -> float | None:
    if share is not None and share not in SHARES:
        raise ValueError(f"must be one of {', '.join(f'{value:g}' for value in SHARES)}, not {share:g}")
    return share


# Keys that decide where a run runs and when it is stopped, but not its numbers.
WHERE = {
    *("accelerator", "actors", "gpus_per_actor", "gpu_memory_fraction", "wait_for_machines", "stuck_after"),
    "stop_after_equal_failures",
}
# Keys that decide only what is shown.
SHOWN = {"labels"}


class RunRecipe(Strict):
    """The settings of every job that writes and scores summaries.

    Attributes:
        job: the job's name; bundled recipes are in a folder of that name.
        datasets: datasets to summarise, in this order: sample, sample-ko, cnn_dailymail, xsum, gigaword, a file (JSONL,
            JSON, CSV, TSV, also compressed, or Parquet), a folder of files, a pattern ('news/*.jsonl'), the address of
            any of these (s3://…), or a Hub id (organisation/name[:configuration][@revision]).
        pipeline: spaCy pipeline that splits English articles into sentences and chunks, such as en_core_web_sm, or
            blank, which needs no installed pipeline. `auto` means blank, whatever is installed. Kiwi always splits
            Korean articles.
        units: pieces of text that systems build summaries from. `chunks` are phrases that the pipeline finds, `words`
            are single words, for texts of one sentence. With `subtrees`, policies leave out parts of a parsed sentence
            (docs/phase2.md); this needs a trained pipeline.
        n: summary lengths in words: 7,9,11,13, or 7-13 for all of them. `auto` goes up to the median length of the
            references (docs/phase1.md); for the bundled articles it is 1, 3, …, 21.
        max_chars: in place of --n: summary lengths in characters, such as 30,50,65 for titles. A summary is the longest
            text of whole words within this limit.
        bertscore, rouge: the metrics' options.
        fluency_model: causal language model that scores the fluency of every summary: smollm2, a folder, or a Hub id.
        faithfulness_model: NLI model that scores how well the article supports every summary: a folder, or a Hub id.
        seed: seed of the random control, of sampling and of tests.
        precision: precision of encoders and of the BERTScore backbone: `float32`, which is exact, `tf32`, `float16` or
            `bfloat16`. Precisions below float32 are faster on a GPU and give other numbers, so they are part of the
            metrics' signatures. `tf32` needs a GPU. `tf32` and `bfloat16` on a GPU need compute capability 8.0 or
            above. Generators choose their own precision (docs/generators.md).
        bundle_size: number of articles that are sent to an actor together.
        accelerator: device of each actor: auto (a GPU where there is one, else a CPU), cpu, gpu (or cuda), or a Ray
            accelerator type such as T4.
        actors: number of worker processes (actors); default: as many as fit.
        gpus_per_actor: 1, or 0.5 or 0.25 if 2 or 4 actors share a GPU. By default it follows from the GPUs' memory,
            their machines' cores and the models' size (docs/operations.md).
        gpu_memory_fraction: fraction of a GPU's memory that an actor may use; default: the actor's share of the GPU.
        wait_for_machines: seconds to wait until an autoscaled cluster has the machines that the actors need. Give the
            number of actors with --actors.
        stuck_after: seconds that a bundle, or an actor's part of a training round, may take. One that takes longer, and
            more than 20 times as long as usual for its articles, counts as stuck: NWS replaces its actor and tries the
            bundle elsewhere. Until the first bundle has come back, the limit is 6 times as long. An inline pool is
            never replaced.
        stop_after_equal_failures: number of articles in a row that may fail with the same error before the run stops as
            failed. Stored results stay, and `nws resume` continues with the other articles. `null`: never stop.
        plugins: Python files with SYSTEMS or METRICS of your own. A system is a function of an article's text and n, a
            metric is a function of a summary and the list of its references. The run uses all of them, and ships the
            code to a cluster.
        predictions: summaries that were written elsewhere: a JSONL, CSV or Parquet file with an article's key as `id`
            and a `prediction`. The system is named after the file, or as in name=file. If the file has a field `system`
            with several values, each value is a system.
        clean_outputs: what to remove from texts of generators, endpoints and predictions: thoughts, markup (Markdown,
            and quotes around the whole text) and preamble ("Here is a summary:"), separated by commas, or none.
            Default: thoughts.
        list_predictions: what to do with predictions that are lists: join all texts as the sentences of one summary, or
            take the first, as one of several samples.
        labels: names under which systems are shown, by any name that `nws compare` takes. Numbers do not depend on
            them.
    """

    job: ClassVar[str]

    datasets: Annotated[
        Datasets,
        Flag("--dataset NAME", "Articles"),
        Flag("--split NAME", "Articles", "split"),
        Flag("--limit N", "Articles", "limit", least=1),
        *FIELD_FLAGS,
        Flag("--references-file FILE", "Articles", "references_file"),
    ]
    pipeline: Annotated[str, Flag("--pipeline NAME", "Articles")] = "auto"
    # Before `n`, whose validator reads it: `n` gets these lengths, too, so that all code finds the lengths in `n`.
    max_chars: MaxChars = None
    n: LengthsOrAuto = AUTO
    bertscore: Annotated[
        BertScoreRecipe,
        Flag("--bertscore-model NAME", "Metrics", "model"),
        Flag("--bertscore-layer N", "Metrics", "num_layers", least=1),
    ] = BertScoreRecipe()
    rouge: RougeRecipe = RougeRecipe()
    seed: Seed = 0
    precision: Precision = "float32"
    bundle_size: PositiveInt = 16
    accelerator: Annotated[str, Flag("--accelerator NAME", "Machines")] = "auto"
    actors: Annotated[PositiveInt | None, Flag("--actors N", "Machines", least=1)] = None
    gpus_per_actor: Annotated[float | None, AfterValidator(_divides_a_gpu)] = None
    gpu_memory_fraction: Annotated[float, Field(gt=0, le=1)] | None = None
    wait_for_machines: Annotated[float, Field(ge=0), Flag("--wait-for-machines SECONDS", "Machines")] = 0
    stuck_after: Annotated[float, Field(gt=0)] = 600
    stop_after_equal_failures: PositiveInt | None = 50
    units: Annotated[Units, Field(exclude_if=lambda units: units == "chunks")] = "chunks"
    fluency_model: Annotated[LanguageModelText | None, IF_SET, Flag("--fluency-model NAME", "Metrics")] = None
    faithfulness_model: Annotated[ModelText | None, IF_SET, Flag("--faithfulness-model NAME", "Metrics")] = None
    plugins: Annotated[tuple[Plugin, ...], IF_SET, Flag("--plugin FILE", "Systems")] = ()
    predictions: Annotated[Predictions, Flag("--predictions FILE", "Systems")] = ()
    clean_outputs: CleanOutputs = DEFAULT_CLEANING
    list_predictions: Annotated[
        Lists, Field(exclude_if=lambda lists: lists == "join"), Flag("--list-predictions join|first", "Systems")
    ] = "join"
    labels: Annotated[dict[str, Label], AfterValidator(_different_labels), IF_SET] = {}

    @model_validator(mode="before")
    @classmethod
    def _in_one_unit(cls, values: object) -> object:
        if isinstance(values, Mapping) and values.get("max_chars") is not None and "n" in values:
            n, max_chars = (values[key] for key in LENGTHS)
            if not (isinstance(n, list | tuple) and isinstance(max_chars, list | tuple) and set(n) == set(max_chars)):
                raise ValueError(NOT_BOTH)
        return values

    @field_validator(*LENGTHS)
    @classmethod
    def _sorted_once(cls, lengths: tuple[int, ...] | None, info: ValidationInfo) -> tuple[int, ...] | None:
        if info.field_name == "n":
            lengths = info.data.get("max_chars") or lengths
        return None if lengths is None else tuple(sorted(set(lengths)))

    @property
    def length_unit(self) -> LengthUnit:
        """The unit of `n`."""
        return "characters" if self.max_chars else "words"

    @property
    def hash(self) -> str:
        """The SHA-256 of the settings that decide the numbers: all except `WHERE` and `SHOWN`."""
        decisive = self.model_dump(mode="json", exclude=set(WHERE | SHOWN))
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()
