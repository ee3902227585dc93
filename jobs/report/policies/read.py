"""What the store has of a run that trains policies, read for its report."""

from collections.abc import Sequence

from core.analysis import Metric
from jobs.report.policies.numbers import PolicyResults
from jobs.store import RunInfo, Store


def policy_results(store: Store, run: RunInfo, metrics: Sequence[Metric]) -> PolicyResults:
    """Its test scores in `metrics`, which begin with `METRICS`, and its learning curve."""
    reward = run.signatures["reward"]
    return PolicyResults(
        points=store.points(run.id, metrics, repeated_words=True),
        curve=store.learning_curve(run.id),
        greedy=store.greedy_rewards(run.id),
        reward=reward,
        reward_is_f1=reward == run.signatures["bertscore"],
    )
