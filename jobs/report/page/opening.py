"""What the viewer shows first: the system and the n that the page's answer names."""

from collections.abc import Sequence

from core.analysis import Points
from core.analysis.policy_scores import split_seed
from jobs.report.page.archive import Opening
from jobs.report.policies.numbers import PolicyNumbers
from jobs.report.sweep import kept_answer
from jobs.report.sweep.numbers import Numbers


def opening(numbers: Numbers, policies: Sequence[PolicyNumbers], points: Points) -> Opening | None:
    """Of a training its best policy; of a sweep the system that keeps most; None where the answer names no n."""
    for trained in policies:
        if trained.has_policies:
            return _of_policies(trained, points)
    for dataset in numbers.datasets:
        ranked = kept_answer.ranked_systems(numbers.kept, dataset)
        if ranked and (n := kept_answer.named_length(numbers.kept, dataset)) is not None:
            return Opening(ranked[0], n)
    gains = [number for number in numbers.magic_numbers if number.kind == "system"]
    for number in sorted(gains, key=lambda number: not number.is_conclusive):
        if number.largest_gain is not None:
            return Opening(number.system, number.largest_gain.n)
    return None


def _of_policies(numbers: PolicyNumbers, points: Points) -> Opening:
    """A seed of the policy with the highest mean, at the middle of the lengths that policies write."""
    lengths = sorted({score.n for score in numbers.scores if score.is_policy})
    n = lengths[len(lengths) // 2]
    best = max(
        (score for score in numbers.scores if score.is_policy and score.n == n), key=lambda score: score.score.mean
    )
    at_n = {points.systems[s] for s in points.system[points.n == n].tolist()}
    seeds = sorted(system for system in at_n if split_seed(system)[0] == best.system)
    return Opening(seeds[0] if seeds else best.system, n)
