"""The options that several commands take, and in groups those of `nws submit`.

A field of a recipe's option is called as the recipe's key; `recipe_overrides` hands what was given to `load_recipe`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from core.errors import RecipeError
from jobs.commands.groups import option

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

EngineName: TypeAlias = Literal["ray", "inline"]
# That of `jobs.store`, written again because importing it takes SQLAlchemy along.
DEFAULT_STORE = "sqlite:///nws.db"
FROM = "from:"
"""That of `jobs.recipes.load`, for the same reason."""

StoreUrl = Annotated[
    str,
    typer.Option(
        envvar="NWS_STORE", metavar="URL", help="Where results are: sqlite:///FILE or postgresql://USER@HOST/DATABASE."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line of stdout.")]
PolicyName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Which of the run's policies, e.g. `reinforce|seed=1`; default: the first method, seed and decoding.",
    ),
]
HeadAddress = Annotated[
    str | None,
    typer.Option(
        "--address", metavar="URL", help="Dashboard of the Ray cluster; default: the one the run was submitted to."
    ),
]
LABEL = (
    "--label NAME=LABEL",
    "What a system is called in what is shown: lexrank=LexRank. Repeatable. A recipe has them as `labels`.",
)
Labels = Annotated[list[str] | None, typer.Option("--label", metavar="NAME=LABEL", help=LABEL[1])]
_RECIPE = partial(typer.Option, "--recipe", "-r", metavar="NAME", envvar="NWS_RECIPE")
Recipe = Annotated[str, _RECIPE(help="sample, paper, or a YAML file.")]
Phase2Recipe = Annotated[str, _RECIPE(help="sample, paper, as-written (the study's own REINFORCE), or a YAML file.")]

_articles = partial(option, "Articles")
_systems = partial(option, "Systems")
_metrics = partial(option, "Metrics")
_machines = partial(option, "Machines")
_run = partial(option, "Run")

_LENGTHS = re.compile(r" *([0-9]{1,9})(?:-([0-9]{1,9}))? *")
_MOST_LENGTHS = 1_000
_ENCODER = "What embeds sentences and chunks: a known name, a folder, or a Hub id."
_SEED = "Seed of the random control, of sampling and of tests."
_LOG_TO = (
    "--log-to NAME",
    "Log the run there, too: tensorboard, mlflow or wandb, each of which must be installed (nws[mlflow]). Repeatable.",
)


@dataclass(frozen=True, slots=True)
class DataOptions:
    """The articles of a sweep."""

    datasets: list[str] | None = _articles(
        "--dataset NAME",
        "sample, sample-ko, cnn_dailymail, xsum, gigaword, a JSONL, JSON, CSV, TSV (also .gz) or Parquet file, or a "
        "Hub id (organisation/name[:configuration][@revision]). Repeatable; replaces the recipe's datasets.",
    )
    split: str | None = _articles("--split NAME", "Split of Hub datasets.")
    limit: int | None = _articles("--limit N", "Read at most this many articles of each dataset.", min=1)


@dataclass(frozen=True, slots=True)
class TrainingDataOptions:
    """The articles of `nws submit phase2`: those to learn from, and those on which policies are evaluated."""

    train_datasets: list[str] | None = _articles(
        "--dataset NAME",
        "What to train on: as for the other jobs. Repeatable; replaces the recipe's training datasets. Of a Hub "
        "dataset, the test articles are its test split unless --test-dataset is given.",
    )
    datasets: list[str] | None = _articles(
        "--test-dataset NAME", "What policies are evaluated on. Repeatable; replaces the recipe's test datasets."
    )
    train_split: str | None = _articles("--split NAME", "Split of Hub datasets to train on; default: train.")
    split: str | None = _articles("--test-split NAME", "Split of Hub datasets to evaluate on; default: test.")
    train_limit: int | None = _articles("--limit N", "Learn from at most this many articles of each dataset.", min=1)
    limit: int | None = _articles("--test-limit N", "Judge on at most this many articles of each dataset.", min=1)


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """What every job's recipe has: how articles are read, lengths, plugins and metrics."""

    streaming: bool | None = _articles("--streaming", "Stream Hub datasets row by row.")
    text_field: str | None = _articles("--text-field NAME", "Field with the article.")
    reference_field: str | None = _articles(
        "--reference-field NAME", "Field with the reference or references; default: a usual name."
    )
    key_field: str | None = _articles(
        "--key-field NAME", "Field that names the article; default: id, key, fname, or the row."
    )
    pipeline: str | None = _articles(
        "--pipeline NAME",
        "What cuts English articles into sentences and chunks: an installed spaCy pipeline such as en_core_web_sm; "
        "blank, which needs none; or auto. Korean articles are always cut by Kiwi.",
    )
    units: str | None = _articles(
        "--units NAME",
        "What summaries are put together of: chunks, which the pipeline finds; or words, each by itself, for texts of "
        "one sentence.",
    )
    plugins: list[str] | None = _systems(
        "--plugin FILE",
        "Systems and metrics of your own: a Python file with SYSTEMS or METRICS, or an installed entry point of "
        "nws.systems or nws.metrics. A system is a function of an article's text and n, a metric one of a summary and "
        "the list of its references. All of them take part; the code is shipped to a cluster. Repeatable.",
    )
    n: str | None = _systems(
        "--n N,N",
        "Summary lengths in words: 7,9,11,13, or 7-13 for all of them. For phase2, from:RUN takes those that the "
        "answer of a sweep names.",
    )
    max_chars: str | None = _systems(
        "--max-chars N,N",
        "In place of --n: summary lengths in characters, such as 30,50,65 for titles. A summary has at most so many, "
        "and whole words.",
    )
    bertscore_model: str | None = _metrics(
        "--bertscore-model NAME", "Backbone of BERTScore: a known name, a folder, or a Hub id."
    )
    bertscore_layer: int | None = _metrics(
        "--bertscore-layer N",
        "Layer of that backbone; default: the recipe's, or with --bertscore-model the one tuned for it.",
        min=1,
    )
    fluency_model: str | None = _metrics(
        "--fluency-model NAME",
        "Store the fluency of every summary under this causal language model: smollm2, a folder, or a Hub id.",
    )
    faithfulness_model: str | None = _metrics(
        "--faithfulness-model NAME",
        "Store how well the article supports every summary, as this NLI model says: a folder, or a Hub id.",
    )


