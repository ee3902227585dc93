import dataclasses
import json

import pytest
from made_scores import in_columns, kept_points, report_of, rescored

from nws.core.analysis import Points, compare_systems, magic_numbers, sweep_curves, uncut_scores
from nws.core.analysis.build_document import build_document, compared_metrics
from nws.core.analysis.content_kept import content_kept
from nws.core.errors import RecipeError
from nws.core.findings.report_document import ReportDocument
from nws.core.metrics.specs import METRICS
from nws.jobs.report.report_files import report_json
from nws.jobs.report.wording import warning_sentences

F1S = ("bertscore_f1", "rouge1_f1", "rouge2_f1", "rougel_f1")


def test_the_numbers_are_those_of_the_analysis(make_points):
    points = Points.together([make_points(), make_points(("bart",), (0,))])
    document = build_document(points)
    found = document.of_metric()
    assert found.curves == sweep_curves(points)
    assert found.magic_numbers == magic_numbers(points)
    assert found.uncut == uncut_scores(points)
    pairs = [(system, "lead") for system in ("bart", "m|textrank|chunks", "m|textrank|sentences")]
    compared = {of.metric: of.vs_lead for of in document.metrics if of.vs_lead}
    assert tuple(compared) == F1S
    for metric, vs_lead in compared.items():
        assert vs_lead == compare_systems(points, points, pairs, metric)
    kept = kept_points({"a": {3: 0.2, 7: 0.5}, "lead": {3: 0.1, 7: 0.2}})
    assert build_document(kept, "kept").kept == content_kept(kept)


def test_a_document_is_the_same_when_it_has_been_stored(make_points):
    for points, metric in ((make_points(short=(5,)), "bertscore_f1"), (kept_points({"a": {3: 0.2, 7: 0.5}}), "kept")):
        document = build_document(points, metric)
        assert ReportDocument.model_validate_json(document.model_dump_json()) == document


def test_a_document_does_not_grow_with_the_number_of_articles(make_points):
    small, large = (build_document(make_points(articles=n)).model_dump_json() for n in (30, 300))
    assert len(large) < 1.05 * len(small)
    assert '"0005"' not in small


def test_json_has_what_made_the_numbers_and_every_statement_in_words(run):
    points = kept_points({"a": {3: 0.2, 7: 0.5}, "lead": {3: 0.1, 7: 0.2}}, articles=12)
    report = json.loads(json.dumps(report_json(report_of(run, points, "kept")), allow_nan=False))
    assert report["run"]["seed"] == 7
    assert report["run"]["signatures"] == run.signatures
    assert report["version"] == 1
    assert report["statements"]["news"][0]["type"] == "headline"
    assert all(one["text"] for one in report["statements"]["news"] + report["warnings"]["news"])


@pytest.mark.parametrize("metric", ["rouge1_f1", "efficiency"])
def test_another_metric(run, list_points, metric):
    points = in_columns(rescored(p, rouge1_f1=p.scores["bertscore_f1"] / 2, efficiency=1 / p.n) for p in list_points())
    found = build_document(points, metric).of_metric()
    assert found.curves == sweep_curves(points, metric) != sweep_curves(points)
    assert found.magic_numbers == magic_numbers(points, metric)
    assert {of.metric for of in build_document(points, metric).metrics if of.vs_lead} >= {metric, *F1S}
    signed = dataclasses.replace(run, signatures={"rouge": "rouge|a", "bertscore": "b|c", "efficiency": "f1/words"})
    told = {"rouge1_f1": "rouge|a", "efficiency": "f1/words|b|c"}[metric]
    assert report_of(signed, points, metric).signature == told


def test_the_scores_that_a_metric_needs_are_those_it_is_compared_in(make_points):
    points = make_points(articles=12)
    for metric in METRICS:
        few = dataclasses.replace(points, scores={name: points.scores[name] for name in compared_metrics(metric)})
        assert build_document(few, metric).of_metric() == build_document(points, metric).of_metric()


def test_systems_that_write_fewer_words_are_named(run, list_points):
    made = list_points(("m", "other", "lead"), (7, 9), 60)
    shorter = (dataclasses.replace(point, words=8) if (point.system, point.n) == ("m", 9) else point for point in made)
    report = report_of(run, in_columns(shorter))
    assert list(warning_sentences(report.document, "news", report.names)) == [
        "m does not always write n words: a longer summary may score higher because of its length alone."
    ]


def test_verdicts_on_skewed_differences_are_named(run, make_points, list_points):
    def skewed(point, towards):
        first = point.article_id < "0003"
        return rescored(point, bertscore_f1=0.3 + towards * (point.system == "m") * (1 + 9 * first))

    made = list_points(("m", "lead", "random"), (7, 9))
    report = report_of(run, in_columns(skewed(point, 0.01 * (point.n == 7)) for point in made))
    assert list(warning_sentences(report.document, "news", report.names)) == [
        "The comparisons of m with random and m with lead are less reliable: the differences are skewed, and the error "
        "rate may exceed 7 % (too_skewed in report.json)."
    ]
    # Where there is no verdict there is nothing to warn of.
    few = list_points(("m", "lead", "random"), (7, 9), 19)
    report = report_of(run, in_columns(skewed(point, 0.01 * (point.n == 7)) for point in few))
    assert [one.type for one in report.document.warnings["news"]] == ["few_articles"]
    assert build_document(make_points(("lead",))).warnings["news"] == ()


@pytest.mark.parametrize(("candidates", "at"), [((1,), "shortest"), ((21,), "longest"), ((9,), None), ((19, 21), None)])
def test_where_the_only_n_left_is_an_end_of_those_tried(make_points, candidates, at):
    number = build_document(make_points(("a", "random"))).of_metric().magic_numbers[0]
    assert dataclasses.replace(number, recommended=candidates).edge == at


def test_of_very_many_summaries_magic_numbers_are_told_in_one_metric(make_points, monkeypatch):
    def told(metric):
        return [of.metric for of in build_document(make_points(), metric).metrics if of.magic_numbers]

    assert told("bertscore_f1") == list(F1S)
    monkeypatch.setattr("nws.core.analysis.build_document.MOST_FOR_ALL_METRICS", 100)
    assert told("rouge1_f1") == ["rouge1_f1"]


def test_a_claim_is_about_content_kept(make_points):
    kept = kept_points({"a": {1: 0.1, 3: 0.3, 5: 0.4, 7: 0.44}, "random": {1: 0.05, 3: 0.1, 5: 0.2, 7: 0.3}})
    assert build_document(kept, "kept", claim="3-5").claims[0].system == "a"
    for typed in ("", "7-", "-7", "13-7", "7-13-20", "7,13", "half"):
        with pytest.raises(RecipeError, match="A claim is one n, such as 9, or a range, such as 7-13, not"):
            build_document(kept, "kept", claim=typed)
    with pytest.raises(RecipeError, match="about content kept by n, which this run does not have"):
        build_document(make_points(), claim="7-13")
