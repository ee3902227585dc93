"""`nws plan`: how many articles a study needs, by the articles of a small run."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from made_scores import make_scores
from system_kinds import kind_of

from core.types import Article, BundleResult, Score, Summary
from jobs.store import RunSpec, open_store

SIGNATURES = {"bertscore": "bertscore|model:org/m@1|layer:6", "rouge": "rouge|stem:no", "efficiency": "f1/words"}
GAINS = {"lexrank": 0.1, "textrank": 0.0, "lead": 0.0, "random": -0.05}
LENGTHS = (3, 7, 11)


@pytest.fixture
def add_run(nws, tmp_path: Path) -> Callable[..., str]:
    """Stores a run of 40 articles in which what is kept rises with n, in the command line's own store."""

    def add(systems: tuple[str, ...] = tuple(GAINS)) -> str:
        rng = np.random.default_rng(0)
        articles = [Article("news", "test", f"a{i}", f"The plan {i}.", (f"Plan {i}.",)) for i in range(40)]
        summaries = []
        for article in articles:
            own = rng.normal(0, 0.05)
            for system in systems:
                for n in LENGTHS:
                    value = float(0.1 + 0.03 * n + GAINS[system] + own + rng.normal(0, 0.05))
                    scores = make_scores(Score(value, value, value)) | {"kept": value}
                    summaries.append(Summary(article.id, system, n, f"{system} {n}", n, 0.1, scores))
        signatures = SIGNATURES | {"kept": "kept|ref:first"}
        with open_store(f"sqlite:///{tmp_path}/nws.db") as store:
            run = store.create_run(RunSpec("baselines", {}, "hash", 0, "v", {}, signatures, len(systems)))
            epoch = store.claim_run(run, "host", 1)
            store.writer(run, epoch).start(None, "v", {system: kind_of(system) for system in systems})
            store.writer(run, epoch).record([(articles, BundleResult(tuple(summaries), ()))])
            store.writer(run, epoch).finish("done")
        return run

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
        (pair,) = [pair for pair in plan["comparisons"] if pair["a"] == "random"]
        return [at["articles"] for at in pair["lengths"]]

    assert all(a < b for a, b in zip(to_tell(usual), to_tell(surer), strict=True))
    assert all(a < b for a, b in zip(to_tell(usual), to_tell(stricter), strict=True))
    one_step = [
        [row["articles_for_one_step"] for row in plan["smallest_n"] if row["n"] is not None] for plan in (usual, surer)
    ]
    assert all(a <= b for a, b in zip(*one_step, strict=True))
    assert one_step[0] != one_step[1]


def test_the_difference_that_matters_takes_the_place_of_that_seen(nws, add_run) -> None:
    add_run()
    plan = planned(nws, "--difference", ".02")
    assert plan["difference"] == 0.02
    articles = [at["articles"] for pair in plan["comparisons"] for at in pair["lengths"]]
    spreads = [at["spread"] for pair in plan["comparisons"] for at in pair["lengths"]]
    assert articles == [pytest.approx((2.802 * spread / 0.02) ** 2 + 1.92, abs=1) for spread in spreads]
    assert "a difference of 0.02" in nws("plan", "--difference", ".02").out


def test_a_difference_against_a_system_stands_in_brackets(nws, add_run) -> None:
    add_run()
    rows = {line.split()[0]: line.split()[1:] for line in nws("plan").out.splitlines() if line.strip()}
    assert not any("(" in cell for cell in rows["lexrank"])
    assert all(re.fullmatch(r"\([\d,]+\)\*?", cell) for cell in rows["random"][-3:])
    assert "In brackets: the system scored lower than lead." in " ".join(nws("plan").out.split())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--power", "80"], "Invalid value for '--power': "),
        (["--difference", "-1"], "Invalid value for '--difference': "),
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
