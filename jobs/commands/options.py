"""The options that several commands take, and in groups those of a run. The flags of a recipe are in `jobs.recipes`."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

import typer

from core.errors import RecipeError
from jobs.commands.groups import option, plain

# That of `jobs.store`, written again because importing it takes SQLAlchemy along.
DEFAULT_STORE = "sqlite:///nws.db"

StoreUrl = Annotated[
    str,
    typer.Option(
        envvar="NWS_STORE", metavar="URL", help="Where results are: sqlite:///FILE or postgresql://USER@HOST/DATABASE."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line of stdout.")]
POLICY = (
    "--system NAME",
    "Which of the run's policies, e.g. `reinforce|seed=1`; default: the first method, seed and decoding.",
)
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

_machines = partial(option, "Machines")
_run = partial(option, "Run")
_LOG_TO = (
    "--log-to NAME",
    "Log the run there, too: tensorboard, mlflow or wandb, each of which must be installed (nws[mlflow]). Repeatable.",
)


@dataclass(frozen=True, slots=True)
class ActorOptions:
    """What the actors of a run are, as its recipe or whoever resumes it says."""

    accelerator: str | None = _machines(
        "--accelerator NAME",
        "What each actor computes on: auto, cpu, gpu (or cuda), or a Ray accelerator type such as T4; as before if not "
        "given.",
    )
    actors: int | None = _machines("--actors N", "Number of worker processes (actors); as before if not given.", min=1)


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """Where a run is driven: at the Ray dashboard `address`, or here by `engine`."""

    engine: Literal["ray", "inline"] = _machines(
        "--engine NAME", "ray: on all cores, with Ray. inline: in one process, for small runs.", "ray"
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
        asked = [number for number in (self.shards, self.shard_articles) if number is not None]
        if len(asked) > 1 or (self.drivers is not None and not asked):
            raise RecipeError(
                "Articles are divided by --shards or --shard-articles, one of them, and --drivers needs one."
            )
        if asked and log_to:
            raise RecipeError(
                "--log-to is for runs with one driver: leave out --shards, or log a shard when resuming it."
            )


@dataclass(frozen=True, slots=True)
class RunOptions:
    """A new run, and what is done with it."""

    recipe: str = option(
        None,
        "--recipe -r NAME",
        "sample, paper, a YAML file, or, of phase2, as-written: the study's own REINFORCE.",
        "sample",
    )
    settings: list[str] | None = plain(
        "--set KEY=VALUE",
        "Set any key of the recipe, also one that has no flag; the value is YAML: rouge.stemmer=true, "
        "stop_after_equal_failures=null. Repeatable.",
    )
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
