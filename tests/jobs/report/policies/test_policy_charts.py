"""How policies learned, as lines over updates."""

import pytest
from policy_results import make_results

from nws.core.analysis.points import Points
from nws.jobs.report.charts import mean_chart
from nws.jobs.report.policy_report import learning_charts, learning_sheet, policies_sheet
from nws.jobs.report.sweep_charts import run_looks


@pytest.fixture
def reported(run):
    return lambda **make: make_results(**({"points": Points.none()} | make)).report(run)


def names(charts):
    return [series.name for series in charts[0].series]


def test_each_method_has_a_line_and_its_baseline_in_the_reward(reported):
    made = reported()
    rewards, entropies = learning_charts(made)
    assert [chart.heading for chart in rewards] == [
        f"n = {n}" for n in sorted({line.n for line in made.document.policies.learning})
    ]
    assert names(rewards) == ["reinforce (mean of 2 seeds)", "advantage baseline"]
    assert names(entropies) == ["reinforce (mean of 2 seeds)"]
    line = made.document.policies.learning[0]
    assert [at.y for at in rewards[0].series[0].points] == list(line.reward.mean)
    assert [(at.low, at.high) for at in entropies[0].series[0].points] == [
        *zip(line.entropy.low, line.entropy.high, strict=True)
    ]
    sheet = learning_sheet(made)
    said = "; ".join((*sheet.notes, *sheet.made_by))
    for shown in ("p1-0421", "seed 0, 1", "0.1.0+gabc1234", "30 equal windows", "lowest to highest seed"):
        assert shown in said, shown


@pytest.mark.parametrize("methods", [{"reinforce": 30}, {"a": 30, "reinforce": 30}])
def test_a_system_looks_the_same_in_every_chart(run, methods):
    report = make_results(methods=methods).report(run)
    curves = report.document.of_metric().curves_of("news")
    charts = [mean_chart(report, "bertscore_f1", curves, run_looks(report))]
    charts += [
        chart for sheet in (policies_sheet(report), learning_sheet(report)) for row in sheet.rows for chart in row
    ]
    looks = {}
    for line in (line for chart in charts for line in chart.series):
        name = line.name.removesuffix(" (mean of 2 seeds)").removesuffix("|seed=0")
        looks.setdefault(name, set()).add((line.look.colour, line.look.dashes))
    assert {"textrank", "lead (control)", "oracle (oracle)", *methods} <= looks.keys()
    assert all(len(of_name) == 1 for of_name in looks.values())
    assert len(set.union(*looks.values())) == len(looks)


def test_methods_that_wrote_nothing_yet_look_different(reported):
    (rewards, *_), _ = learning_charts(reported(methods={"a": 30, "b": 30}))
    assert len({(line.look.colour, line.look.dashes) for line in rewards.series[:2]}) == 2


def test_a_baseline_of_zero_is_no_line(reported):
    assert names(learning_charts(reported(methods={"as-written": 40}))[0]) == ["as-written (mean of 2 seeds)"]
    both = names(learning_charts(reported(methods={"as-written": 40, "reinforce": 40}))[0])
    assert both[2:] == ["advantage baseline of reinforce"]
