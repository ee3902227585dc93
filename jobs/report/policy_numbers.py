"""The numbers of a report about trained policies, computed once for the tables, the figure and the files."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nws.core.analysis import Points, policy_scores
from nws.core.errors import StoreError
from nws.core.findings.content import KEPT
from nws.core.findings.policies import COMPARED, SystemScore, split_seed
from nws.core.findings.scores import Metric
from nws.core.learning.training_config import FLUENCY
from nws.core.metrics.specs import METRICS
from nws.core.types import POLICY
from nws.jobs.report.run_numbers import RunNumbers, interval_values, kind_flags, short_by_length, short_json
from nws.jobs.report.system_names import names_of
from nws.jobs.store import ArticleTexts, CurveRow, GreedyReward, RunInfo, Store

WINDOWS = 30
"""Points of a line. An update draws from few articles: unsmoothed, a curve shows which ones."""
_TENTHS = 10
EXAMPLES = 5
"""Articles of a dataset whose summaries stand beside the scores."""


@dataclass(frozen=True, slots=True)
class Band:
    """A mean over seeds, with the lowest and the highest seed, in each window of updates."""

    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class LearningLine:
    """The learning curve of a method's policies at n words.

    Attributes:
        system: the method, e.g. `policy|reinforce`.
        updates: how many the seed that is furthest has done.
        x: the middle of each window, in updates from 0. A window without an episode at this n is left out.
        reward: mean over a window's episodes, as are `advantage_baseline` and `entropy`.
        first_reward: mean over the first tenth of the updates and over the seeds.
        last_reward: the same of the last tenth.
    """

    system: str
    n: int
    seeds: tuple[int, ...]
    updates: int
    x: tuple[float, ...]
    reward: Band
    advantage_baseline: Band
    entropy: Band
    first_reward: float
    last_reward: float

    @property
    def has_baseline(self) -> bool:
        """Whether rewards were compared with a baseline. A baseline that is always 0 is none."""
        return any(self.advantage_baseline.low) or any(self.advantage_baseline.high)


@dataclass(frozen=True, slots=True)
class PolicyResults:
    """The rows of a training in the store.

    Attributes:
        points: its summaries of test articles, by policies and by the systems they are compared with, with their shares
            of repeated words.
        curve: its learning curves.
        greedy: rewards of the finished policies' greedy summaries of their training articles.
        reward: the signature of the reward.
        reward_is_f1: whether that is the run's BERTScore F1: only then training and test articles compare, in it.
        examples: of each dataset the first `EXAMPLES` test articles by their ids, which say nothing of what they tell.
    """

    points: Points
    curve: Sequence[CurveRow]
    greedy: Sequence[GreedyReward]
    reward: str
    reward_is_f1: bool
    examples: Sequence[ArticleTexts] = ()


@dataclass(frozen=True, slots=True)
class PolicyNumbers(RunNumbers[SystemScore]):
    """A run's scores on test articles, in `metric`, and how its policies learned. Either may be empty, not both.

    Attributes:
        kept: the scores in content kept, of articles that have it.
        fluency: the scores in fluency, where the run's recipe names a model for it.
        examples: some articles with their summaries.
    """

    reward: str
    reward_is_f1: bool
    learning: tuple[LearningLine, ...]
    kept: tuple[SystemScore, ...] = ()
    fluency: tuple[SystemScore, ...] = ()
    examples: tuple[ArticleTexts, ...] = ()

    @property
    def has_policies(self) -> bool:
        """Whether a policy was evaluated."""
        return any(score.is_policy for score in self.scores)

    def learned(self, system: str) -> str:
        """The name of a learning line's system, which has no decoding."""
        return self.names.shown.get(system, system.removeprefix(POLICY))

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of all policies."""
        seeds = {seed for score in self.scores for seed in score.seeds}
        return tuple(sorted(seeds | {seed for line in self.learning for seed in line.seeds}))


def score_rows(numbers: PolicyNumbers) -> list[dict[str, Any]]:
    """The scores of systems on test articles, a row each: `policies.csv`."""
    return [_score_row(numbers, score) for score in numbers.scores]


def _score_row(numbers: PolicyNumbers, score: SystemScore) -> dict[str, Any]:
    row = numbers.head(score) | {"comparable": int(score.comparable)} | interval_values("", score.score)
    row |= {
        "seeds": " ".join(map(str, score.seeds)),
        "seed_low": min(score.seeds.values(), default=None),
        "seed_high": max(score.seeds.values(), default=None),
        "seed_sd": score.seed_sd,
    }
    row |= {metric: score.means[metric] for metric in METRICS} | {"repeated_words": score.repeated_words}
    for rival in COMPARED:
        versus = score.versus.get(rival)
        row |= {f"vs_{rival}_articles": None if versus is None else versus.articles}
        row |= interval_values(f"vs_{rival}_", None if versus is None else versus.difference)
    return row | {
        "gap_closed": score.gap_closed,
        "training_f1": score.training_f1,
        "test_vs_training": score.test_vs_training,
    }


def policy_results(store: Store, run: RunInfo, metrics: Sequence[Metric]) -> PolicyResults:
    """Read a run that trains policies, with test scores in `metrics`, which begin with `METRICS`."""
    reward, points = run.signatures["reward"], store.points(run.id, metrics, repeated_words=True)
    return PolicyResults(
        points=points,
        curve=store.learning_curve(run.id),
        greedy=store.greedy_rewards(run.id),
        reward=reward,
        reward_is_f1=reward == run.signatures["bertscore"],
        examples=store.article_texts(run.id, _example_ids(points)),
    )


def _example_ids(points: Points) -> list[str]:
    by_dataset = groupby(sorted(points.articles), key=lambda article: article[0])
    return [article_id for _, articles in by_dataset for _, article_id in islice(articles, EXAMPLES)]


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
        kept=_scores_in(results.points, KEPT),
        fluency=_scores_in(results.points, FLUENCY),
        examples=tuple(results.examples),
        names=names_of([run], [score.system for score in scores] or [line.system for line in learning], labels),
    )


def _scores_in(points: Points, metric: Metric) -> tuple[SystemScore, ...]:
    if metric not in points.scores or not (has_any := ~np.isnan(points.scores[metric])).any():
        return ()
    return policy_scores(points.take(has_any), {}, metric)


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


def learning_lines(curve: Sequence[CurveRow]) -> tuple[LearningLine, ...]:
    """A line for each method and n, methods by name, n rising. The order of the rows does not matter."""
    updates: dict[str, int] = {}
    for row in curve:
        system = _system(row)
        updates[system] = max(updates.get(system, 0), row.update_number + 1)
    rows = sorted(curve, key=lambda row: (_system(row), row.n, row.seed, row.update_number))
    return tuple(
        _line(system, n, list(line_rows), updates[system])
        for (system, n), line_rows in groupby(rows, key=lambda row: (_system(row), row.n))
    )


def _system(row: CurveRow) -> str:
    return split_seed(POLICY + row.policy)[0]


def _line(system: str, n: int, rows: list[CurveRow], updates: int) -> LearningLine:
    count = min(WINDOWS, updates)
    reward, baseline, entropy = (
        _windows(rows, [getattr(row, name) for row in rows], updates, count)
        for name in ("reward", "advantage_baseline", "entropy")
    )
    seen = ~np.isnan(reward).all(axis=0)
    middles = (np.arange(count) + 0.5) * updates / count - 0.5
    tenths = _windows(rows, [row.reward for row in rows], updates, min(_TENTHS, updates))
    by_tenth = _band(tenths[:, ~np.isnan(tenths).all(axis=0)]).mean
    return LearningLine(
        system=system,
        n=n,
        seeds=tuple(sorted({row.seed for row in rows})),
        updates=updates,
        x=tuple(middles[seen].tolist()),
        reward=_band(reward[:, seen]),
        advantage_baseline=_band(baseline[:, seen]),
        entropy=_band(entropy[:, seen]),
        first_reward=by_tenth[0],
        last_reward=by_tenth[-1],
    )


def _windows(rows: Sequence[CurveRow], values: Sequence[float], updates: int, count: int) -> NDArray[np.float64]:
    """Means over the episodes of each of `count` equal windows: float64, (seeds, windows), NaN where there are none."""
    seeds = sorted({row.seed for row in rows})
    at = [seeds.index(row.seed) for row in rows], [row.update_number * count // updates for row in rows]
    episodes = np.array([row.episodes for row in rows], dtype=np.float64)
    sums, weights = np.zeros((2, len(seeds), count))
    np.add.at(sums, at, episodes * values)
    np.add.at(weights, at, episodes)
    return np.divide(sums, weights, out=np.full_like(sums, np.nan), where=weights > 0)


def _band(values: NDArray[np.float64]) -> Band:
    """Over seeds, those that have the window; every window has one."""
    return Band(*(tuple(over(values, axis=0).tolist()) for over in (np.nanmean, np.nanmin, np.nanmax)))
