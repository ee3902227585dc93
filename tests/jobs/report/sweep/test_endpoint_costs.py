"""What endpoints cost, and how well generators keep to n, as reports say it."""

import io
from typing import Any

from rich.console import Console
from run_infos import run_info

from nws.core.findings.lengths import Obedience
from nws.core.findings.report_document import ReportDocument
from nws.jobs.report.printed_report import EndpointCosts, print_costs, read_costs
from nws.jobs.report.result_tables import obedience_table
from nws.jobs.report.system_names import system_names
from nws.jobs.store import EndpointUse

NAMES = {"instruct|prompt=1f0c3a77": "…", "openai:tiny|prompt=1f0c3a77": "…"}


class Told:
    """What a store tells of a run."""

    def __init__(self, models: int, cached: int, tokens: int) -> None:
        self.models, self.cached, self.tokens = models, cached, tokens

    def endpoint_use(self, run_id: str, systems: object) -> list[EndpointUse]:
        return [
            EndpointUse(list(systems)[1], 40, 160, 80_000 * self.tokens, 600 * self.tokens, self.cached, self.models)
        ]


def costs(models: int = 1, cached: int = 0, tokens: int = 1, **changes: Any) -> EndpointCosts:
    run = run_info(**{"revisions": {"generators": NAMES}, **changes})
    return read_costs(Told(models, cached, tokens), run, system_names(NAMES))


def printed(**changes: Any) -> str:
    file = io.StringIO()
    print_costs(costs(**changes), Console(file=file, width=500))
    return file.getvalue()


def test_requests_and_tokens_cost_something_where_the_recipe_says_what() -> None:
    told = "openai:tiny: 4,000 requests, 2,000,000 tokens read, 15,000 written"
    assert told in printed()
    prices = {"endpoint": {"input_price": 0.15, "output_price": 0.6}}
    assert f"{told}; cost 0.31, at these prices of a million tokens: 0.15 read, 0.6 written" in printed(recipe=prices)
    assert "; " not in printed(recipe={"endpoint": {"input_price": 0.15}})
    (use,) = costs(recipe=prices).as_dict()["endpoint_use"]
    assert (use["requests"], use["cost"]) == (160, 0.01236)
    assert costs().as_dict()["endpoint_use"][0]["cost"] is None


def test_an_endpoint_that_states_no_tokens_is_not_free() -> None:
    prices = {"endpoint": {"input_price": 0.15, "output_price": 0.6}}
    assert "openai:tiny: 4,000 requests; the endpoint does not state its tokens\n" in printed(tokens=0, recipe=prices)
    assert costs(tokens=0, recipe=prices).as_dict()["endpoint_use"][0]["cost"] is None


def test_what_is_read_from_a_cache_has_a_price_of_its_own() -> None:
    prices = {"input_price": 0.5, "output_price": 1.0, "cached_input_price": 0.05}
    told = printed(cached=60_000, recipe={"endpoint": prices})
    assert "2,000,000 tokens read (1,500,000 of them from its cache), 15,000 written; cost 0.34, at" in told
    assert "0.05 from its cache" in told
    del prices["cached_input_price"]
    assert costs(cached=60_000, recipe={"endpoint": prices}).as_dict()["endpoint_use"][0]["cost"] == 0.0406


def test_several_models_under_one_name_are_told() -> None:
    assert "models have answered" not in printed()
    assert "openai:tiny: 2 models have answered under this name, so its means mix them." in printed(models=2)


def test_a_run_without_generators_says_nothing() -> None:
    assert printed(revisions={}) == ""


def test_how_well_generators_keep_to_n() -> None:
    obeyed = Obedience("openai:tiny|prompt=1f0c3a77", 9, 40, 9.5, 0.75, 0.8, 0.5, 0.1, 2.25, 100, 90)
    document = ReportDocument(metric="bertscore_f1", obedience=(obeyed,))
    (row,) = obedience_table(document, system_names(NAMES)).rows
    assert [str(getattr(cell, "text", cell)) for cell in row] == (
        ["openai:tiny", "9", "9.5", "75 %", "80 %", "+0.5", "0.5", "2.2", "2.5", "2.2"]
    )
