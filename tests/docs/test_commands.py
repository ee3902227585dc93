"""Every command line of the pages can be typed: commands, flags, make's targets and environment variables exist."""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from doc_pages import PAGES, ROOT, blocks, codes, commands
from typer.main import get_command

from nws.jobs.cli import app

FLAGS_OF_OTHERS = {"--build-arg", "--dashboard-agent-listen-port", "--editable", "--scale", "--spot"}
TARGET = re.compile(r"(?:^|`)make (?P<names>[a-z][a-z-]*(?: [a-z][a-z-]*)*)(?= *(?:`|$|[A-Z]+=|#))", re.M)


def problem(words: list[str]) -> str | None:
    """What the command line says to these words behind `nws`, without running or converting anything."""
    command: Any = get_command(app)
    while True:
        context = command.context_class(command)
        try:
            _, rest, _ = command.make_parser(context).parse_args(list(words))
        except Exception as error:
            return str(error)
        below = getattr(command, "commands", None)
        if below is None:
            return f"too many arguments: {rest}" if rest else None
        if not rest or rest[0].isupper():  # `nws --help`, `nws COMMAND --help`
            return None
        if rest[0] not in below:
            return f"there is no command {rest[0]!r}"
        command, words = below[rest[0]], rest[1:]


def options(command: Any) -> Iterator[Any]:
    """Every option of a command and of those below it."""
    yield from command.get_params(command.context_class(command))
    for below in getattr(command, "commands", {}).values():
        yield from options(below)


@cache
def flags() -> frozenset[str]:
    """Every flag of every command."""
    named = (name for one in options(get_command(app)) for name in (*one.opts, *one.secondary_opts))
    return frozenset({*named, "--help"})


def unknown_flags(page: str) -> list[str]:
    """Flags in the text that no command has."""
    named = [code.split("=")[0].split()[0] for code in codes(page) if code.startswith("--")]
    return [flag for flag in named if flag not in flags() | FLAGS_OF_OTHERS]


def unknown_targets(page: str) -> list[str]:
    """What the page lets `make` make, and the Makefile does not know."""
    known = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    lines = "\n".join([*(block.text for block in blocks(page)), *(f"`{code}`" for code in codes(page))])
    return [name for found in TARGET.finditer(lines) for name in found["names"].split() if name not in known]


@cache
def variables() -> frozenset[str]:
    """Every NWS_… that code, tests or make read, and those that the options of commands have."""
    files = [ROOT / "Makefile", ROOT / "compose.yaml"]
    files += [path for room in ("core", "cluster", "jobs", "tests", "alembic") for path in (ROOT / room).rglob("*.py")]
    read = {name for path in files for name in re.findall(r"NWS_\w+", path.read_text(encoding="utf-8"))}
    return frozenset({*read, *(one.envvar for one in options(get_command(app)) if one.envvar)})


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_command_can_be_typed(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    typed = "\n".join(block.text for block in blocks(page))
    wrong = {" ".join(words): problem(words) for words in commands(typed)}
    # In the text a command may end with a flag that is named without its value.
    wrong |= {
        " ".join(words): problem(words) and problem([*words, "VALUE"]) for words in commands("\n".join(codes(page)))
    }
    assert {words: said for words, said in wrong.items() if said is not None} == {}
    assert unknown_flags(page) == []
    assert unknown_targets(page) == []
    assert set(re.findall(r"NWS_\w+", page)) <= variables()


# On the package index `nws` is another project. Versions, extras and quotes may stand around it.
OTHER_PROJECT = re.compile(
    r"(?:pip|pipx|uv) (?:install|add|wheel)\b[^\n`;|&]*?[\s'\"]nws(?=[\s'\"`\[=<>~,.;)]|$)", re.MULTILINE
)


def test_no_text_has_people_install_the_other_project_called_nws() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [path for name in listed.split("\0") if name and (path := ROOT / name).is_file() and path != Path(__file__)]
    texts = {path: path.read_bytes().decode(errors="replace") for path in files}
    assert [(path.name, found[0]) for path, text in texts.items() for found in OTHER_PROJECT.finditer(text)] == []


@pytest.mark.parametrize("typed", ["pip install nws", "pip install --upgrade 'nws[mlflow]'", "pipx install nws==1.0"])
def test_such_a_text_is_found(typed: str) -> None:
    assert OTHER_PROJECT.search(f"Run `{typed}`.")
    assert not OTHER_PROJECT.search(f"Run `{typed.replace('nws', 'nws_summaries-1.0-py3-none-any.whl')}`.")
