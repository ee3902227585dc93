import dataclasses
import json

import pytest
from policy_results import make_results

from nws.core.analysis import policy_scores
from nws.core.analysis.policy_scores import learning_lines
from nws.jobs.report.report_files import report_json


def test_the_numbers_are_those_of_the_analysis(run):
    results = make_results()
    trained = results.report(run).document.policies
    training = {(score.system, score.n): score.training_f1 for score in trained.scores if score.is_policy}
    assert training == {("policy|reinforce", n): pytest.approx(0.61) for n in (7, 9, 11, 13)}
    assert trained.scores == policy_scores(results.points, training)
    assert results.report(dataclasses.replace(run, seed=run.seed + 1)).document.policies == trained
    assert trained.learning == learning_lines(results.curve)
    assert (trained.scored, trained.seeds, trained.has_policies) == (("news",), (0, 1), True)


def test_json_holds_the_same_numbers(run):
    report = make_results().report(run)
    trained = report.document.policies
    values = json.loads(json.dumps(report_json(report), allow_nan=False))
    assert values["run"]["revisions"] == run.revisions
    found = values["policies"]
    assert (values["metric"], found["reward"]) == ("bertscore_f1", "bertscore_f1|tiny_L2")
    for told, score in zip(found["scores"], trained.scores, strict=True):
        assert (told["system"], told["n"], told["means"]) == (score.system, score.n, score.means)
        assert told["seeds"] == {str(seed): mean for seed, mean in score.seeds.items()}
        assert (told["gap_closed"], told["test_vs_training"]) == (score.gap_closed, score.test_vs_training)
        assert {name: versus["difference"]["low"] for name, versus in told["versus"].items()} == {
            name: versus.difference.low for name, versus in score.versus.items()
        }
    assert found["learning"][0]["reward"]["mean"] == list(trained.learning[0].reward.mean)
