"""What runs say of "7 to 13 words", and how often such verdicts are wrong: the tables of docs/magic-number.md.

    python -m bench.claimed_lengths STORE RUN [STORE RUN …] > bench/results/claimed_lengths.txt

The articles of a run are the truth, and studies are drawn from them, with replacement. Each step in turn is made to add
nothing, or no less than the one before, by taking its mean away, while all others are taken to be shown; and all are at
once.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from nws.core.analysis.claimed_lengths import CLAIM_METRICS, claims_of, kept_by_article
from nws.core.analysis.intervals import Floats, above_zero_p, moments
from nws.core.analysis.points import Points
from nws.core.findings.lengths import ClaimedLengths, lengths_text
from nws.core.findings.scores import ONE_SIDED_LEVEL
from nws.jobs.report.metric_names import metric_name
from nws.jobs.report.numerals import decimals, percent, percent_interval
from nws.jobs.store import open_store

CLAIM, ARTICLES, STUDIES = "7-13", (20, 24, 60, 200), 10_000
WRONG = "adds content", "adds less"


def cells(claim: ClaimedLengths) -> Iterator[tuple[str, str]]:
    yield "", f"{claim.dataset.removesuffix('.jsonl')}, {claim.articles} articles, `{claim.system}`"
    for best in claim.best:
        yield (
            f"largest gain over `random`: {metric_name(best.metric)}",
            f"{best.n} ({lengths_text(claim.lengths, best.may_be)})",
        )
    yield "80 % of what the longest n keeps", ", ".join(f"{at.n} of {end}" for end, at in claim.elbows.items())
    steps = (f"{at.end}: {decimals(100 * at.per_word.mean, 1)}" for at in claim.steps)
    yield "points that one more word adds, up to n", ", ".join(steps)
    for n, share in zip((claim.low, claim.high), claim.shares, strict=True):
        yield f"{n} words keep, of what the longest n keeps", f"{percent(share.mean)} ({percent_interval(share)})"


def wrong(tested: Floats, articles: int) -> float:
    """The share of studies in which one of the columns without a mean is shown, in the worst case."""
    centred, rng = tested - tested.mean(axis=0), np.random.default_rng(0)
    p = np.array([above_zero_p(articles, moments(rng.choice(centred, articles))) for _ in range(STUDIES)])
    return float(max((p <= ONE_SIDED_LEVEL).mean(axis=0).max(), (p.min(axis=1) <= ONE_SIDED_LEVEL / p.shape[1]).mean()))


def rates(points: Points, system: str, articles: int) -> list[float]:
    lengths, kept = kept_by_article(points, system)
    per_word = np.diff(kept, axis=1) / np.diff(lengths)
    return [wrong(per_word, articles), wrong(-np.diff(per_word, axis=1), articles)]


def print_table(rows: Iterable[Sequence[str]]) -> None:
    head, *others = (f"| {' | '.join(row)} |" for row in rows)
    print("\n".join((head, "| --- " * (head.count("|") - 1) + "|", *others)), flush=True)


def main() -> None:
    found: list[tuple[ClaimedLengths, Points]] = []
    for url, run in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        with open_store(url, read_only=True) as store:
            points, ranked = store.points(run, CLAIM_METRICS), store.document([run]).ranking
            found += [(claim, points.take(points.n > 0)) for claim in claims_of(points, ranked, CLAIM)]
    print_table((row[0][0], *(cell for _, cell in row)) for row in zip(*(cells(of) for of, _ in found), strict=True))
    worst = np.max([[rates(points, of.system, size) for of, points in found] for size in ARTICLES], axis=1).T.tolist()
    rows = [(what, *(decimals(100 * at, 1) for at in row)) for what, row in zip(WRONG, worst, strict=True)]
    print("\nWrong in the worst case, in % of studies:\n")
    print_table([("articles", *map(str, ARTICLES)), *rows])


if __name__ == "__main__":
    main()
