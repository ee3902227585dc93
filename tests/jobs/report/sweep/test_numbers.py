import dataclasses
import json

import pytest
from made_scores import in_columns, rescored

from nws.core.analysis import Points, compare_systems, magic_numbers, sweep_curves, uncut_scores
from nws.core.errors import StoreError
from nws.core.metrics.specs import METRICS
from nws.jobs.report.sweep_numbers import analyse, cautions, compared_metrics, report_json


def test_the_numbers_are_those_of_the_analysis(run, make_points):
    points = Points.together([make_points(), make_points(("bart",), (0,))])
    numbers = analyse(run, points)
    assert numbers.curves == sweep_curves(points)
    assert numbers.magic_numbers == magic_numbers(points)
    assert numbers.uncut == uncut_scores(points)
    pairs = [(system, "lead") for system in ("bart", "m|textrank|chunks", "m|textrank|sentences")]
    for metric, found in numbers.vs_lead.items():
        assert found == compare_systems(points, points, pairs, metric)
    assert list(numbers.vs_lead) == ["bertscore_f1", "rouge1_f1", "rouge2_f1", "rougel_f1"]


def test_a_run_without_summaries_says_what_to_do(run):
    empty = dataclasses.replace(run, state="failed", articles_done=0)
    with pytest.raises(StoreError, match=r"Run 'p1-0421' \(failed\) has no summaries .* `nws resume p1-0421`"):
        analyse(empty, [])


def test_json_holds_the_same_numbers(run, make_points):
    points = Points.together([make_points(short=(5,)), make_points(("bart",), (0,))])
    numbers = analyse(run, points)
    report = json.loads(json.dumps(report_json(numbers), allow_nan=False))
    assert report["run"]["seed"] == 7
    assert report["run"]["signatures"] == run.signatures
    assert report["metric"] == "bertscore_f1"
    means = [[at["mean"] for at in curve["lengths"]] for curve in report["curves"]]
    assert means == [[at.mean for at in curve.lengths] for curve in numbers.curves]
    chunks, number = report["magic_numbers"][0], numbers.magic_numbers[0]
    assert (chunks["recommended"], chunks["verdict"]) == (list(number.recommended), number.verdict)
    assert chunks["best_per_article"]["shares"] == {str(n): s for n, s in number.best_per_article.items()}
    gain = chunks["gains_over_random"][4]
    assert (gain["gain"]["low"], gain["above_random"]) == (number.gains[4].gain.low, True)
    assert report["short_articles"] == [{"dataset": "news", "n": n, "articles": ["0005"]} for n in range(1, 22, 2)]
    vs_lead = next(one for one in report["vs_lead"] if one["metric"] == "bertscore_f1")
    assert [at["p_holm"] for at in vs_lead["lengths"]] == [
        at.p_holm for at in numbers.vs_lead["bertscore_f1"][0].lengths
    ]
    assert report["magic_numbers"][-1]["largest_gain_at"] is None
    assert report["uncut"][0]["words"] == 25


@pytest.mark.parametrize("metric", ["rouge1_f1", "efficiency"])
def test_another_metric(run, list_points, metric):
    points = in_columns(rescored(p, rouge1_f1=p.scores["bertscore_f1"] / 2, efficiency=1 / p.n) for p in list_points())
    numbers = analyse(run, points, metric)
    assert numbers.metric == metric
    assert numbers.curves == sweep_curves(points, metric) != sweep_curves(points)
    assert numbers.magic_numbers == magic_numbers(points, metric)
    assert metric in numbers.vs_lead
    assert {"bertscore_f1", "rouge1_f1", "rouge2_f1", "rougel_f1"} <= set(numbers.vs_lead)
    signed = dataclasses.replace(run, signatures={"rouge": "rouge|a", "bertscore": "b|c", "efficiency": "f1/words"})
    report = report_json(analyse(signed, points, metric))
    assert (report["metric"], report["signature"]) == (
        metric,
        {"rouge1_f1": "rouge|a", "efficiency": "f1/words|b|c"}[metric],
    )


def test_the_scores_that_a_report_needs_are_those_it_asks_for(run, make_points):
    points = make_points(articles=12)
    for metric in METRICS:
        read = dataclasses.replace(points, scores={name: points.scores[name] for name in compared_metrics(metric)})
        assert analyse(run, read, metric) == analyse(run, points, metric)


def test_verdicts_on_skewed_differences_are_named(run, make_points, list_points):
    def skewed(point, towards):
        first = point.article_id < "0003"
        return rescored(point, bertscore_f1=0.3 + towards * (point.system == "m") * (1 + 9 * first))

    warning = "Less sure, because the differences are skewed (wrong in perhaps more than 7 % of cases): "
    made = list_points(("m", "lead", "random"), (7, 9))
    told = cautions(analyse(run, in_columns(skewed(point, 0.01 * (point.n == 7)) for point in made)), "news")
    assert list(told) == [warning + "some verdicts on m over random and m vs. lead (report.json: too_skewed)."]
    # Where there is no verdict there is nothing to warn of.
    assert list(cautions(analyse(run, make_points(("lead",))), "news")) == []


@pytest.mark.parametrize(("candidates", "at"), [((1,), "shortest"), ((21,), "longest"), ((9,), None), ((19, 21), None)])
def test_json_says_where_the_only_n_left_is_an_end_of_those_tried(run, make_points, candidates, at):
    numbers = analyse(run, make_points(("a", "random")))
    first, *others = numbers.magic_numbers
    magic = (dataclasses.replace(first, recommended=candidates), *others)
    assert report_json(dataclasses.replace(numbers, magic_numbers=magic))["magic_numbers"][0]["at"] == at


def test_of_very_many_summaries_magic_numbers_are_told_in_one_metric(run, make_points, monkeypatch):
    assert len(analyse(run, make_points()).by_metric) == 4
    monkeypatch.setattr("nws.jobs.report.sweep_numbers.MOST_FOR_ALL_METRICS", 100)
    assert list(analyse(run, make_points(), "rouge1_f1").by_metric) == ["rouge1_f1"]
