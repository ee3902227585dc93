"""What reports of sweeps and of trainings have in common: the run, mean scores by n, and short articles."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from nws.core.analysis import Points, short_articles
from nws.core.findings.comparisons import ALPHA
from nws.core.findings.policies import SystemScore
from nws.core.findings.scores import CONFIDENCE, Interval, Metric
from nws.core.text.length import LengthUnit
from nws.core.types import SystemKind
from nws.jobs.report.metric_names import metric_places, metric_signature
from nws.jobs.report.system_names import SystemNames
from nws.jobs.store import RunInfo

Short: TypeAlias = Mapping[tuple[str, int], tuple[str, ...]]
"""By dataset and n the ids of the articles that have fewer words, which a report leaves out at that n."""


@dataclass(frozen=True, slots=True)
class SweepScore:
    """A system of a sweep on the `articles` articles of a dataset at n words.

    Attributes:
        of_articles: how many articles any system has at this n.
        comparable: whether it may be compared with other systems at this n.
        words: mean number of words of the summaries. Most systems write n.
        score: the mean over articles, with its 95 % interval.
        gain: over `random` at equal n; None where there is nothing to compare with.
    """

    dataset: str
    system: str
    kind: SystemKind
    n: int
    articles: int
    of_articles: int
    comparable: bool
    words: float
    score: Interval
    gain: Interval | None


Score = TypeVar("Score", bound=SweepScore | SystemScore)


@dataclass(frozen=True, slots=True)
class RunNumbers(Generic[Score]):
    """A run's mean scores in `metric`, by dataset, system and n, and what it leaves out of them.

    Attributes:
        short: by dataset and n the ids of the articles that have fewer words, which are left out at that n.
        names: what its systems are called where people read.
    """

    run: RunInfo
    metric: Metric
    scores: tuple[Score, ...]
    short: Short
    names: SystemNames

    @property
    def signature(self) -> str:
        """Every option that made the numbers."""
        return metric_signature(self.run, self.metric)

    @property
    def places(self) -> int:
        """The decimals to print of a score."""
        return metric_places(self.metric)

    @property
    def scored(self) -> tuple[str, ...]:
        """Every dataset with scores, in alphabetical order."""
        return tuple(dict.fromkeys(score.dataset for score in self.scores))

    @property
    def kinds(self) -> dict[str, SystemKind]:
        """The kind of each system with scores."""
        return {score.system: score.kind for score in self.scores}

    def scores_of(self, dataset: str) -> list[Score]:
        """A dataset's scores."""
        return [score for score in self.scores if score.dataset == dataset]

    def of(self, dataset: str) -> Mapping[str, Mapping[int, Score]]:
        """A dataset's scores by system and n, in the order of `scores`."""
        by_system: dict[str, dict[int, Score]] = {}
        for score in self.scores_of(dataset):
            by_system.setdefault(score.system, {})[score.n] = score
        return by_system

    def other_lengths_of(self, dataset: str) -> dict[str, dict[int, float]]:
        """The mean number of words by system and n, for systems that do not always write n.

        Of all, where n counts characters.
        """
        words = {system: {n: score.words for n, score in at.items()} for system, at in self.of(dataset).items()}
        if self.run.length_unit != "words":
            return words
        return {system: by_n for system, by_n in words.items() if any(mean != n for n, mean in by_n.items())}

    def head_json(self) -> dict[str, Any]:
        """The origin of the numbers, with which a report in JSON begins."""
        return {
            "run": run_json(self.run),
            "metric": self.metric,
            "signature": self.signature,
            "confidence": CONFIDENCE,
            "alpha": ALPHA,
            "unit": self.run.length_unit,
            "labels": dict(self.names.shown),
        }

    def head(self, score: Score) -> dict[str, Any]:
        """The first columns of every row of scores in a file: the origin of a score, and its place."""
        return {
            "run": self.run.id,
            "metric": self.metric,
            "signature": self.signature,
            "dataset": score.dataset,
            "system": score.system,
            **{name: int(flag) for name, flag in kind_flags(score.kind).items()},
            "n": score.n,
            "articles": score.articles,
        }


def interval_values(prefix: str, interval: Interval | None) -> dict[str, float | None]:
    """A mean and the ends of its interval, for a file; None where there is none."""
    return {f"{prefix}{name}": getattr(interval, name, None) for name in ("mean", "low", "high")}


def run_json(run: RunInfo) -> dict[str, Any]:
    """The origin of the numbers as plain JSON values; `articles` and `failures` count those finished and lost."""
    names = ("id", "seed", "code_version", "signatures", "revisions", "device", "state")
    return {name: getattr(run, name) for name in names} | {"articles": run.articles_done, "failures": run.failures}


def kind_flags(kind: SystemKind) -> dict[str, bool]:
    """The kind of a system as two plain values."""
    return {"is_control": kind == "control", "is_upper_bound": kind == "upper bound"}


def short_by_length(points: Points) -> Short:
    short: dict[tuple[str, int], list[str]] = {}
    for dataset, article, n in sorted(short_articles(points)):
        short.setdefault((dataset, n), []).append(article)
    return {place: tuple(articles) for place, articles in short.items()}


def short_json(short: Short) -> list[dict[str, Any]]:
    return [{"dataset": dataset, "n": n, "articles": list(articles)} for (dataset, n), articles in short.items()]


def short_note(dataset: str, short: Short, unit: LengthUnit) -> str:
    """The note for a reader if a dataset has such articles."""
    counts = ", ".join(
        f"{len(articles)} at n = {n}"
        for (short_dataset, n), articles in sorted(short.items())
        if short_dataset == dataset
    )
    which = "with fewer than n words" if unit == "words" else f"that fit whole into n {unit}"
    return f"Articles {which} are left out at that n (report.json names them): {counts}."
