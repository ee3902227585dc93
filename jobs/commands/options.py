"""The options of commands, in groups that several commands may share.

A group is a frozen dataclass whose fields become options of a command, and stand together in its help. `JobCommand`
also makes an option of each flag in a recipe's fields; typed values replace those of the recipe.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from typing import Annotated, Any, Literal, get_origin, get_type_hints

import typer
import typer.core
import typer.main

from nws.core.errors import ClusterError, RecipeError


def option(
    panel: str | None, flag: str, help_text: str, default: Any = None, *, env: str | bool = False, **more: Any
) -> Any:
    """Make a dataclass field for an option of a command.

    Args:
        panel: the heading under which `--help` lists it; None for the default heading.
        flag: its names and the placeholder of its value, such as `--limit N` or `--metrics -m NAMES`. A switch has no
            placeholder.
        help_text: its help.
        default: its default value.
        env: the environment variable that sets it; True for `NWS_` and the flag's name.
        more: further arguments of `typer.Option`, such as `min`.
    """
    names = [word for word in flag.split() if word.startswith("-")]
    metavar = " ".join(word for word in flag.split() if not word.startswith("-"))
    variable = f"NWS_{names[0].removeprefix('--').replace('-', '_').upper()}" if env is True else env or None
    more |= {"metavar": metavar or None, "rich_help_panel": panel, "envvar": variable, "help": help_text}
    return field(default=default, metadata={"option": typer.Option(default, *names, **more)})


plain = partial(option, None)
"""Make a field for an option under the default heading, without an environment variable."""


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Turn parameters that are groups into the options of the groups, so that typer can read the command."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if group := groups.get(parameter.name):
            types = get_type_hints(group)
            parameters += [_parameter(m.name, types[m.name], m.metadata["option"]) for m in fields(group)]
        else:
            parameters.append(_parameter(parameter.name, hints[parameter.name], parameter.default))

    @functools.wraps(command)
    def called(**values: Any) -> None:
        filled = {
            name: group(**{member.name: values.pop(member.name) for member in fields(group)})
            for name, group in groups.items()
        }
        command(**filled, **values)

    return _signed(called, parameters)


def _signed(command: Callable[..., None], parameters: Iterable[inspect.Parameter]) -> Callable[..., None]:
    """Set the parameters that typer sees."""
    command.__signature__ = inspect.Signature([*parameters])  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _parameter(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


@functools.cache
def recipe_options(job: str) -> tuple[Any, ...]:
    """Make options of the flags in the fields of a job's recipe."""
    from nws.jobs.recipes.load import flags_of, recipe_class

    fields = recipe_class(job).model_fields
    parameters = {}
    for flag, key, help_text in flags_of(recipe_class(job)):
        kind: Any = bool if " " not in flag.typed else str if flag.least is None else int
        if key in fields and get_origin(fields[key].annotation) is tuple and "," not in flag.typed:
            kind, help_text = list[kind], f"{help_text} Repeatable; replaces the recipe's."
        made = option(flag.panel, flag.typed, help_text, env=True, min=flag.least)
        parameters[flag.name] = _parameter(flag.name, kind | None, made.metadata["option"])
    app = typer.Typer(add_completion=False)
    app.command()(_signed(lambda: None, parameters.values()))
    return tuple(typer.main.get_command(app).params)


