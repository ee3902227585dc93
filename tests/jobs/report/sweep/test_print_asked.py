import io
from typing import Any

from rich.console import Console
from run_infos import run_info

from nws.jobs.report.printed_report import asked_json, print_asked, read_asked
from nws.jobs.report.system_names import system_names
from nws.jobs.store import AskedWords, EndpointUse

NAMES = {"instruct|prompt=1f0c3a77": "…", "openai:tiny|prompt=1f0c3a77": "…"}


class Told:
    """What a store tells of a run."""

    def __init__(self, models: int) -> None:
        self.models = models

    def asked_words(self, run_id: str, systems: object) -> list[AskedWords]:
        instruct, tiny = systems
        return [
            AskedWords(instruct, 7, 40, 6.84, 0.525, 0.125, 1.25),
            AskedWords(tiny, 7, 40, 7.0, 1.0, 0.0, 0.0),
            AskedWords(tiny, 9, 40, 11.26, 0.1, 0.9, 2.31),
        ]

    def endpoint_use(self, run_id: str, systems: object) -> list[EndpointUse]:
        return [EndpointUse(list(systems)[1], 40, 160, 80_000, 600, self.models)]


def asked(models: int = 1, **changes: Any) -> Any:
    return read_asked(Told(models), run_info(**{"revisions": {"generators": NAMES}, **changes}), system_names(NAMES))


def printed(**changes: Any) -> str:
    file = io.StringIO()
    print_asked(asked(**changes), Console(file=file, width=80))
    return file.getvalue()


def test_how_well_generators_keep_to_n() -> None:
    lines = [line.split() for line in printed().splitlines()]
    assert lines[3:6] == [
        ["instruct", "7", "6.8", "52", "%", "12", "%", "1.2"],
        ["openai:tiny", "7", "7.0", "100", "%", "0", "%", "0.0"],
        ["openai:tiny", "9", "11.3", "10", "%", "90", "%", "2.3"],
    ]


def test_requests_and_tokens_cost_something_where_the_recipe_says_what() -> None:
    told = "openai:tiny: 4,000 requests, 2,000,000 tokens read, 15,000 written"
    assert told in " ".join(printed().split())
    prices = {"input_price": 0.15, "output_price": 0.6}
    assert f"{told}; cost 0.31 at 0.15 and 0.6 for a million tokens" in " ".join(
        printed(recipe={"endpoint": prices}).split()
    )
    assert "; " not in printed(recipe={"endpoint": {"input_price": 0.15}})
    (use,) = asked_json(asked(recipe={"endpoint": prices}))["endpoint_use"]
    assert (use["requests"], use["cost"]) == (160, 0.01236)
    assert asked_json(asked())["endpoint_use"][0]["cost"] is None


def test_several_models_under_one_name_are_told() -> None:
    assert "models have answered" not in printed()
    told = " ".join(printed(models=2).split())
    assert "openai:tiny: 2 models have answered under this name, so its means mix them." in told


def test_a_run_without_generators_says_nothing() -> None:
    assert printed(revisions={}) == ""
    assert asked_json(asked(revisions={})) == {"asked_words": [], "endpoint_use": []}


def test_how_well_generators_keep_to_characters() -> None:
    recipe = {"max_chars": [7, 9]}
    assert "Characters written, where n were asked for" in printed(recipe=recipe)
    assert [row["over"] for row in asked_json(asked(recipe=recipe))["asked_characters"]] == [0.125, 0.0, 0.9]