@dataclass(frozen=True, slots=True)
class Phase1Options:
    """What `nws submit phase1` writes summaries with."""

    encoders: list[str] | None = _systems(
        "--encoder NAME",
        "bert-base-uncased, xlnet-base-cased, electra-base-discriminator, all-MiniLM-L6-v2, a folder, or a Hub id "
        "(organisation/name[@revision]). Repeatable; replaces the recipe's encoders.",
    )
    seed: int | None = _systems("--seed N", _SEED, min=0)


@dataclass(frozen=True, slots=True)
class BaselinesOptions:
    """What `nws submit baselines` writes summaries with."""

    systems: list[str] | None = _systems(
        "--system NAME",
        "lead3, lead2+chunks, lead3-search, textrank, centroid, textrank-words, lexrank, position, window-oracle, "
        "oracle, lead, random, random-words, reference-words, person, other-article; a generator: bart-large-cnn, "
        "bart-large-xsum, pegasus-cnn_dailymail, t5-large, gpt2-xl, smollm2, a folder, a Hub id, or openai:MODEL. "
        "Repeatable; replaces the recipe's systems.",
    )
    prompt: str | None = _systems(
        "--prompt TEXT",
        "Prompt for generators that NWS does not know by name; the article replaces {article}. With {n} in it, a "
        "summary of each n is asked for; without, one uncut summary. Default: the recipe's, see docs/generators.md.",
    )
    predictions: list[str] | None = _systems(
        "--predictions FILE",
        "Summaries that were written elsewhere: a JSONL, CSV or Parquet file with an article's key as `id`, and a "
        "`prediction`. The system is called after the file, or as you say: name=file. Repeatable.",
    )
    encoder: str | None = _systems("--encoder NAME", _ENCODER)
    seed: int | None = _systems("--seed N", _SEED, min=0)