class Command(typer.core.TyperCommand):
    """A command whose help has a section for each group; typer itself has them in Rich's boxes only."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[Any]] = {"Arguments": [], "Options": [], "Articles": []}
        for parameter in self.get_params(ctx):
            is_argument = parameter.param_type_name == "argument"
            panel = "Arguments" if is_argument else getattr(parameter, "rich_help_panel", None) or "Options"
            if record := parameter.get_help_record(ctx):
                sections.setdefault(panel, []).append(record)
        for panel, records in sections.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records)


class JobCommand(Command):
    """A command of `nws submit`, with the name of its job. The flags of the job's recipe are among its options.

    The recipe is imported only when these options are needed, so that other commands start quickly. Their values are in
    `ctx.obj`, by the recipe's keys.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Refuse `--system` for phase1 with an error of its own, since many people try it first."""
        is_system = [word.partition("=")[0] == "--system" for word in args]
        if self.name == "phase1" and any(is_system):
            typed = " ".join(args[is_system.index(True) :][:2])
            raise RecipeError(f"phase1 runs its own systems. Use `nws submit baselines {typed}`.")
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the flags of the recipe, then the command's own options."""
        return [*recipe_options(str(self.name)), *super().get_params(ctx)]

    def invoke(self, ctx: Any) -> Any:
        """Run the command, with the values of the recipe's flags in `ctx.obj`."""
        from nws.jobs.recipes.load import flags_of, recipe_class

        flags = list(flags_of(recipe_class(str(self.name))))
        values = {name: ctx.params.pop(name) for name in {flag.name for flag, _, _ in flags}}
        ctx.obj = {key: values[flag.name] for flag, key, _ in flags if values[flag.name] not in (None, (), [])}
        return super().invoke(ctx)


# A copy of the one in `nws.jobs.store`, whose import would also import SQLAlchemy.
DEFAULT_STORE = "sqlite:///nws.db"

