"""The numbers of a report about trained policies, computed once for the tables, the figure and the files."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from core.analysis import (
    COMPARED,
    METRICS,
    POLICY,
    Interval,
    Metric,
    Point,
    Points,
    SystemScore,
    policy_scores,
    split_seed,
)
from core.errors import StoreError
from core.metrics.specs import BY_COLUMN, SPECS, MetricSpec
from jobs.report.policies.learning_curves import LearningLine, learning_lines
from jobs.report.run_numbers import RunNumbers, interval_columns, kind_flags, short_by_length, short_json
from jobs.store import CurveRow, GreedyReward, RunInfo, Store
from jobs.terminal.columns import ColumnSpec
from jobs.terminal.numerals import decimals
from jobs.terminal.system_names import names_of

_QUALITY_WIDTH = 8


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
class PolicyNumbers(RunNumbers[SystemScore]):
    """A run's scores on test articles, in `metric`, and how its policies learned. Either may be empty, not both."""

    reward: str
    reward_is_f1: bool
    learning: tuple[LearningLine, ...]

    @property
    def has_policies(self) -> bool:
        """Whether a policy was evaluated."""
        return any(score.is_policy for score in self.scores)

    def learned(self, system: str) -> str:
        """What the system of a learning line is called, which has no decoding."""
        return self.names.shown.get(system, system.removeprefix(POLICY))

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of all policies."""
        seeds = {seed for score in self.scores for seed in score.seeds}
        return tuple(sorted(seeds | {seed for line in self.learning for seed in line.seeds}))


def score_columns(numbers: PolicyNumbers) -> tuple[ColumnSpec[SystemScore], ...]:
    """The columns of `policies.csv`."""
    return (
        *numbers.head_columns(),
        ColumnSpec("comparable", lambda score: int(score.comparable)),
        *interval_columns("", lambda score: score.score),
        ColumnSpec("seeds", lambda score: " ".join(map(str, score.seeds))),
        ColumnSpec("seed_low", lambda score: min(score.seeds.values(), default=None)),
        ColumnSpec("seed_high", lambda score: max(score.seeds.values(), default=None)),
        ColumnSpec("seed_sd", lambda score: score.seed_sd),
        *(_metric_column(BY_COLUMN[metric]) for metric in METRICS),
        _REPEATED_WORDS,
        *(column for rival in COMPARED for column in _versus_columns(rival)),
        ColumnSpec("gap_closed", lambda score: score.gap_closed),
        ColumnSpec("training_f1", lambda score: score.training_f1),
        ColumnSpec("test_vs_training", lambda score: score.test_vs_training),
    )


def _metric_column(spec: MetricSpec) -> ColumnSpec[SystemScore]:
    return ColumnSpec(
        spec.column,
        lambda score: score.means[spec.column],
        (spec.short or spec.label).replace(" per ", "/"),  # as narrow as the column
        lambda score: decimals(score.means[spec.column], spec.decimals),
        width=_QUALITY_WIDTH,
        explained=f"{spec.label}: {spec.explained}" if spec.explained else "",
    )


_REPEATED_WORDS: ColumnSpec[SystemScore] = ColumnSpec(
    *("repeated_words", lambda score: score.repeated_words, "repeated\nwords"),
    shown=lambda score: f"{score.repeated_words:.1%}",
    width=_QUALITY_WIDTH,
)
QUALITIES = (*(_metric_column(spec) for spec in SPECS if spec.is_quality), _REPEATED_WORDS)
"""What tells how good summaries are beside the metric of a report."""


def _versus_columns(rival: str) -> tuple[ColumnSpec[SystemScore], ...]:
    def difference(score: SystemScore) -> Interval | None:
        return score.versus[rival].difference if rival in score.versus else None

    return (
        ColumnSpec(f"vs_{rival}_articles", lambda score: getattr(score.versus.get(rival), "articles", None)),
        *interval_columns(f"vs_{rival}_", difference),
    )


def policy_results(store: Store, run: RunInfo, metrics: Sequence[Metric]) -> PolicyResults:
    """Read a run that trains policies, with test scores in `metrics`, which begin with `METRICS`."""
    reward = run.signatures["reward"]
    return PolicyResults(
        points=store.points(run.id, metrics, repeated_words=True),
        curve=store.learning_curve(run.id),
        greedy=store.greedy_rewards(run.id),
        reward=reward,
        reward_is_f1=reward == run.signatures["bertscore"],
    )


def analyse_policies(
    run: RunInfo,
    results: PolicyResults,
    metric: Metric = "bertscore_f1",
    labels: Mapping[str, str] | None = None,
) -> PolicyNumbers:
    """The numbers of a report about `metric`; `labels` of systems go over those of the recipe.

    Raises:
        RecipeError: a label is of no system, or another system is called so.
        StoreError: the run has neither learning curve nor summaries yet, or the points are not those of one run.
    """
    if not len(results.points) and not results.curve:
        raise StoreError(
            f"Run {run.id!r} ({run.state}) has neither updates nor summaries to report. "
            f"See `nws status {run.id}`; continue it with `nws resume {run.id}`."
        )
    is_reward = results.reward_is_f1 and metric == "bertscore_f1"
    training_f1 = _training_means(results.greedy) if is_reward else {}
    scores, learning = policy_scores(results.points, training_f1, metric), learning_lines(results.curve)
    return PolicyNumbers(
        run=run,
        metric=metric,
        reward=results.reward,
        reward_is_f1=results.reward_is_f1,
        scores=scores,
        short=short_by_length(results.points),
        learning=learning,
        names=names_of([run], [score.system for score in scores] or [line.system for line in learning], labels),
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
        **numbers.head_json(),
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