@dataclass(frozen=True, slots=True)
class Phase2Options:
    """What `nws submit phase2` trains, and what it compares that with."""

    systems: list[str] | None = _systems(
        "--system NAME",
        "What policies are compared with: lead3, lead2+chunks, lead3-search, textrank, centroid, textrank-words, "
        "lexrank, position, window-oracle, oracle, lead, random, random-words, reference-words, person, other-article. "
        "Repeatable; replaces the recipe's systems. (The oracle takes most of the time.)",
    )
    decodings: list[str] | None = _systems(
        "--decoding NAME",
        "How trained policies write: greedy, or rerank, the best of many draws. Repeatable; replaces the recipe's "
        "decodings.",
    )
    encoder: str | None = _systems("--encoder NAME", _ENCODER)
    passes: int | None = _systems(
        "--passes N", "How many times each training article is used at each n, by every method.", min=1
    )
    seeds: list[int] | None = _systems(
        "--seed N",
        "Seed of the training. Repeatable: policies are trained with each. The first also seeds the tests.",
        min=0,
    )


@dataclass(frozen=True, slots=True)
class ActorOptions:
    """What the actors of a run are, the same in a run that is resumed."""

    accelerator: str | None = _machines(
        "--accelerator NAME",
        "What each actor computes on: auto (a GPU where there is one, else a CPU), cpu, gpu (or cuda), or a Ray "
        "accelerator type such as T4.",
    )
    actors: int | None = _machines("--actors N", "Number of worker processes (actors); default: as many as fit.", min=1)


@dataclass(frozen=True, slots=True)
class MachineOptions(ActorOptions):
    """The same of a new run, which may wait for a cluster to grow."""

    wait_for_machines: float | None = _machines(
        "--wait-for-machines SECONDS",
        "Seconds to wait for an autoscaled cluster to have what the actors need; say how many with --actors.",
        min=0,
    )


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """Where a run is driven: at the Ray dashboard `address`, or here by `engine`."""

    # Any text for typer: `require_possible` says in NWS's words which engines there are.
    engine: EngineName = _machines(
        "--engine NAME", "ray: on all cores, with Ray. inline: in one process, for small runs.", "ray", parser=str
    )
    address: str | None = _machines(
        "--address URL",
        "Dashboard of a Ray cluster, http://HEAD:8265, to run there. Default: on this machine.",
        env="RAY_ADDRESS",
    )
    no_wait: bool = _machines(
        "--no-wait", "With --address: return once the run is submitted, and do not follow it.", False, env=None
    )


@dataclass(frozen=True, slots=True)
class ResumeTargetOptions(TargetOptions):
    """The same of a run that exists: it is driven where it was submitted to, unless told otherwise."""

    local: bool = _machines(
        "--local", "Drive the run on this machine, even if it was submitted to a cluster.", False, env=None
    )


@dataclass(frozen=True, slots=True)
class ResumeOptions:
    """What is done with a run that is resumed."""

    take_over: bool = _run(
        "--take-over", "Replace a driver that seems to be alive: it stops within seconds.", False, env=None
    )
    drivers: int | None = _run(
        "--drivers N", "Of a sharded run: how many drivers are at work; default: as many as before.", min=1, env=None
    )
    log_to: list[str] | None = _run(*_LOG_TO)


