"""What a run that trained policies has in the store, made up: a method is better the more it has learned."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from made_scores import Point, in_columns, point_scores, report_of
from system_kinds import kind_of

from nws.core.analysis.build_document import Training
from nws.core.analysis.points import Points
from nws.jobs.store import CurveRow, GreedyReward

METHODS = {"reinforce": 150}
DISTRACTORS = {"textrank": -0.02, "lead": -0.05, "lead2+chunks": 0.06, "oracle": 0.25}


@dataclass(frozen=True)
class Results:
    """The rows of a training: its summaries of test articles, and how it learned."""

    points: Points
    curve: Sequence[CurveRow]
    greedy: Sequence[GreedyReward]
    reward: str
    reward_is_f1: bool

    def report(self, run, metric="bertscore_f1"):
        """The report of a run with these rows."""
        training = Training(self.reward, self.reward_is_f1, self.curve, self.greedy)
        return report_of(run, self.points, metric, training)


def make_results(
    methods=METHODS, seeds=(0, 1), lengths=(7, 9, 11, 13), articles=40, others=DISTRACTORS, dataset="news", **changed
):
    """Of `methods` (to their number of updates) and `others` (to what they have over the usual F1)."""
    policies = {f"policy|{method}|seed={seed}": 0.08 for method in methods for seed in seeds}
    points = [
        point
        for i, (system, gain) in enumerate((policies | others).items())
        for point in _points(dataset, system, gain, lengths, articles, np.random.default_rng(i))
    ]
    results = {
        "points": in_columns(points),
        "curve": [
            row
            for method, updates in methods.items()
            for seed in seeds
            for n in lengths
            for row in _curve(method, seed, n, updates)
        ],
        "greedy": [
            GreedyReward(f"{method}|seed={seed}", seed, f"train-{article}", n, 0.6 + 0.01 * article)
            for method in methods
            for seed in seeds
            for n in lengths
            for article in range(3)
        ],
        "reward": "bertscore_f1|tiny_L2",
        "reward_is_f1": True,
    }
    return Results(**(results | changed))


def _points(dataset, system, gain, lengths, articles, rng):
    for n in lengths:
        for article in range(articles):
            f1 = float(0.45 + 0.01 * n + gain + rng.normal(0, 0.05))
            f1s = {"bertscore_f1": f1, "rouge1_f1": f1 / 2, "rouge2_f1": f1 / 5, "rougel_f1": f1 / 3}
            scores = point_scores(**f1s, efficiency=f1 / n, density=1.0, coverage=1.0)
            yield Point(dataset, f"{article:04d}", system, n, n, scores, kind_of(system), "a cat a dog")


def _curve(method, seed, n, updates):
    rng = np.random.default_rng([seed, n, updates])
    for update in range(updates):
        done = update / updates
        reward = float(0.4 + 0.01 * n + 0.1 * done + rng.normal(0, 0.02))
        baseline = 0.0 if method == "as-written" else reward
        yield CurveRow(f"{method}|seed={seed}", seed, n, update, 24, reward, 0.05, baseline, 2.2 - done, -9.0)
