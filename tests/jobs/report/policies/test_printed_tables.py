import dataclasses
import io
import re

import numpy as np
import pytest
from policy_results import DISTRACTORS, make_results
from rich.console import Console

from nws.core.analysis.points import Points
from nws.jobs.report.numerals import decimals, interval_text, signed
from nws.jobs.report.printed_report import print_full

PAD = "\N{NO-BREAK SPACE}"


@pytest.fixture
def show(run):
    def show(results, width=80, state="done"):
        out = io.StringIO()
        print_full(results.report(dataclasses.replace(run, state=state)), Console(file=out, width=width))
        return out.getvalue().replace(PAD, " ")

    return show


def lines_of(text, start, title):
    """Lines that begin with `start` in the section with `title`."""
    section = text[text.index(title) :].split("\n\n")[0]
    return [line for line in section.splitlines() if line.startswith(start)]


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("metric", ["bertscore_f1", "rouge1_f1"])
@pytest.mark.parametrize(
    "make",
    [
        {"lengths": tuple(range(1, 22, 2)), "methods": {"a-method-with-a-name-that-is-long|and-more": 2}},
        {"seeds": (1, 22, 333, 4444, 55555), "articles": 2},
        {"lengths": (7,), "articles": 1, "curve": []},
        {"others": {name: -1.9 for name in DISTRACTORS}, "dataset": "news[red]"},
    ],
)
def test_nothing_is_cropped_at_any_width(run, width, metric, make):
    out = io.StringIO()
    report = make_results(**make).report(run, metric)
    print_full(report, Console(file=out, width=width))
    text = out.getvalue()
    assert "…" not in text
    # Commands stay whole, so that they can be copied.
    assert max(len(line) for line in text.splitlines() if "nws report" not in line) <= width
    for score in report.document.policies.scores:
        assert decimals(score.score.mean) in text
        for value in (score.means["rouge1_f1"], score.means["rouge2_f1"], score.means["efficiency"]):
            assert decimals(value, 4 if value is score.means["efficiency"] else 3) in text


def test_beside_others_with_intervals_and_the_gap(run, show):
    results = make_results()
    at = results.report(run).document.policies.of("news")["policy|reinforce"]
    text = show(results)
    title = "news: reinforce, beside others at equal n"
    for other in ("lead2+chunks", "textrank", "lead"):
        (row,) = lines_of(text, f"vs. {other} (Δ) ", title)
        differences = [score.versus[other] for score in at.values()]
        assert row.split()[3:] == [signed(one.difference.mean) + "*" * one.significant for one in differences]
        intervals = text[text.index(row) :].splitlines()[1]
        assert re.split(r"\s{2,}", intervals.strip()) == [interval_text(one.difference) for one in differences]
    gaps = " ".join(f"{100 * score.gap_closed:.0f} %" for score in at.values())
    assert " ".join(lines_of(text, "gap closed ", title)[0].split()[2:]) == gaps
    assert lines_of(text, "training F1", title)[0].split()[2:] == [".610"] * 4
    gap = [float(cell) for cell in lines_of(text, "vs. training F1 (Δ)", title)[0].split()[4:]]
    assert gap == pytest.approx([score.test_vs_training for score in at.values()], abs=6e-4)
    assert "beside others" not in show(make_results(others={}, greedy=[], seeds=(0,)))


def test_other_qualities_at_each_n(run, show):
    results = make_results()
    scores = results.report(run).document.policies.of("news")
    text = show(results)
    section = text[text.index("news: other metrics of quality") :].split("\n\n")[0]
    found = [line.split()[1] for line in section.splitlines() if line.startswith("reinforce")]
    assert found == ["7", "9", "11", "13"]
    first = next(line for line in section.splitlines() if line.startswith("reinforce"))
    at = scores["policy|reinforce"][7]
    assert first.split()[2:] == [
        *(decimals(value) for value in (at.means["rouge1_f1"], at.means["rouge2_f1"], at.means["rougel_f1"])),
        *(decimals(at.means["efficiency"], 4), "1.000", "25.0", "%"),
    ]


def test_a_run_that_stopped_before_evaluation_says_how_to_go_on(show):
    text = show(make_results(points=Points.none(), greedy=[]), state="interrupted")
    assert "Mean reward while learning" in text
    assert re.search(r"^reinforce +150 +\.\d{3} → \.\d{3}", text, re.MULTILINE)
    assert "test articles" not in text
    assert "No policy is evaluated yet: the run is interrupted." in text
    assert "resume it: nws resume p1-0421" in " ".join(text.split())


def test_every_part_of_a_reward_is_told_without_versions(show):
    reward = "1 * bertscore|layer:6|transformers:5.23.0 + 0.1 * fluency|SLOR|version:1"
    assert "Reward: 1 * bertscore | layer:6 + 0.1 * fluency | SLOR\n" in show(
        make_results(reward=reward, reward_is_f1=False)
    )


def test_what_the_reader_must_know(show):
    text = show(make_results())
    for told in (
        "Run p1-0421: done, 40 articles, 2 failed, seeds 0, 1",
        "Reward: this metric",
        "do not include the variation between seeds",
        "This metric does not measure fluency",
        "“vs. training F1” below 0",
    ):
        assert told in text
    assert "understate the uncertainty" not in text
    assert "No policy is evaluated" not in text
    assert "With 3 articles, no interval is printed" in show(make_results(articles=3))
    other = show(make_results(reward_is_f1=False))
    assert "The reward is not this metric" in other
    assert "training F1" not in other


def test_a_short_table_with_a_row_for_each_seed_says_so(show):
    _, _, table = show(make_results(seeds=(0, 1))).partition("news: mean BERTScore F1 (40 articles)")
    assert "Here each seed of a trained policy is one system." in table.partition("Run p1-0421")[0]


def test_articles_shorter_than_n_are_left_out_and_said(show):
    results = make_results(articles=6)
    points = results.points
    is_short = np.array([article < "0002" for _, article in points.articles])[points.article]
    short = dataclasses.replace(points, words=np.where(is_short, 5, points.words))
    text = show(dataclasses.replace(results, points=short), width=200)
    assert "news: mean BERTScore F1 by n on 4 test articles" in text
    assert "2 at n = 7, 2 at n = 9, 2 at n = 11, 2 at n = 13." in text
    everywhere = show(
        dataclasses.replace(results, points=dataclasses.replace(points, words=np.full_like(points.words, 5)))
    )
    assert "No policy is evaluated" not in everywhere
