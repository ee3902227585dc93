"""Why two systems, of one run or of two, cannot be compared at equal n."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from core.analysis import Points, short_articles
from jobs.store import RunInfo, Store
from jobs.terminal.numerals import counted
from jobs.terminal.system_names import SystemNames


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides of a comparison: runs, which may be the same, and their points.

    The points of run `b` are under the datasets and article ids of run `a`. The store is asked for the articles' keys
    only where a reason needs them.
    """

    store: Store
    a: RunInfo
    b: RunInfo
    points_a: Points
    points_b: Points
    names: SystemNames

    def why_not_compared(self, pair: tuple[str, str]) -> str:
        """Why no article has a summary by both systems at the same n. A phrase without a full stop."""
        points_a, points_b = _points_by(self.points_a, pair[0]), _points_by(self.points_b, pair[1])
        lengths_a, lengths_b = (set(points.n.tolist()) for points in (points_a, points_b))
        if not lengths_a & lengths_b:
            return f"{self._names(pair)[1]} has no n = {_listed(lengths_a)}, only n = {_listed(lengths_b)}"
        if not set(points_a.articles) & set(points_b.articles):
            return self._why_no_article(points_a, points_b, pair)
        common = _places(points_a) & _places(points_b)
        if not common:
            return "no article has a summary by both at the same n"
        unit = self.a.length_unit
        lacks = "has fewer words than" if unit == "words" else f"fits whole into the {unit} of"
        return f"every article of both {lacks} n = {_listed({n for _, _, n in common})}"

    def why_left_out(self, pair: tuple[str, str], dataset: str, lengths: Iterable[int]) -> tuple[str, ...]:
        """Why these n of a dataset take no part in the comparison of a pair: a sentence for each reason."""
        points_a, points_b = _points_by(self.points_a, pair[0]), _points_by(self.points_b, pair[1])
        has_a, has_b = (_lengths(points, dataset) for points in (points_a, points_b))
        short = {n for _, _, n in short_articles(self.points_a) | short_articles(self.points_b)}
        by_reason: dict[str, list[int]] = {}
        for n in lengths:
            if n not in has_a or n not in has_b:
                reason = f"{self._names(pair)[n in has_a]} has no n ="
            elif n in short:
                reason = "No article that both have is long enough for n ="
            else:
                reason = "No article has a summary by both at n ="
            by_reason.setdefault(reason, []).append(n)
        return tuple(
            f"{reason[0].upper()}{reason[1:]} {_listed(lengths_left_out)}."
            for reason, lengths_left_out in by_reason.items()
        )

    def _names(self, pair: tuple[str, str]) -> tuple[str, str]:
        """How the reader knows either side: by its system in a comparison within a run, else by its run."""
        return (
            (self.names[pair[0]], self.names[pair[1]])
            if self.a.id == self.b.id
            else (f"run {self.a.id}", f"run {self.b.id}")
        )

    def _why_no_article(self, points_a: Points, points_b: Points, pair: tuple[str, str]) -> str:
        name_a, name_b = self._names(pair)
        counts = f"{name_a} has {_counted(points_a)}, {name_b} has {_counted(points_b)}"
        if self.a.id == self.b.id or set(self.points_a.articles) & set(self.points_b.articles):
            return f"no article has a summary by both systems: {counts}"
        keys_a, keys_b = (set(self.store.article_keys(run.id).values()) for run in (self.a, self.b))
        if changed := keys_a & keys_b:
            dataset, key = min(changed)
            return (
                f"the articles' content differs: {counted(len(changed), 'article')} of equal keys, such as {key!r} of "
                f"{dataset}, with other texts or references"
            )
        return f"no article is in both: {counts}"


def _points_by(points: Points, system: str) -> Points:
    return points.take(np.array([name == system for name in points.systems], dtype=np.bool_)[points.system])


def _counted(points: Points) -> str:
    """How many articles, and of which datasets."""
    datasets = sorted({dataset for dataset, _ in points.articles})
    return f"{counted(len(points.articles), 'article')} of {', '.join(datasets)}"


def _lengths(points: Points, dataset: str) -> set[int]:
    in_dataset = np.array([article_dataset == dataset for article_dataset, _ in points.articles], dtype=np.bool_)
    return set(points.n[in_dataset[points.article]].tolist())


def _places(points: Points) -> set[tuple[str, str, int]]:
    articles = (points.articles[article] for article in points.article.tolist())
    return {(dataset, article, n) for (dataset, article), n in zip(articles, points.n.tolist(), strict=True)}


def _listed(lengths: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(lengths)))
