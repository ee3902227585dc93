"""How often answers about content kept are wrong, and whether the articles advised suffice. Tables of docs/answer.md.

    python -m bench.content_kept > bench/results/content_kept.txt   made articles, normal ones and with tails
    python -m bench.content_kept --store sqlite:///nws.db --run RUN   those of a run, drawn again and again

The articles of a run are the truth: a study draws from them, with replacement. A claim is hardest to keep right where
the truth lies on the edge, so for the first tables a length is shifted until it keeps just the share that is asked for.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from nws.core.analysis import Points
from nws.core.analysis.content_kept import POWER, KeptByArticle, content_kept, first_kept, interval_of_n
from nws.core.analysis.grids import build_grids
from nws.core.analysis.intervals import above_zero_p, moments, skewed_intervals
from nws.core.findings.comparisons import FEWEST_ARTICLES
from nws.core.findings.content import CONTENT_KEPT, SHARES, Ceiling
from nws.core.findings.scores import ONE_SIDED_LEVEL
from nws.core.systems.rulers import OTHER_ARTICLE, PERSON
from nws.jobs.store import open_store

ARTICLES = (20, 24, 60, 200)
SEED = 0
SIGMAS = (0.25, 0.5, 0.75, 1.0, 1.5)
MOST_ADVISED = 2_000
"""A study with more articles is not simulated."""

Floats = NDArray[np.float64]
# From a generator, a number of articles and one of studies: what each keeps above the share, with mean 0.
Null = Callable[[np.random.Generator, int, int], Floats]


@dataclass(frozen=True, slots=True)
class Held:
    """A system held against a ceiling: what its articles keep, for the shares whose smallest n is looked for."""

    system: str
    of: Ceiling
    kept: KeptByArticle


def measured(points: Points) -> list[Held]:
    """Of each system and ceiling, over the articles that have all lengths."""
    held: list[Held] = []
    for grid in build_grids(points.take(points.n > 0), CONTENT_KEPT):
        persons = _persons(points, grid.articles)
        for s, system in enumerate(grid.systems):
            complete = grid.present[s].all(axis=0)
            values = grid.values[s][:, complete].T
            held += [Held(system, "reference", KeptByArticle(values, np.ones(len(values))))]
            if persons is not None and system != PERSON:
                held += [Held(system, "person", KeptByArticle(values, persons[complete]))]
            held += [Held(system, "longest", KeptByArticle(values, values[:, -1]))]
    return held


def _persons(points: Points, articles: Sequence[str]) -> Floats | None:
    if PERSON not in points.systems:
        return None
    whole = points.take((points.n == 0) & (points.system == points.systems.index(PERSON)))
    kept = {points.articles[a][1]: value for a, value in zip(whole.article, whole.scores[CONTENT_KEPT], strict=True)}
    return np.array([kept[article] for article in articles])


def tailed(sigma: float, side: int) -> Null:
    """Lognormal values with the tail above (1) or below (-1)."""
    return lambda rng, articles, studies: (
        side * (np.exp(sigma * rng.normal(size=(articles, studies))) - np.exp(sigma**2 / 2))
    )


def drawn_from(values: Floats) -> Null:
    centred = values - values.mean()
    return lambda rng, articles, studies: centred[rng.integers(0, len(centred), (articles, studies))]


def wrong_claims(null: Null, articles: int, studies: int) -> tuple[float, float]:
    """How often a length is claimed that keeps just less than the share; and how often Student's t at 5 % would.

    All longer lengths are taken to be shown, which is the worst case.
    """
    rng, claimed, by_t = np.random.default_rng(SEED), 0, 0
    for _ in range(0, studies, 1_000):
        values = null(rng, articles, 1_000)
        t = values.mean(axis=0) / values.std(axis=0, ddof=1) * articles**0.5
        claimed += int((above_zero_p(articles, moments(values)) <= ONE_SIDED_LEVEL).sum())
        by_t += int((stdtr(articles - 1, -t) <= 0.05).sum())
    return claimed / studies, by_t / studies


def at_the_edge(held: Sequence[Held]) -> dict[Ceiling, list[Null]]:
    """Each length of each system that can keep more or less, shifted until it keeps just each share."""
    nulls: dict[Ceiling, list[Null]] = {}
    for one in held:
        for x in SHARES[one.of] if one.of != "reference" else (0.5,):  # a shift makes all of these equal
            above = one.kept.above(x)
            columns = above.T[:-1] if one.of == "longest" else above.T
            nulls.setdefault(one.of, []).extend(drawn_from(column) for column in columns if column.std() > 0)
    return nulls


def print_claims(rows: Iterator[tuple[str, list[Null]]], studies: int) -> None:
    print(f"\nClaims that are wrong, of {studies:,} studies; two standard errors of 5 %: ± ", end="")
    print(f"{200 * (0.05 * 0.95 / studies) ** 0.5:.1f} %")
    print("| of | articles | mean | most | most, by t at 5 % |\n| --- | --- | --- | --- | --- |")
    for name, nulls in rows:
        for articles in ARTICLES:
            found = np.array([wrong_claims(null, articles, studies) for null in nulls])
            mean, (most, by_t) = found[:, 0].mean(), found.max(axis=0)
            print(f"| {name} | {articles} | {mean:.1%} | {most:.1%} | {by_t:.1%} |", flush=True)


def print_shares(held: Sequence[Held], studies: int) -> None:
    print(
        f"\n95 % intervals of shares that hold the truth, of {studies:,} studies: the least of all systems and lengths"
    )
    print("| of | articles | mean | least |\n| --- | --- | --- | --- |")
    for of in dict.fromkeys(one.of for one in held):
        for articles in ARTICLES:
            found = [share for one in held if one.of == of for share in _shares_held(one.kept, articles, studies)]
            print(f"| {of} | {articles} | {np.mean(found):.1%} | {np.min(found):.1%} |", flush=True)


def _shares_held(kept: KeptByArticle, articles: int, studies: int) -> Floats:
    rng = np.random.default_rng(SEED)
    truth = kept.shares
    varies = kept.influence.std(axis=0) > 1e-9
    held = np.zeros(len(truth))
    for _ in range(studies):
        study = drawn(kept, rng, articles)
        intervals = skewed_intervals(study.shares + study.influence)
        held += [i.low is not None and i.low <= m <= (i.high or 0) for i, m in zip(intervals, truth, strict=True)]
    return np.asarray(held[varies] / studies)


def drawn(kept: KeptByArticle, rng: np.random.Generator, articles: int) -> KeptByArticle:
    """A study of so many articles."""
    chosen = rng.integers(0, len(kept.values), articles)
    return KeptByArticle(kept.values[chosen], kept.ceiling[chosen])


def print_answers(held: Sequence[Held], studies: int) -> None:
    print(f"\nThe smallest n of {studies:,} studies, over all systems and shares that are kept at some n")
    print("| of | articles | interval holds it | at the edge, least | steps wide | no claim | claimed, steps above |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for of in dict.fromkeys(one.of for one in held):
        cases = [(one.kept, x) for one in held if one.of == of for x in SHARES[of] if _reached(one.kept, x)]
        for articles in ARTICLES if cases else ():
            found = np.array([_answers(kept.above(x), articles, studies) for kept, x in cases])
            edges = [_answers(edge, articles, studies)[0] for kept, x in cases for edge in _edges(kept.above(x))]
            right, wide, silent, steps = np.nanmean(found, axis=0)
            print(
                f"| {of} | {articles} | {right:.1%} | {min(edges):.1%} | {wide:.1f} | {silent:.1%} | {steps:.2f} |",
                flush=True,
            )


def _reached(kept: KeptByArticle, x: float) -> bool:
    return bool(kept.shares[-1] >= x)


def _edges(above: Floats) -> Iterator[Floats]:
    """Shifted until the answer keeps just the share, and until the length before it keeps just less."""
    place = _truth(above)
    yield above - above[:, place].mean() + 1e-12
    if place:
        yield above - above[:, place - 1].mean() - 1e-12


def _truth(above: Floats) -> int:
    return int(first_kept(above.mean(axis=0)[None], 0)[0])


def _answers(above: Floats, articles: int, studies: int) -> tuple[float, float, float, float]:
    """How often the interval holds the truth, its mean steps, how often none is claimed, and the mean steps too far."""
    rng, truth, lengths = np.random.default_rng(SEED), _truth(above), above.shape[1]
    ends = np.empty((studies, 2))
    for study in range(studies):
        ends[study] = interval_of_n(above[rng.integers(0, len(above), articles)])
    low, high = ends.T
    claimed = high if articles >= FEWEST_ARTICLES else np.full(studies, lengths)
    told = claimed[claimed < lengths]
    steps = float((told - truth).mean()) if len(told) else float("nan")
    right = float(((low <= truth) & (truth <= high)).mean())
    return right, float((high - low).mean()), float((claimed == lengths).mean()), steps


def print_one_step(points: Points, held: Sequence[Held], studies: int) -> None:
    print(f"\nStudies of the articles advised whose interval of n is one step wide, or less ({POWER:.0%} sought)")
    print("| system | of | share | articles advised | studies |\n| --- | --- | --- | --- | --- |")
    by_name = {(one.system, one.of): one.kept for one in held}
    for answer in content_kept(points):
        for smallest in answer.smallest:
            advised = smallest.articles_for_one_step
            if advised is not None and FEWEST_ARTICLES < advised <= MOST_ADVISED:
                above = by_name[answer.system, answer.ceiling].above(smallest.share)
                rng = np.random.default_rng(SEED)
                ends = [interval_of_n(above[rng.integers(0, len(above), advised)]) for _ in range(studies)]
                narrow = np.mean([high - low <= 1 and high < above.shape[1] for low, high in ends])
                print(
                    f"| {answer.system} | {answer.ceiling} | {smallest.share:.0%} | {advised} | {narrow:.1%} |",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store")
    parser.add_argument("--run")
    parser.add_argument("--studies", type=int, default=10_000, help="for wrong claims; a tenth for all else")
    options = parser.parse_args()
    if not options.store:
        rows = [(f"lognormal, sigma {sigma}, tail below", [tailed(sigma, -1)]) for sigma in SIGMAS]
        rows += [("lognormal, sigma 1, tail above", [tailed(1, 1)])]
        normal: Null = lambda rng, articles, studies: rng.normal(size=(articles, studies))  # noqa: E731
        print_claims(iter([("normal", [normal]), *rows]), options.studies)
        return
    with open_store(options.store, read_only=True) as opened:
        points = opened.points(options.run, [CONTENT_KEPT])
    # It keeps next to nothing: no share of that says anything.
    points = points.take(np.array([system != OTHER_ARTICLE for system in points.systems])[points.system])
    held = measured(points)
    print(f"{len(points.articles)} articles")
    print_claims(iter(at_the_edge(held).items()), options.studies)
    few = options.studies // 10
    print_shares(held, few)
    print_answers(held, few)
    print_one_step(points, held, few)


if __name__ == "__main__":
    main()
