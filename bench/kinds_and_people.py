"""Do people find what systems keep of a kind of word? Facts that people marked, by the kinds of words in them.

    python -m bench.kinds_and_people realsumm_units.jsonl [FILE …] > bench/results/kinds_and_people.txt

A file has a row for each document and system, as JSON lines: `document`, `system`, `prediction`, `reference`, `units`
(the facts of the reference, a sentence each) and `present` (for each fact, whether people found it in the prediction: 0
or 1). All systems have all documents, and all rows of a document the same reference and facts. A fact is of the first
sort in `SORTS` of which it has a word. In lower-cased references, words such as names are not all seen. Intervals are
of documents drawn 1,000 times, with replacement.
"""

import argparse
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nws.core.analysis.intervals import Floats, score_intervals
from nws.core.findings.scores import Interval
from nws.core.metrics.config import Options
from nws.core.metrics.kept import kind_terms, kinds_of
from nws.core.metrics.metric import Row
from nws.core.text.word_kinds import KINDS, load_tagger
from nws.jobs.report.numerals import decimals, interval_text, percent, percent_interval

SORTS = ("number", "when", "where", "who")
REST = "all other facts"
SHOWN = (*SORTS, "action", "thing", "quality")


class Marked(NamedTuple):
    """Sums over the facts and the words of each document; arrays of float64.

    Attributes:
        found, facts: how many facts of each sort people found, of how many, (documents, systems, sorts).
        kept, whole: the `KIND_TERMS` of the summaries, 0 of a kind that is not there, (documents, systems, kinds).
    """

    found: Floats
    facts: Floats
    kept: Floats
    whole: Floats


def sort_of(fact: str, signature: str) -> int:
    kinds = {KINDS[kind] for kind in load_tagger(signature)(fact)}
    return next((i for i, sort in enumerate(SORTS) if sort in kinds), len(SORTS))


def read(path: Path, options: Options, limit: int | None) -> Marked:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    documents = sorted({row["document"] for row in rows})[:limit]
    rows = sorted(
        (row for row in rows if row["document"] in documents), key=lambda row: (row["document"], row["system"])
    )
    shape = len(documents), len(rows) // len(documents), -1
    signature, facts = kinds_of(options), np.zeros((2, len(rows), len(SORTS) + 1))
    for i, row in enumerate(rows):
        for fact, present in zip(row["units"], row["present"], strict=True):
            facts[:, i, sort_of(fact, signature)] += present, 1
    terms = kind_terms(options, [Row(row["prediction"], (row["reference"],), row["document"]) for row in rows])
    kept, whole = np.hsplit(np.nan_to_num(terms), 2)
    return Marked(*(sums.reshape(shape) for sums in (*facts, kept, whole)))


def agreement(marked: Marked) -> Floats:
    """Correlate, over systems, what people found of each sort with what summaries keep of each kind, (sorts, kinds)."""
    found, facts, kept, whole = (sums.sum(axis=0) for sums in marked)
    people, words = found / np.maximum(facts, 1), kept / np.maximum(whole, 1e-9)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.corrcoef(people.T, words.T)[: people.shape[1], people.shape[1] :])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--documents", type=int, help="how many of each file, from the first by name; default: all")
    parser.add_argument("--backbone", help="of BERTScore, as of nws score --bertscore-model; default: MiniLM")
    options = parser.parse_args()
    metric = Options() if options.backbone is None else Options(bertscore_model=options.backbone)
    for path in options.files:
        show(path.stem, read(path, metric, options.documents))


def show(name: str, marked: Marked) -> None:
    columns = [KINDS.index(kind) for kind in SHOWN]
    sorts = len(SORTS)

    def score(documents: Floats) -> Floats:
        """What people found of each sort, what is kept of each sort's kind, r of these, and r minus that of others."""
        drawn = Marked(*(sums[documents[:, 0].astype(int)] for sums in marked))
        found, facts, kept, whole = (sums.sum(axis=(0, 1)) for sums in drawn)
        r = agreement(drawn)[:, columns]
        same = np.diag(r)[:sorts]
        others = (r[:sorts].sum(axis=1) - same) / (len(columns) - 1)
        return np.concatenate([found / facts, (kept / whole)[columns[:sorts]], same, same - others])

    documents = np.arange(len(marked.found), dtype=np.float64)[:, None]
    people, *by_sort = np.split(
        np.array(score_intervals(score, documents, 0), object), [sorts + 1, 2 * sorts + 1, -sorts]
    )
    facts, r = marked.facts[:, 0].sum(axis=0), agreement(marked)[:, columns]
    print(f"{name}: {len(documents)} documents, {marked.found.shape[1]} systems\n")
    heading = ("facts with", "facts", "people found", "words kept", "r", "r minus mean r of other kinds")
    print(f"| {' | '.join((*heading, *(f'r, {kind}' for kind in SHOWN)))} |\n|{' --- |' * (len(heading) + len(SHOWN))}")
    for i, sort in enumerate((*SORTS, REST)):
        cells = [f"{percent(people[i].mean)} ({percent_interval(people[i])})", "–", "–", "–"]
        if i < sorts:
            kept, same, beyond = (of[i] for of in by_sort)
            cells[1:] = f"{percent(kept.mean)} ({percent_interval(kept)})", *map(_with_interval, (same, beyond))
        print(f"| {sort} | {facts[i]:.0f} | {' | '.join((*cells, *(decimals(at, 2) for at in r[i])))} |")
    print()


def _with_interval(r: Interval) -> str:
    return f"{decimals(r.mean, 2)} ({interval_text(r, 2)})"


if __name__ == "__main__":
    main()