@dataclass(frozen=True, slots=True)
class ShardOptions:
    """How the articles of a sweep are divided among drivers."""

    shards: int | None = _run(
        "--shards N",
        "Divide the articles into so many shards, or as many as there are bundles. Each is a run for itself; the "
        "whole, a sharded run, has one id.",
        min=1,
        env=None,
    )
    shard_articles: int | None = _run(
        "--shard-articles N", "The same, with so many articles in a shard.", min=1, env=None
    )
    drivers: int | None = _run("--drivers N", "How many drivers work on the shards; default: 1.", min=1, env=None)

    @property
    def is_sharded(self) -> bool:
        """Whether there are to be shards."""
        return self.shards is not None or self.shard_articles is not None

    def require_possible(self, log_to: Sequence[str]) -> None:
        """Refuse what contradicts itself.

        Raises:
            RecipeError: both numbers are given, there are drivers of no shards, or shards are to be logged to trackers.
        """
        if self.shards is not None and self.shard_articles is not None:
            raise RecipeError("--shards and --shard-articles both say how the articles are divided: give one of them.")
        if self.drivers is not None and not self.is_sharded:
            raise RecipeError("--drivers is for the shards of a run: give --shards or --shard-articles, too.")
        if self.is_sharded and log_to:
            raise RecipeError(
                "--log-to is for runs with one driver: leave out --shards, or log a shard by `nws resume`."
            )


@dataclass(frozen=True, slots=True)
class RunOptions:
    """A new run, and what is done with it."""

    name: str | None = _run("--name NAME", "Name of a new run, as `nws ls` lists it.", env=None)
    note: str | None = _run("--note TEXT", "Note on a new run, as `nws ls` lists it.", env=None)
    log_to: list[str] | None = _run(*_LOG_TO)
    resume: bool = _run(
        "--resume", "Go on with the newest run of exactly this recipe, if there is one.", False, env=None
    )
    no_reuse: bool = _run(
        "--no-reuse", "Compute every summary anew. Default: copy those that other runs of the store have.", False
    )
    dry_run: bool = _run(
        "--dry-run", "Print what would run and how long it would take, and run nothing.", False, env=None
    )


def recipe_overrides(*groups: "DataclassInstance") -> dict[str, Any]:
    """What groups of options set in a recipe, by its keys (see `load_recipe`): only what was given.

    Raises:
        RecipeError: `--n` or `--max-chars` is no list of whole numbers, or predictions cannot be called so.
    """
    given = {one.name: getattr(group, one.name) for group in groups for one in fields(group)}
    return {key: _plain_value(key, value) for key, value in given.items() if value is not None and value != []}


def _plain_value(key: str, value: Any) -> Any:
    """The value of an option as a recipe has it."""
    if key in ("datasets", "train_datasets"):
        return [{"name": name} for name in value]
    if key == "plugins":
        return [{"plugin": name} for name in value]
    if key == "predictions":
        from core.summarizers.predictions import parse_predictions

        return [parse_predictions(text) for text in value]
    if key == "max_chars":
        return parse_lengths(value, "--max-chars")
    return parse_lengths(value) if key == "n" and not value.startswith(FROM) else value


def parse_labels(texts: Sequence[str] | None) -> dict[str, str]:
    """The values of `--label`, e.g. `lexrank=LexRank`: labels by the names that were typed.

    Raises:
        RecipeError: one has no name or no label.
    """
    labels = {}
    for text in texts or ():
        name, _, label = text.rpartition("=")  # a name may hold one: reinforce|seed=0
        if not name or not label.strip():
            raise RecipeError(f"--label takes a system and its label, such as lexrank=LexRank, not {text!r}.")
        labels[name] = label.strip()
    return labels


def parse_lengths(text: str | None, flag: str = "--n") -> list[int] | None:
    """The value of `--n` or another `flag`, e.g. `7,9,11,13` or `5-9,13`, where 5-9 is every whole number from 5 to 9.

    Raises:
        RecipeError: it is no list of whole numbers.
    """
    if text is None:
        return None
    lengths: list[int] = []
    for part in text.split(","):
        found = _LENGTHS.fullmatch(part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if first > last or last - first >= _MOST_LENGTHS:
            raise RecipeError(
                f"{flag} takes whole numbers with commas between them, such as 7,9,11,13, or from one to another, "
                f"7-13, not {text!r}."
            )
        lengths += range(first, last + 1)
    return lengths
