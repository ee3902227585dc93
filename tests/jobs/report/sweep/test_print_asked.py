import io
from typing import Any

from rich.console import Console
from run_infos import run_info

from jobs.report.sweep.printed_tables import print_asked
from jobs.store import AskedWords, TokensUsed
from jobs.terminal.system_names import system_names

NAMES = {"instruct|prompt=1f0c3a77": "…", "openai:tiny|prompt=1f0c3a77": "…"}


class Told:
    """What a store tells of a run."""

    def asked_words(self, run_id: str, systems: object) -> list[AskedWords]:
        instruct, tiny = systems
        return [
            AskedWords(instruct, 7, 40, 6.84, 0.525, 0.125),
            AskedWords(tiny, 7, 40, 7.0, 1.0, 0.0),
            AskedWords(tiny, 9, 40, 11.26, 0.1, 0.9),
        ]

    def tokens_used(self, run_id: str, systems: object) -> list[TokensUsed]:
        return [TokensUsed(list(systems)[1], 40, 80_000, 600)]


def printed(**changes: Any) -> str:
    file = io.StringIO()
    run = run_info(**{"revisions": {"generators": NAMES}, **changes})
    print_asked(Told(), run, system_names(NAMES), Console(file=file, width=80))
    return file.getvalue()


def test_how_well_generators_keep_to_n() -> None:
    lines = [line.split() for line in printed().splitlines()]
    assert lines[2:9] == [
        ["n", "7", "9"],
        ["instruct", "6.8", "–"],
        ["52%"],
        ["12%"],
        ["openai:tiny", "7.0", "11.3"],
        ["100%", "10%"],
        ["0%", "90%"],
    ]


def test_tokens_cost_something_where_the_recipe_says_what() -> None:
    told = "openai:tiny: 2,000,000 read, 15,000 written"
    assert f"{told}\n" in printed()
    priced = printed(recipe={"endpoint": {"input_price": 0.15, "output_price": 0.6}})
    assert f"{told}; cost 0.31 at 0.15 and 0.6 for a million tokens" in " ".join(priced.split())
    assert "; " not in printed(recipe={"endpoint": {"input_price": 0.15}})


def test_a_run_without_generators_says_nothing() -> None:
    assert printed(revisions={}) == ""
