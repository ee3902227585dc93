"""Which runs of a store an estimate rests on, and what it makes of them. The runs are made up."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from nws.jobs.drive.dry_run import Estimate, describe, estimate, print_estimate
from nws.jobs.drive.pools import Engine
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.load import load_recipe
from nws.jobs.recipes.plan import Plan
from nws.jobs.recipes.sweep_recipe import Phase1Recipe
from tests.support.run_infos import run_info


def planned(**changes: object) -> Plan:
    return plan_job("phase1", "sample", {"datasets.limit": 20, **changes})


def run_of(planned: Plan, **changes: object) -> object:
    """A run of the same recipe over other articles: 100 of them in 660 s, if nothing else is said."""
    recipe = planned.recipe.model_dump(mode="json") | {"datasets": [{"name": "other.jsonl"}], "seed": 9}
    described = describe(planned)
    values = {"recipe": recipe, "articles_done": 100, "worked_seconds": 660.0, "device": "2 x 1 CPU: Xeon on here"}
    return run_info(**(values | {"id": "r1", "summaries": 100 * described["rows"] // described["articles"]} | changes))


def found(planned: Plan, *runs: object, engine: Engine = "ray") -> Estimate:
    return estimate(planned, describe(planned), runs, engine)  # type: ignore[arg-type]


def test_the_time_is_a_range_from_earlier_runs() -> None:
    one = found(planned(), run_of(planned()))
    # A fifth of 660 s, or of 600 s after a minute that every run takes, and a machine may be busier or less busy.
    assert one.seconds == pytest.approx((0.8 * 132, 1.25 * (60 + 120)))
    assert one.basis == "r1: 100 articles in 11 min on 2 x 1 CPU: Xeon on here"
    assert found(planned(), run_of(planned()), run_of(planned(), worked_seconds=1320.0)) == one, "the newest counts"


@pytest.mark.parametrize(
    "changes",
    [
        {"device": "inline, 1 CPU thread: Xeon on here"},
        {"address": "http://head:8265"},
        {"state": "interrupted"},
        {"reused": 5},
        {"articles_done": 0},
        {"job": "baselines"},
        {"recipe": {}},
    ],
)
def test_of_other_runs_nothing_is_known(changes: dict[str, object]) -> None:
    unknown = found(planned(), run_of(planned(), **changes))
    assert unknown.seconds is None
    assert "Submit one with a small --limit" in unknown.basis


def test_where_a_run_would_run_decides() -> None:
    inline = run_of(planned(), device="inline, 1 CPU thread: Xeon on here")
    assert found(planned(), inline, engine="inline").seconds
    there = run_of(planned(), address="http://head:8265")
    assert found(planned(), there, engine="cluster").seconds
    assert found(planned(), run_of(planned()), engine="cluster").seconds is None
    on_t4 = planned(accelerator="T4")
    assert found(on_t4, run_of(planned())).seconds is None
    assert found(on_t4, run_of(on_t4, device="4 x 1/2 T4 GPU: Tesla T4 on a, b")).seconds


def test_the_study_is_estimated_from_other_cards() -> None:
    paper = load_recipe(Phase1Recipe, "paper", {})
    told = found(replace(planned(), recipe=paper))
    assert told.seconds == pytest.approx((20 / 27.1, 20 / 24.3))
    assert told.basis.startswith("an estimate from other cards")
    assert found(replace(planned(), recipe=paper.model_copy(update={"accelerator": "cpu"}))).seconds is None


def test_a_training_takes_as_long_for_any_articles_of_its_test() -> None:
    planned = plan_job("phase2", "sample", {"datasets.limit": 4})
    low, high = found(planned, run_of(planned, job="phase2", articles_done=2)).seconds or (0, 0)
    assert low <= 0.8 * 660
    assert high >= 1.25 * 660


def test_what_people_read() -> None:
    def printed(told: Estimate) -> list[str]:
        out = io.StringIO()
        print_estimate(told, Console(file=out, width=200))
        return out.getvalue().splitlines()

    assert printed(Estimate("unknown: no T4")) == ["time          unknown: no T4"]
    assert printed(Estimate("a run", (60.0, 7260.0))) == ["time          60 s to 2 h 1 min (a run)"]