StoreUrl = Annotated[
    str,
    typer.Option(
        envvar="NWS_STORE",
        metavar="URL",
        help="Where results are stored: sqlite:///FILE or postgresql://USER@HOST/DATABASE.",
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
PARAMETERS = (
    "--parameters KEY=VALUE",
    "Set a parameter of requests to an endpoint, or remove it with null: seed=null. Repeatable.",
)
LISTS = "--list-predictions", "What to do with predictions that are lists: join all texts, or take the first."
LABEL = (
    "--label NAME=LABEL",
    "Show a system under another name: lexrank=LexRank. Repeatable. In a recipe, the key is `labels`.",
)

_machines = partial(option, "Machines")
_run = partial(option, "Run")
_LOG_TO = (
    "--log-to NAME",
    "Also log the run to tensorboard, mlflow or wandb, which must be installed. Repeatable.",
)


@dataclass(frozen=True, slots=True)
class ActorOptions:
    """Options of the actors of a run, which replace those of its recipe."""

    accelerator: str | None = _machines(
        "--accelerator NAME",
        "Device of each actor: auto, cpu, gpu (or cuda), or a Ray type such as T4; default: as before.",
        env=True,
    )
    actors: int | None = _machines(
        "--actors N", "Number of worker processes (actors); default: as before.", min=1, env=True
    )


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """Options that say where a run is driven: at the Ray dashboard `address`, or here by `engine`."""

    engine: Literal["ray", "inline"] = _machines(
        "--engine NAME", "ray: run on all cores, with Ray. inline: run in one process, for small runs.", "ray", env=True
    )
    address: str | None = _machines(
        "--address URL",
        "Dashboard of the Ray cluster to run on: http://HEAD:8265. Default: this machine.",
        env="RAY_ADDRESS",
    )
    no_wait: bool = _machines(
        "--no-wait", "With --address: return once the run is submitted, instead of following it.", False
    )

    def require_possible(self, accelerator: str | None = None, log_to: Sequence[str] = ()) -> None:
        """Refuse impossible options before anything is loaded.

        Raises:
            RecipeError: the address is not valid, the engine contradicts it, a tracker is unknown or not installed, or
                `log_to` is given for a run that is driven on a cluster.
            ClusterError: the run needs a GPU, and this machine, which would drive it, surely has none.
        """
        if log_to:
            from nws.jobs.drive.trackers import require_trackers

            require_trackers(log_to)
        if not self.address:
            from nws.cluster.resources import has_no_gpu

            if accelerator not in (None, "auto", "cpu") and has_no_gpu():
                raise ClusterError(
                    f"--accelerator {accelerator} needs a GPU, and this machine has none. Leave it out, use cpu, or "
                    "run on a cluster with --address."
                )
            return
        from nws.cluster.job_api import require_address

        require_address(self.address)
        if self.engine == "inline":
            raise RecipeError(
                f"--engine inline runs in this process, not at {self.address}. Leave one out, or unset RAY_ADDRESS."
            )
        if log_to:
            raise RecipeError(
                f"--log-to is for runs that this machine drives, and this one is driven at {self.address}. When it is "
                "done, log it with: nws resume RUN --local --log-to …"
            )


@dataclass(frozen=True, slots=True)
class ResumeTargetOptions(TargetOptions):
    """The same options for a run that exists. By default, it is driven where it was submitted."""

    local: bool = _machines("--local", "Drive the run on this machine, even if it was submitted to a cluster.", False)


@dataclass(frozen=True, slots=True)
class ResumeOptions:
    """Options of a run that is resumed."""

    take_over: bool = _run("--take-over", "Replace a driver that seems to be alive: it stops within seconds.", False)
    drivers: int | None = _run(
        "--drivers N", "For a sharded run: number of drivers that run at once; default: as before.", min=1
    )
    log_to: list[str] | None = _run(*_LOG_TO, env=True)


@dataclass(frozen=True, slots=True)
class ShardOptions:
    """Options of a sharded run: how its articles are divided among drivers."""

    shards: int | None = _run(
        "--shards N",
        "Divide the articles into N shards: runs of their own, under one run id. At most one shard per bundle.",
        min=1,
    )
    shard_articles: int | None = _run("--shard-articles N", "Divide the articles into shards of N articles.", min=1)
    drivers: int | None = _run("--drivers N", "Number of drivers that run shards at once; default: 1.", min=1)

    @property
    def is_sharded(self) -> bool:
        """Whether shards were asked for."""
        return self.shards is not None or self.shard_articles is not None

    def require_possible(self, log_to: Sequence[str]) -> None:
        """Refuse options that contradict each other.

        Raises:
            RecipeError: both numbers are given, drivers are given without shards, or shards with trackers.
        """
        numbers = [number for number in (self.shards, self.shard_articles) if number is not None]
        if len(numbers) > 1 or (self.drivers is not None and not numbers):
            raise RecipeError(
                "Give either --shards or --shard-articles to divide the articles. --drivers needs one of them."
            )
        if numbers and log_to:
            raise RecipeError(
                "--log-to is for runs with one driver. Leave out --shards, or log a shard when you resume it."
            )


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a new run."""

    recipe: str = option(
        None,
        "--recipe -r NAME",
        "A YAML file, or a bundled recipe: sample, paper, and for phase2 also study-cpu (paper with a small "
        "model), readable (summaries that read as sentences) and as-written (the study's own REINFORCE).",
        "sample",
        env=True,
    )
    settings: list[str] | None = plain(
        "--set KEY=VALUE",
        "Set a key of the recipe to a YAML value, also a key without a flag: rouge.stemmer=true. Repeatable.",
    )
    name: str | None = _run("--name NAME", "Name of the run, which `nws ls` shows.")
    note: str | None = _run("--note TEXT", "Note on the run, which `nws ls` shows.")
    log_to: list[str] | None = _run(*_LOG_TO, env=True)
    resume: bool = _run("--resume", "Resume the newest run with exactly this recipe, if there is one.", False)
    no_reuse: bool = _run(
        "--no-reuse",
        "Compute every summary anew. By default, a run copies summaries that another run in the store already has.",
        False,
        env=True,
    )
    dry_run: bool = _run("--dry-run", "Print what would run and how long it would take, and run nothing.", False)


def parse_labels(texts: Sequence[str] | None) -> dict[str, str]:
    """Parse values of `--label`, such as `lexrank=LexRank`. Returns the labels by the names that were typed.

    Raises:
        RecipeError: a value has no name or no label.
    """
    labels = {}
    for text in texts or ():
        name, _, label = text.rpartition("=")  # a name may contain "=", too: reinforce|seed=0
        if not name or not label.strip():
            raise RecipeError(f"--label takes a system and its label, such as lexrank=LexRank, not {text!r}.")
        labels[name] = label.strip()
    return labels
