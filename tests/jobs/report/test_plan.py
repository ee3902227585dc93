"""`nws plan`: how many articles a study needs, by the articles of a small run."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from served_runs import MadeRun

from jobs.store import open_store


@pytest.fixture
def add_run(nws, tmp_path: Path) -> Callable[..., str]:
    """Stores a run of 30 articles, of which lexrank keeps most, in the command line's own store."""

    def add(systems: tuple[str, ...] = ("lexrank", "textrank", "lead", "random")) -> str:
        with open_store(f"sqlite:///{tmp_path}/nws.db") as store:
            run = MadeRun(store, systems=systems, kept=True)
            run.write(30)
            return run.end()

    return add


def planned(nws, *options: str) -> dict:
    found = nws("plan", "--json", *options)
    assert found.code == 0, found.err
    return json.loads(found.out)


def test_what_is_printed_says_how_many_articles_and_for_what(nws, add_run) -> None:
    run = add_run()
    printed = nws("plan", run)
    assert printed.code == 0, printed.err
    lines = printed.out.splitlines()
    assert "news: articles for an interval of one step of n" in lines
    assert "news: articles to detect the observed difference from lead, at each n" in lines
    assert "80 % of studies" in printed.out
    assert "80%" not in printed.out
    assert max(map(len, lines)) <= 80
    assert nws("plan").out == printed.out  # of the newest run


def test_a_study_that_is_to_be_surer_needs_more_articles(nws, add_run) -> None:
    add_run()
    usual, surer, stricter = (planned(nws, *asked) for asked in ([], ["--power", ".95"], ["--alpha", ".01"]))

    def to_tell(plan: dict) -> list[int]:
        (pair,) = [pair for pair in plan["comparisons"] if pair["a"] == "textrank"]
        return [at["articles"] for at in pair["lengths"]]

    assert all(a < b for a, b in zip(to_tell(usual), to_tell(surer), strict=True))
    assert all(a < b for a, b in zip(to_tell(usual), to_tell(stricter), strict=True))
    one_step = [[row["articles_for_one_step"] for row in plan["smallest_n"]] for plan in (usual, surer)]
    assert all(a <= b for a, b in zip(*one_step, strict=True) if a and b)


def test_the_difference_that_matters_takes_the_place_of_that_seen(nws, add_run) -> None:
    add_run()
    plan = planned(nws, "--difference", ".02")
    assert plan["difference"] == 0.02
    articles = [at["articles"] for pair in plan["comparisons"] for at in pair["lengths"]]
    spreads = [at["spread"] for pair in plan["comparisons"] for at in pair["lengths"]]
    assert articles == [pytest.approx((2.802 * spread / 0.02) ** 2 + 1.92, abs=1) for spread in spreads]
    assert "a difference of 0.02" in nws("plan", "--difference", ".02").out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--power", "80"], "Invalid value for '--power': "),
        (["--metric", "rogue"], "There is no metric 'rogue' to plan by"),
    ],
)
def test_what_makes_no_sense_is_refused(nws, add_run, options: list[str], said: str) -> None:
    add_run()
    refused = nws("plan", *options)
    assert refused.code == 2
    assert said in " ".join(refused.err.split())


def test_a_run_without_lead_says_what_it_lacks(nws, add_run) -> None:
    assert "has no 'lead'" in " ".join(nws("plan", add_run(("lexrank", "random"))).err.split())
