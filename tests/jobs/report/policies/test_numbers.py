import dataclasses
import json

import pytest
from policy_results import make_results

from nws.core.analysis import policy_scores
from nws.core.analysis.points import Points
from nws.core.errors import StoreError
from nws.jobs.report.policy_numbers import analyse_policies, learning_lines, policies_json


def test_the_numbers_are_those_of_the_analysis(run):
    results = make_results()
    numbers = analyse_policies(run, results)
    training = {(score.system, score.n): score.training_f1 for score in numbers.scores if score.is_policy}
    assert training == {("policy|reinforce", n): pytest.approx(0.61) for n in (7, 9, 11, 13)}
    assert numbers.scores == policy_scores(results.points, training)
    assert analyse_policies(dataclasses.replace(run, seed=run.seed + 1), results).scores == numbers.scores
    assert numbers.learning == learning_lines(results.curve)
    assert (numbers.scored, numbers.seeds, numbers.has_policies) == (("news",), (0, 1), True)


def test_a_run_without_anything_says_what_to_do(run):
    with pytest.raises(StoreError, match=r"Run 'p1-0421' \(done\) has neither .* `nws resume p1-0421`"):
        analyse_policies(run, make_results(points=Points.none(), greedy=[], curve=[]))


def test_json_holds_the_same_numbers(run):
    numbers = analyse_policies(run, make_results())
    report = json.loads(json.dumps(policies_json(numbers), allow_nan=False))
    assert report["run"]["revisions"] == run.revisions
    assert (report["metric"], report["reward"]) == ("bertscore_f1", "bertscore_f1|tiny_L2")
    for found, score in zip(report["scores"], numbers.scores, strict=True):
        assert (found["system"], found["n"], found["bertscore_f1"]) == (
            score.system,
            score.n,
            score.means["bertscore_f1"],
        )
        assert found["seeds"] == {str(seed): mean for seed, mean in score.seeds.items()}
        assert found["gap_closed"] == score.gap_closed
        assert found["test_vs_training"] == score.test_vs_training
        assert {name: versus["difference"]["low"] for name, versus in found["versus"].items()} == {
            name: versus.difference.low for name, versus in score.versus.items()
        }
    assert [found["is_upper_bound"] for found in report["scores"]] == [False] * 16 + [True] * 4
    assert all("kind" not in found for found in report["scores"])
    assert report["learning"][0]["reward"]["mean"] == list(numbers.learning[0].reward.mean)
