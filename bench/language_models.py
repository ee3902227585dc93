"""What language models write at n words, beside systems that choose phrases: the tables of docs/generators.md.

A server of llama.cpp with one slot answers, and is asked for one text at a time:

    llama-server -m qwen.gguf --port 8089 -np 1 & export OPENAI_BASE_URL=http://127.0.0.1:8089/v1
    nws submit baselines --dataset frank_xsum.jsonl --n 5,9,13,21 --fluency-model smollm2 --system openai:qwen.gguf \
        --system smollm2 --system lexrank --system position --system lead --system random --system reference-words \
        --set endpoint.concurrency=1
    python -m bench.language_models sqlite:///nws.db RUN > bench/results/language_models_xsum.txt

Likewise on frank_cnn.jsonl with `--limit 25 --n 9,21,35`. A summary of each system is shown for
every seventh article, at the second n.
"""

import sys
from collections.abc import Iterator

from nws.core.findings.report_document import ReportDocument
from nws.core.text.word_kinds import NAMED
from nws.core.types import LEAD
from nws.jobs.report.system_names import SystemNames, names_of
from nws.jobs.store import RunInfo, Store, open_store

EVERY, SHOWN = 7, 10


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def table(columns: list[object], rows: Iterator[str]) -> None:
    print(row(*columns), row(*["---"] * len(columns)), *rows, "", sep="\n")


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f}"


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def print_run(store: Store, run: RunInfo) -> None:
    """All tables of a run."""
    document = store.document([run.id])
    names = names_of([run], document.kinds)
    for dataset in document.datasets:
        kept = {system: held["reference"] for system, held in document.kept_of(dataset).items()}
        lengths = [at.n for at in next(iter(kept.values())).lengths]
        print(f"{dataset}, run {run.id}: content kept, in %, by n\n")
        shares = {
            system: [
                f"{percent(at.share.mean)} [{percent(at.share.low)}, {percent(at.share.high)}]" for at in of.lengths
            ]
            for system, of in kept.items()
        }
        table(["system", *lengths], (row(names[system], *cells) for system, cells in shares.items()))
        print(f"Kept of each kind of word at {lengths[-1]} words\n")
        of_kinds = {system: by_n[-1].by_kind for system, by_n in document.by_kind(dataset).items()}
        table(
            ["system", *NAMED],
            (
                row(names[system], *(percent(of[kind].share.mean) if kind in of else "–" for kind in NAMED))
                for system, of in of_kinds.items()
            ),
        )
        for metric in ("fluency", "coverage"):
            curves = document.of_metric(metric).curves_of(dataset)
            if curves:
                print(f"Mean {metric} by n\n")
                by_n = ((curve.system, [f"{at.mean:.2f}" for at in curve.lengths]) for curve in curves)
                table(["system", *lengths], (row(names[system], *means) for system, means in by_n))
    print_obedience(document, names)
    for saved in document.words_saved:
        smallest = saved.smallest
        print(f"{names[saved.a]}: {smallest.n} words (claimed: {smallest.claimed}) as {saved.m} of {LEAD}\n")


def print_obedience(document: ReportDocument, names: SystemNames) -> None:
    """How well each system keeps to n, before any cut."""
    print("Words written where n were asked for; first: of first answers\n")
    columns = ["system", "n", "exactly n", "first", "within n", "mean miss", "absolute", "first", "requests", "drafts"]
    table(
        [*columns],
        (
            row(
                *(names[of.system], of.n, percent(of.exactly), percent(of.first_exactly), percent(of.within)),
                *(
                    f"{of.miss:+.1f}",
                    f"{of.absolute_miss:.1f}",
                    "–" if of.first_absolute_miss is None else f"{of.first_absolute_miss:.1f}",
                ),
                *(f"{count / of.summaries:.1f}" for count in (of.requests, of.drafts)),
            )
            for of in document.obedience
        ),
    )


def print_summaries(store: Store, run: RunInfo) -> None:
    """What the generators wrote of some articles."""
    systems = list(run.revisions.get("generators", {}))
    n = sorted(store.lengths(run.id, systems[0]))[1]
    ids = sorted(store.content_hashes(run.id))[::EVERY][:SHOWN]
    for article in store.article_texts(run.id, ids):
        texts = {summary["system"]: summary["text"] for summary in article.summaries if summary["n"] == n}
        print(f"{article.key}: {article.references[0]}")
        for system in systems:
            print(f"    {system}: {texts.get(system)}")
    print()


def main() -> None:
    with open_store(sys.argv[1], read_only=True) as store:
        for run in map(store.run_info, sys.argv[2:]):
            print_run(store, run)
            if run.revisions.get("generators"):
                print_summaries(store, run)


if __name__ == "__main__":
    main()
