"""Options in groups: what typer makes of a command that takes dataclasses, and how its help lists them."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from jobs.commands.options import Command, grouped, option, plain

_places = partial(option, "Places")


@dataclass(frozen=True, slots=True)
class Trip:
    to: list[str] | None = _places("--to -t TOWN", "Where to go.", env=True)
    by_night: bool = plain("--by-night", "Sleep on the way.", False)
    days: int = _places("--days N", "How long to stay.", 2, env="TRIP_DAYS", min=1)


@grouped
def travel(trip: Trip, who: Annotated[str, typer.Argument(help="Who travels.")], quiet: bool = False) -> None:
    """Go somewhere."""
    print(trip, who, quiet)


@pytest.fixture
def run():
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(cls=Command)(travel)
    return partial(CliRunner().invoke, app)


def test_the_command_gets_its_groups(run) -> None:
    assert run(["ann"]).stdout == "Trip(to=None, by_night=False, days=2) ann False\n"
    given = ["ann", "--to", "Hull", "-t", "Dover", "--by-night", "--quiet"]
    assert run(given, env={"TRIP_DAYS": "3"}).stdout == "Trip(to=['Hull', 'Dover'], by_night=True, days=3) ann True\n"
    assert run(["ann"], env={"NWS_TO": "Hull"}).stdout.startswith("Trip(to=['Hull']")
    assert run(["ann", "--to", "Dover"], env={"NWS_TO": "Hull"}).stdout.startswith("Trip(to=['Dover']")


def test_help_has_a_section_for_each_heading_and_says_what_stands_for_a_value(run) -> None:
    told = run(["--help"]).stdout
    own, places = told.split("Options:\n")[1].split("\n\nPlaces:\n")
    assert "Arguments:\n" in told
    assert [line.split()[0] for line in own.splitlines()] == ["--by-night", "--quiet", "--help"]
    assert "-t, --to TOWN" in places
    assert "--days N" in places
    assert "TRIP_DAYS" in places
