"""Scores of a summary, by column, of every stored metric; and points that are made one by one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from system_kinds import kind_of

from nws.core.analysis import Points
from nws.core.analysis.build_document import build_document
from nws.core.analysis.points import text_keys
from nws.core.metrics.specs import METRICS, SPECS, Metric, as_columns
from nws.core.text.length import repeated_word_share
from nws.core.types import Score, SystemKind
from nws.jobs.report.run_report import RunReport
from nws.jobs.report.system_names import names_of


def make_scores(*parts: Score, **others: float) -> dict[str, float]:
    """Of the metrics with parts `parts` in their order, the last for all that follow; of others 1 unless given."""
    rest = list(parts)
    in_parts = {spec.name: rest.pop(0) if len(rest) > 1 else rest[0] for spec in SPECS if spec.has_parts}
    return as_columns({**{spec.name: 1.0 for spec in SPECS}, **in_parts, **others})


def point_scores(**given: float) -> dict[str, float]:
    """Those of a point: 0 if not given."""
    return dict.fromkeys(METRICS, 0.0) | given


@dataclass(frozen=True, slots=True)
class Point:
    """One scored summary: what `system` wrote for an article when asked for `n` words (0: uncut)."""

    dataset: str
    article_id: str
    system: str
    n: int
    words: int
    scores: Mapping[Metric, float]
    kind: SystemKind = "system"
    text: str | None = None


def in_columns(points: Iterable[Point]) -> Points:
    """Points as the analysis reads them. If the points of a system differ in kind, the last one counts."""
    points = list(points)
    kinds = {point.system: point.kind for point in points}
    metrics = points[0].scores if points else METRICS
    articles = list(dict.fromkeys((point.dataset, point.article_id) for point in points))
    row = {system: i for i, system in enumerate(kinds)}
    depth = {article: i for i, article in enumerate(articles)}
    return Points(
        systems=tuple(kinds),
        kinds=tuple(kinds.values()),
        articles=tuple(articles),
        system=np.array([row[point.system] for point in points], dtype=np.int32),
        article=np.array([depth[point.dataset, point.article_id] for point in points], dtype=np.int32),
        n=np.array([point.n for point in points], dtype=np.int32),
        words=np.array([point.words for point in points], dtype=np.int32),
        text=text_keys([point.text for point in points]),
        scores={name: np.array([point.scores[name] for point in points], dtype=np.float64) for name in metrics},
        repeated_words=np.array([repeated_word_share(point.text or "") for point in points], dtype=np.float64),
    )


def rescored(point: Point, **scores: float) -> Point:
    """The point with other scores by some metrics."""
    return replace(point, scores={**point.scores, **scores})


def kept_points(
    shares: Mapping[str, Mapping[int, float]], articles: int = 60, spread: float = 0.1, dataset: str = "news"
) -> Points:
    """The points of `list_kept_points` as the analysis reads them."""
    return in_columns(list_kept_points(shares, articles, spread, dataset))


def list_kept_points(
    shares: Mapping[str, Mapping[int, float]], articles: int = 60, spread: float = 0.1, dataset: str = "news"
) -> list[Point]:
    """A sweep whose systems keep exactly these mean shares at these n, each article more or less than that at all n."""
    noise = np.random.default_rng(3).normal(0, spread, articles) if articles > 1 else np.zeros(1)
    noise -= noise.mean()
    return [
        Point(
            *(dataset, f"{article:04d}", system, n, n or 25),
            point_scores(kept=share + float(noise[article]), bertscore_f1=0.3 + share / 2, density=1.0, coverage=1.0),
            kind_of(system),
            f"{system} {n}",
        )
        for system, at in shares.items()
        for n, share in at.items()
        for article in range(articles)
    ]


def report_of(run, points, metric="bertscore_f1", training=None, labels=None):
    """The report of made-up points, as `read_report` gives that of a stored run."""
    document = build_document(points, metric, training)
    systems = {*document.kinds}
    if trained := document.policies:
        systems |= {score.system for score in trained.scores} | {line.system for line in trained.learning}
    return RunReport(run, document, names_of([run], systems, labels))
