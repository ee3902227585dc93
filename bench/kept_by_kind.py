"""What systems keep of each kind of word, and how sure that is: tables of docs/answer.md.

    python -m bench.kept_by_kind STORE RUN [RUN …] > bench/results/kept_by_kind.txt

The articles of a run are the truth: a study draws from them, with replacement. For verdicts, what a system keeps of
each kind is shifted until it keeps the same share of all kinds.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from nws.core.analysis.intervals import Floats
from nws.core.analysis.kept_by_kind import KindTerms, contrast_of, kept_by_kind, shares_of
from nws.core.findings.comparisons import FEWEST_ARTICLES
from nws.core.findings.content import CONTENT_KEPT
from nws.core.text.word_kinds import KINDS, NAMED
from nws.jobs.report.numerals import percent, percent_interval
from nws.jobs.report.system_names import system_names
from nws.jobs.store import open_store
from nws.jobs.store.database import reads
from nws.jobs.store.points import read_kind_terms

SYSTEMS = ("position", "lexrank", "lead", "reference-words")
ARTICLES, STUDIES, SHOWN = (20, 50, 200), 1_000, (7, 13)
LEAST_STUDIES = STUDIES / 4
"""Of a kind that is in enough references of fewer studies, nothing is said."""
_read_kind_terms = reads(read_kind_terms)


def studies(terms: Floats, articles: int) -> Iterator[Floats]:
    rng = np.random.default_rng(0)
    for _ in range(STUDIES):
        yield terms[rng.integers(0, len(terms), articles)]


def held(terms: Floats, articles: int) -> dict[str, float]:
    """For each kind, the share of studies whose interval holds the share of all articles."""
    truth = {kind: share.interval.mean for kind, share in shares_of(terms).items()}
    found = defaultdict[str, list[bool]](list)
    for study in studies(terms, articles):
        for kind, share in shares_of(study).items():
            if share.articles >= FEWEST_ARTICLES:
                low, high = share.interval.low, share.interval.high
                found[kind].append(low is not None and high is not None and low <= truth[kind] <= high)
    return {kind: float(np.mean(held)) for kind, held in found.items() if len(held) >= LEAST_STUDIES}


def told(terms: Floats, articles: int) -> float:
    """The share of studies with a verdict although all kinds are kept alike."""
    kept, whole = np.hsplit(terms, 2)
    shares = np.nansum(kept, axis=0) / np.nansum(whole, axis=0)
    common = shares[np.isin(KINDS, NAMED)].mean()
    alike = np.hstack([kept - (shares - common) * whole, whole])
    verdicts = [contrast_of(shares_of(study)) for study in studies(alike, articles)]
    return float(np.mean([verdict is not None and verdict.significant for verdict in verdicts]))


def rates(rates: Sequence[float]) -> str:
    return f"{percent(float(np.mean(rates)), 1)} ({percent(min(rates), 1)})" if rates else "–"


def print_rates(dataset: str, cells: Sequence[KindTerms]) -> None:
    all_terms = [cell.terms.astype(np.float64) for cell in cells]
    longest = max(cell.n for cell in cells)
    for articles in ARTICLES:
        of_cells = [held(terms, articles) for terms in all_terms]
        by_kind = (rates([found[kind] for found in of_cells if kind in found]) for kind in NAMED)
        wrong = [told(terms, articles) for terms in all_terms]
        last = max(rate for rate, cell in zip(wrong, cells, strict=True) if cell.n == longest)
        verdicts = f"{percent(last, 1)} | {percent(max(wrong), 1)}"
        print(f"| {dataset}, {articles} | {' | '.join(by_kind)} | {verdicts} |", flush=True)


def print_shares(dataset: str, cells: Sequence[KindTerms], called: dict[str, str]) -> None:
    found = {(of.system, of.n): of.by_kind for of in kept_by_kind(cells)}
    longest = max(n for _, n in found)
    first, *_ = found.values()
    counts = (f"{kind} ({first[kind].articles})" for kind in NAMED)
    print(f"\n{dataset}: % kept of each kind with {SHOWN[0]} / {SHOWN[1]} / {longest} words (interval)\n")
    print(f"| (references that have it) | {' | '.join(counts)} |\n|{' --- |' * (1 + len(NAMED))}")
    for system in sorted({cell.system for cell in cells}, key=lambda name: SYSTEMS.index(called[name])):
        row = []
        for kind in NAMED:
            at = [found[system, n][kind].share for n in (*SHOWN, longest)]
            shares = " / ".join(percent(share.mean).removesuffix(" %") for share in at)
            row.append(f"{shares} ({percent_interval(at[-1]).removesuffix(' %') or '–'})")
        print(f"| `{called[system]}` | {' | '.join(row)} |", flush=True)


def main() -> None:
    with open_store(sys.argv[1], read_only=True) as store:
        runs = []
        for run in sys.argv[2:]:
            systems = store.points(run, [CONTENT_KEPT]).systems
            called = dict(system_names(systems).shown)
            cells, _ = _read_kind_terms(store, {run: {name: name for name in systems}})
            lengths = (1, *SHOWN, max(cell.n for cell in cells))
            cells = [cell for cell in cells if called[cell.system] in SYSTEMS and cell.n in lengths]
            runs.append((cells[0].dataset.removesuffix(".jsonl"), cells, called))
    for dataset, cells, called in runs:
        print_shares(dataset, cells, called)
    print(f"\nStudies, of {STUDIES:,}, whose interval holds the share: mean (least) of {', '.join(SYSTEMS)} with")
    print(
        f"1, {SHOWN[0]}, {SHOWN[1]} and the most words; and wrong verdicts with the most words, and with any, at most\n"
    )
    print(f"| articles | {' | '.join(NAMED)} | verdicts | with any n |\n|{' --- |' * (3 + len(NAMED))}")
    for dataset, cells, _ in runs:
        print_rates(dataset, cells)


if __name__ == "__main__":
    main()
