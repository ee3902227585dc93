"""Trained policies: their scores on test articles beside other systems, and how they learned."""

import re
import statistics
from collections.abc import Iterator, Mapping

from pydantic import computed_field
from pydantic.dataclasses import dataclass

from nws.core.findings.comparisons import PairedLength
from nws.core.findings.scores import Curve, CurvePoint, Interval
from nws.core.metrics.specs import Metric
from nws.core.types import LEAD, POLICY, UNTRAINED, SystemKind

TEXTRANK = "textrank"
ORACLE = "oracle"
LEAD_SEARCH = "lead3-search"
COMPARISON_SYSTEMS = (UNTRAINED, "lead2+chunks", LEAD_SEARCH, TEXTRANK, LEAD)
"""The systems that others are compared with. `UNTRAINED`, which writes as policies do, is for policies alone."""

WINDOWS = 30
"""The number of points of a learning curve. Unsmoothed, a curve would show which few articles an update drew."""
_SEED = re.compile(r"(policy\|.+)\|seed=(-?\d+)(?:\|n=\d+)?")


def split_seed(name: str) -> tuple[str, int | None]:
    """Split the name of a policy into system and seed: `policy|reinforce|seed=0` is (`policy|reinforce`, 0).

    A final `|n=7`, which marks one of several parts, is left out. Any other name is returned as it is, without a seed.
    """
    match = _SEED.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, None)


def compared_with(system: str) -> Iterator[str]:
    """Yield the signatures of the systems of `COMPARISON_SYSTEMS` that a system is compared with."""
    for name in COMPARISON_SYSTEMS:
        if name != UNTRAINED:
            yield name
        elif system.startswith(POLICY):
            _, _, *decoding = system.split("|")
            yield "|".join((UNTRAINED, *(decoding or ["greedy"])))  # the names of greedy policies have none


@dataclass(frozen=True, slots=True)
class SystemScore:
    """A system on the `articles` test articles of a dataset at n words: means over articles.

    Attributes:
        score: the mean of the metric that `policy_scores` was asked for, with its 95 % interval over articles.
        seeds: for a policy, the mean score of each seed; empty for any other system. This and all other numbers are
            over the articles for which all seeds have a summary.
        means: the mean over seeds and articles of each of `METRICS`.
        words: the mean number of words of the summaries. Most systems write n.
        repeated_words: the share of words that occurred earlier in the summary (`repeated_word_share`).
        comparable: whether the system may be compared with the others at this n. All comparable systems have the same
            articles (`comparable_articles`), any other system has all of its own.
        versus: this system minus each other of `COMPARISON_SYSTEMS`, by name, paired over the articles that both have.
            Empty for an oracle.
        gap_closed: the share of the way from `textrank` to `oracle`, (score - textrank's) / (oracle's - textrank's),
            over the articles that all three have. None for these two systems, where one of them is missing, and where
            the oracle is not above textrank.
        training_f1: the mean F1 on the articles that the policy learned from; None where it is not known.
    """

    dataset: str
    system: str
    kind: SystemKind
    n: int
    articles: int
    score: Interval
    seeds: Mapping[int, float]
    means: Mapping[Metric, float]
    words: float
    repeated_words: float
    comparable: bool
    versus: Mapping[str, PairedLength]
    gap_closed: float | None
    training_f1: float | None

    @property
    def is_policy(self) -> bool:
        return bool(self.seeds)

    @computed_field
    @property
    def seed_sd(self) -> float | None:
        """Standard deviation of the seeds' means (n - 1); None for fewer than two seeds."""
        return statistics.stdev(self.seeds.values()) if len(self.seeds) > 1 else None

    @computed_field
    @property
    def test_vs_training(self) -> float | None:
        return None if self.training_f1 is None else self.means["bertscore_f1"] - self.training_f1


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
        updates: the number of updates that the furthest seed has done.
        x: the middle of each window, in updates from 0. A window without an episode at this n is left out.
        reward: the mean reward over a window's episodes; `advantage_baseline` and `entropy` likewise.
        first_reward: the mean reward over the first tenth of the updates and over the seeds.
        last_reward: the mean reward over the last tenth of the updates and over the seeds.
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
        """Whether rewards were compared with a baseline. One that is always 0 does not count."""
        return any(self.advantage_baseline.low) or any(self.advantage_baseline.high)


@dataclass(frozen=True, slots=True)
class PolicyFindings:
    """The scores of trained policies on test articles, and their learning curves. One of the two may be empty.

    Attributes:
        metric: the metric of `scores`.
        reward: the signature of the reward.
        reward_is_f1: whether the reward is the run's BERTScore F1. Only then, and only in this metric, are training and
            test articles compared.
        scores: the scores in `metric`; `kept` and `fluency`: in content kept and fluency, where the run has them.
        learning: the learning curves.
    """

    metric: Metric
    reward: str
    reward_is_f1: bool
    scores: tuple[SystemScore, ...]
    kept: tuple[SystemScore, ...]
    fluency: tuple[SystemScore, ...]
    learning: tuple[LearningLine, ...]

    @property
    def scored(self) -> tuple[str, ...]:
        """Datasets with scores, in alphabetical order."""
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

    def of(self, dataset: str) -> dict[str, dict[int, SystemScore]]:
        """Return the scores on a dataset by system and n."""
        by_system: dict[str, dict[int, SystemScore]] = {}
        for score in self.scores:
            if score.dataset == dataset:
                by_system.setdefault(score.system, {})[score.n] = score
        return by_system

    def policies_of(self, dataset: str) -> dict[str, dict[int, SystemScore]]:
        """Return the scores of policies alone."""
        return {system: at for system, at in self.of(dataset).items() if any(score.is_policy for score in at.values())}

    def best_policy(self, dataset: str | None = None) -> SystemScore | None:
        """Return the policy with the highest mean at the middle of the lengths that policies write, if there is any."""
        policies = [score for score in self.scores if score.is_policy and dataset in (None, score.dataset)]
        lengths = sorted({score.n for score in policies})
        at_middle = [score for score in policies if score.n == lengths[len(lengths) // 2]]
        return max(at_middle, key=lambda score: score.score.mean, default=None)

    def curves(self, dataset: str) -> tuple[Curve, ...]:
        """Return the scores on a dataset as curves by n."""
        return tuple(
            Curve(dataset, system, next(iter(at.values())).kind, tuple(map(_curve_point, at.values())))
            for system, at in self.of(dataset).items()
        )


def _curve_point(score: SystemScore) -> CurvePoint:
    mean, articles = score.score, score.articles
    return CurvePoint(mean.mean, mean.low, mean.high, score.n, articles, articles, score.comparable, score.words)
