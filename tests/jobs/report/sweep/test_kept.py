"""Content kept in a report: what of it is there, and its JSON."""

import json

from made_scores import kept_points

from core.analysis.answer import Answer
from core.analysis.content_kept import content_kept
from jobs.report.sweep.numbers import analyse, curve_rows, report_json

SHARES = {"a": {3: 0.3, 7: 0.42, 21: 0.55}, "random": {3: 0.1, 7: 0.2, 21: 0.3}, "person": {0: 0.6, 3: 0.4}}


def test_a_report_has_the_answer_of_the_analysis(run):
    points = kept_points(SHARES)
    report = json.loads(json.dumps(report_json(analyse(run, points))))
    assert list(report)[7:9] == ["kept", "curves"]  # behind what made the numbers
    found = content_kept(points)
    assert [(of["system"], of["of"]) for of in report["kept"]] == [(of.system, of.of) for of in found]
    (told,) = (of for of in report["kept"] if (of["system"], of["of"]) == ("a", "reference"))
    (kept,) = (of for of in found if (of.system, of.of) == ("a", "reference"))
    assert (told["dataset"], told["longest"], told["is_control"], told["articles"]) == ("news", 21, False, 60)
    at = kept.lengths[1]
    assert told["lengths"][1] == {
        "n": 7, "share": at.share.mean, "low": at.share.low, "high": at.share.high, "articles": 60
    }  # fmt: skip
    half = kept.by_share[0.5]
    assert told["smallest_n"]["0.5"] == {
        "n": half.n, "low": half.low, "high": half.high, "claimed": half.claimed, "at": "longest",
        "articles_for_one_step": half.articles_for_one_step,
    }  # fmt: skip
    assert half.n == 21
    assert list(told["smallest_n"]) == ["0.25", "0.5", "0.8", "0.9"]
    assert told["smallest_n"]["0.9"]["n"] is None


def test_a_run_without_the_metric_has_none(run, make_points):
    numbers = analyse(run, make_points())
    assert numbers.kept == Answer()
    assert report_json(numbers)["kept"] == []
    assert not any(name.startswith("kept") for row in curve_rows(numbers) for name in row)


def test_curves_have_the_share_of_the_reference_beside_the_mean(run):
    numbers = analyse(run, kept_points(SHARES))
    (row,) = (row for row in curve_rows(numbers) if (row["system"], row["n"]) == ("a", 7))
    assert list(row)[-3:] == ["kept", "kept_low", "kept_high"]
    low, mean, high = (row[name] for name in ("kept_low", "kept", "kept_high"))
    assert low < mean < high
    assert abs(mean - 0.42) < 1e-9
