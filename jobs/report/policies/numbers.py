"""The numbers of a report about trained policies, computed once for the tables, the figure and the files."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

from core.analysis import POLICY, Metric, Point, Points, SystemScore, policy_scores, split_seed
from core.analysis.intervals import CONFIDENCE
from core.analysis.paired import ALPHA
from core.errors import StoreError
from jobs.report.policies.learning_curves import LearningLine, learning_lines
from jobs.report.run_facts import Short, kind_flags, run_json, short_by_length, short_json
from jobs.store import CurveRow, GreedyReward, RunInfo
from jobs.terminal.metrics import metric_signature


@dataclass(frozen=True, slots=True)
class PolicyResults:
    """What a run that trains policies has in the store.

    Attributes:
        points: its summaries of test articles, by policies and by the systems they are compared with, with their shares
            of repeated words.
        curve: its learning curves.
        greedy: rewards of the finished policies' greedy summaries of their training articles.
        reward: the signature of the reward.
        reward_is_f1: whether that is the run's BERTScore F1: only then training and test articles compare, in it.
    """

    points: Points | Sequence[Point]
    curve: Sequence[CurveRow]
    greedy: Sequence[GreedyReward]
    reward: str
    reward_is_f1: bool


@dataclass(frozen=True, slots=True)
class PolicyNumbers:
    """A run's scores on test articles, in `metric`, and how its policies learned. Either may be empty, not both."""

    run: RunInfo
    metric: Metric
    reward: str
    reward_is_f1: bool
    scores: tuple[SystemScore, ...]
    short: Short
    learning: tuple[LearningLine, ...]

    @property
    def datasets(self) -> tuple[str, ...]:
        """Every dataset of the test articles, in alphabetical order."""
        return tuple(dict.fromkeys(score.dataset for score in self.scores))

    @property
    def has_policies(self) -> bool:
        """Whether a policy was evaluated."""
        return any(score.is_policy for score in self.scores)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of all policies."""
        seeds = {seed for score in self.scores for seed in score.seeds}
        return tuple(sorted(seeds | {seed for line in self.learning for seed in line.seeds}))

    def other_lengths_of(self, dataset: str) -> dict[str, dict[int, float]]:
        """By system and n the mean number of words, of those systems that do not always write n."""
        words = {system: {n: score.words for n, score in at.items()} for system, at in self.of(dataset).items()}
        return {system: by_n for system, by_n in words.items() if any(mean != n for n, mean in by_n.items())}

    def of(self, dataset: str) -> Mapping[str, Mapping[int, SystemScore]]:
        """A dataset's scores by system and n, in the order of `scores`."""
        by_system: dict[str, dict[int, SystemScore]] = {}
        for score in self.scores:
            if score.dataset == dataset:
                by_system.setdefault(score.system, {})[score.n] = score
        return by_system


def highest_means(scores: Mapping[str, Mapping[int, SystemScore]], places: int) -> dict[int, float]:
    """The highest mean at each n, to the decimals that are shown. Upper bounds take no part: they saw the reference."""
    best: dict[int, float] = {}
    for at in scores.values():
        for n, score in at.items():
            if score.kind != "upper bound" and score.comparable:
                best[n] = max(best.get(n, -inf), round(score.score.mean, places))
    return best


def analyse_policies(run: RunInfo, results: PolicyResults, metric: Metric = "bertscore_f1") -> PolicyNumbers:
    """The numbers of a report about `metric`.

    Raises:
        StoreError: the run has neither learning curve nor summaries yet, or the points are not those of one run.
    """
    if not len(results.points) and not results.curve:
        raise StoreError(
            f"Run {run.id!r} ({run.state}) has neither updates nor summaries to report. "
            f"See `nws status {run.id}`; continue it with `nws resume {run.id}`."
        )
    is_reward = results.reward_is_f1 and metric == "bertscore_f1"
    training_f1 = _training_means(results.greedy) if is_reward else {}
    return PolicyNumbers(
        run=run,
        metric=metric,
        reward=results.reward,
        reward_is_f1=results.reward_is_f1,
        scores=policy_scores(results.points, training_f1, metric),
        short=short_by_length(results.points),
        learning=learning_lines(results.curve),
    )


def _training_means(greedy: Sequence[GreedyReward]) -> dict[tuple[str, int], float]:
    """Mean reward on training articles by system (without seed) and n."""
    rewards: dict[tuple[str, int], list[float]] = {}
    for row in greedy:
        rewards.setdefault((split_seed(POLICY + row.policy)[0], row.n), []).append(row.reward)
    return {key: sum(sorted(values)) / len(values) for key, values in rewards.items()}


def policies_json(numbers: PolicyNumbers) -> dict[str, Any]:
    """The report as plain JSON values. Intervals are 95 % Student's t intervals over articles."""
    return {
        "run": run_json(numbers.run),
        "metric": numbers.metric,
        "signature": metric_signature(numbers.run, numbers.metric),
        "confidence": CONFIDENCE,
        "alpha": ALPHA,
        "reward": numbers.reward,
        "reward_is_f1": numbers.reward_is_f1,
        "scores": [_score_json(score) for score in numbers.scores],
        "short_articles": short_json(numbers.short),
        "learning": [asdict(line) for line in numbers.learning],
    }


def _score_json(score: SystemScore) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in asdict(score).items():
        values |= value if name == "means" else {name: value}
    kind = values.pop("kind")
    return {
        **values,
        **kind_flags(kind),
        "seeds": {str(seed): mean for seed, mean in score.seeds.items()},
        "seed_sd": score.seed_sd,
        "test_vs_training": score.test_vs_training,
    }
