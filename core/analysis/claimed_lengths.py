"""Is there a magic number? What one system's articles say of a claim such as "7 to 13 words".

Content kept rises with n, so no n is best by itself, and an elbow of its curve moves once longer n are tried. These are
reported instead:

- in each metric, the n with the largest gain over `random`, and the n that do not gain significantly less
  (`nws.core.analysis.gain_over_random`);
- the smallest n that keeps `OF_LONGEST` of what the longest n keeps, also if an earlier n is taken as the longest;
- what each additional word keeps at each step of n. There are two families of tests by `above_zero_p`, each corrected
  by Holm: that a step keeps more, and that a word of it keeps less than a word of the step before. Each family errs in
  at most 5 % of studies (docs/magic-number.md);
- what the claimed n keep, as shares of what the longest n keeps.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from nws.core.analysis.content_kept import KeptByArticle, smallest_n
from nws.core.analysis.gain_over_random import magic_numbers
from nws.core.analysis.grids import build_grids
from nws.core.analysis.intervals import Floats, above_zero_p, moments, skewed_intervals
from nws.core.analysis.points import Points
from nws.core.analysis.sign_flip import holm
from nws.core.errors import RecipeError
from nws.core.findings.comparisons import FEWEST_ARTICLES
from nws.core.findings.content import CONTENT_KEPT, SmallestN
from nws.core.findings.lengths import OF_LONGEST, BestN, ClaimedLengths, Step
from nws.core.metrics.specs import Metric
from nws.core.types import RANDOM

CLAIM_METRICS: tuple[Metric, ...] = (CONTENT_KEPT, "bertscore_f1", "rouge1_f1", "kept_words")
"""The metrics whose best n are reported."""
_ENDS = (0.4, 0.6, 1.0)
"""The shares of the longest n at which the lengths might have ended."""


def claims_of(points: Points, ranked: Mapping[str, Sequence[str]], claim: str | int) -> tuple[ClaimedLengths, ...]:
    """Collect the evidence of each dataset's best system on a claim, such as "7-13" or "9".

    Args:
        points: see `claimed_lengths`.
        ranked: by dataset, the systems that keep content at some n, the best first.
        claim: one n, or the fewest and the most words.

    Raises:
        RecipeError: the claim cannot be read, or there is no content kept by n, or none at the claimed n.
    """
    ends = str(claim).replace("–", "-").split("-")
    if not all(map(str.isdecimal, ends)) or len(ends) > 2 or int(ends[0]) > int(ends[-1]):
        raise RecipeError(f"A claim is one n, such as 9, or a range, such as 7-13, not {claim!r}.")
    if not ranked:
        raise RecipeError(
            "A claim is about content kept by n, which this run does not have: its systems wrote at their own length, "
            "or references of other articles are missing."
        )
    return tuple(
        claimed_lengths(points, dataset, systems[0], (int(ends[0]), int(ends[-1])))
        for dataset, systems in ranked.items()
        if systems
    )


def claimed_lengths(points: Points, dataset: str, system: str, claim: tuple[int, int]) -> ClaimedLengths:
    """Collect the evidence of a dataset on a claim, over the articles with a summary by the system at every n.

    Args:
        points: the points of one run, with the metrics of `CLAIM_METRICS` that it has, `CONTENT_KEPT` among them.
        dataset: a dataset with content kept.
        system: a system with content kept at some n.
        claim: the fewest and the most words.

    Raises:
        RecipeError: the system has only one n, lacks a claimed n, or keeps nothing.
        StoreError: the points are not those of one run (see `build_grids`).
    """
    is_chosen = np.array([name in (system, RANDOM) for name in points.systems])[points.system] & (points.n > 0)
    chosen = points.take(is_chosen & np.array([name == dataset for name, _ in points.articles])[points.article])
    lengths, values = kept_by_article(chosen, system)
    if len(lengths) < 2:
        raise RecipeError(f"A claim compares several n, and {dataset} has only n = {lengths[0]}: run more.")
    if missing := [n for n in claim if n not in lengths]:
        nearest, tried = min(lengths, key=lambda n: abs(n - missing[0])), ", ".join(map(str, lengths))
        raise RecipeError(f"{dataset} has no n = {missing[0]}: the nearest of its n ({tried}) is {nearest}.")
    if claim == (lengths[0], lengths[-1]):
        raise RecipeError(f"A claim must leave out some n, but {dataset} has only n = {claim[0]}–{claim[1]}: run more.")
    if values[:, -1].mean() <= 0:
        raise RecipeError(f"{system} keeps nothing of {dataset} at n = {lengths[-1]}: there is no share of it.")
    kept = KeptByArticle(values, values[:, -1])
    shares = skewed_intervals(kept.shares + kept.influence)
    low, high = (shares[lengths.index(n)] for n in claim)
    claimed = ClaimedLengths(dataset, system, len(values), *claim, lengths[-1], (low, high))
    if len(values) < FEWEST_ARTICLES:
        return claimed
    best, elbows, steps = _best(chosen, system), _elbows(lengths, values), _steps(lengths, values)
    return replace(claimed, best=tuple(best), elbows=dict(elbows), steps=tuple(steps))


def kept_by_article(points: Points, system: str) -> tuple[list[int], Floats]:
    """Return the n of a system, and what it keeps at these, (articles, lengths), for the articles that have all n."""
    (grid,) = build_grids(points, CONTENT_KEPT)
    scores = grid.values[grid.systems.index(system)]
    present = ~np.isnan(scores)
    tried = np.flatnonzero(present.any(axis=1))
    return [grid.lengths[i] for i in tried], scores[tried][:, present[tried].all(axis=0)].T


def _best(points: Points, system: str) -> Iterator[BestN]:
    for metric in CLAIM_METRICS:
        scored = points.take(~np.isnan(points.scores[metric])) if metric in points.scores else Points.none()
        for number in magic_numbers(scored, metric):
            if number.system == system and number.largest_gain:
                yield BestN(metric, number.largest_gain.n, number.recommended)


def _elbows(lengths: Sequence[int], values: Floats) -> Iterator[tuple[int, SmallestN]]:
    ends = {min(range(1, len(lengths)), key=lambda i: abs(lengths[i] - part * lengths[-1])) for part in _ENDS}
    for end in sorted(ends):
        if values[:, end].mean() > 0:
            kept = KeptByArticle(values[:, : end + 1], values[:, end])
            found = smallest_n(lengths[: end + 1], kept.shares, kept.above(OF_LONGEST), OF_LONGEST)
            yield lengths[end], found


def _steps(lengths: Sequence[int], values: Floats) -> Iterator[Step]:
    per_word = np.diff(values, axis=1) / np.diff(lengths)
    more, less = (
        holm(above_zero_p(len(values), moments(tested)).tolist()) for tested in (per_word, -np.diff(per_word, axis=1))
    )
    columns = zip(lengths, lengths[1:], skewed_intervals(per_word), more, [1.0, *less], strict=False)
    return (Step(*column) for column in columns)
