"""Options in groups: a frozen dataclass whose fields become options of a command, and stand together in its help."""

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import field, fields, is_dataclass
from typing import Any, get_origin, get_type_hints

import typer
import typer.core
import typer.main


def option(panel: str | None, flag: str, told: str, default: Any = None, *, env: str | None = "", **more: Any) -> Any:
    """A field of a group that is an option.

    Args:
        panel: the heading under which `--help` lists it, None for that of all others.
        flag: as people type it, and what stands for its value: `--limit N`, `--metrics -m NAMES`. A switch has none.
        told: its help.
        default: its value where it is not given.
        env: the environment variable that sets it, None for none; `NWS_` and the flag's name unless given.
        more: whatever else `typer.Option` takes, such as `min`.
    """
    names = [word for word in flag.split() if word.startswith("-")]
    metavar = " ".join(word for word in flag.split() if not word.startswith("-"))
    variable = f"NWS_{names[0].removeprefix('--').replace('-', '_').upper()}" if env == "" else env
    more |= {"metavar": metavar or None, "rich_help_panel": panel, "envvar": variable, "help": told}
    return field(default=default, metadata={"option": typer.Option(default, *names, **more)})


plain = functools.partial(option, None, env=None)
"""A field that is an option under no heading of its own, which no environment variable sets."""


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command as typer has to see it: in place of each parameter that is a group stand the options of that group."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if group := groups.get(parameter.name):
            types = get_type_hints(group)
            for one in fields(group):
                parameters.append(_parameter(one.name, types[one.name], one.metadata["option"]))
        else:
            parameters.append(_parameter(parameter.name, hints[parameter.name], parameter.default))

    @functools.wraps(command)
    def called(**given: Any) -> None:
        filled = {
            name: group(**{one.name: given.pop(one.name) for one in fields(group)}) for name, group in groups.items()
        }
        command(**filled, **given)

    return _signed(called, parameters)


def _signed(command: Callable[..., None], parameters: Iterable[inspect.Parameter]) -> Callable[..., None]:
    """A command with the parameters that typer is to see."""
    command.__signature__ = inspect.Signature([*parameters])  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _parameter(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


@functools.cache
def recipe_options(job: str) -> tuple[Any, ...]:
    """What typer makes of the flags that the fields of a job's recipe name."""
    from jobs.recipes.load import flags_of, recipe_class

    fields = recipe_class(job).model_fields
    parameters = {}
    for flag, key, told in flags_of(recipe_class(job)):
        kind: Any = str if flag.least is None else int
        if key in fields and get_origin(fields[key].annotation) is tuple and "," not in flag.typed:
            kind, told = list[kind], f"{told} Repeatable; replaces the recipe's."
        asked = option(flag.panel, flag.typed, told, min=flag.least)
        parameters[flag.name] = _parameter(flag.name, kind | None, asked.metadata["option"])
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
    """A command of `nws submit`, which is called as its job: its options are also the flags of the job's recipe.

    The recipe is imported when they are asked for: no other command waits for it. What they set is in `ctx.obj`, by the
    recipe's keys.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """The flags of the recipe, then the command's own options."""
        return [*recipe_options(str(self.name)), *super().get_params(ctx)]

    def invoke(self, ctx: Any) -> Any:
        """Run the command, with what the flags set apart from its own options."""
        from jobs.recipes.load import flags_of, recipe_class

        flags = list(flags_of(recipe_class(str(self.name))))
        given = {name: ctx.params.pop(name) for name in {flag.name for flag, _, _ in flags}}
        ctx.obj = {key: given[flag.name] for flag, key, _ in flags if given[flag.name] not in (None, (), [])}
        return super().invoke(ctx)
