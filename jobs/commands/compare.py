"""`nws compare`: which of two systems is better at equal n; and `nws plan`: how many articles tell that."""

import json
from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from core.metrics.specs import CHOICES
from jobs.commands.groups import grouped, plain
from jobs.commands.options import DEFAULT_STORE, LABEL, Json, StoreUrl, parse_labels
from jobs.commands.shared import (
    ScoredRun,
    chosen_run,
    complete_run,
    reading,
    store_flag,
)
from jobs.report.console import PrintableConsole, busy


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What is compared."""

    systems: list[str] | None = plain(
        "--system NAME",
        "Name of a system in `nws report`, or a part of it. Given twice: A and B, the output is A minus B. "
        "Given once: that system with every other, or with itself in RUN2. Default: every system with lead, or "
        "with itself in RUN2.",
    )
    n: str | None = plain("--n N,N", "Summary lengths in words: 7,9 or 7-9. Default: all they share.")
    metric: str | None = plain(
        "--metric NAME", f"kept, {CHOICES}. Default: kept, where the runs have it, else bertscore_f1."
    )
    labels: list[str] | None = plain(*LABEL)


@grouped
def compare(
    what: CompareOptions,
    run: ScoredRun = None,
    run2: Annotated[
        str | None, typer.Argument(help="Another run, to compare the first one with.", autocompletion=complete_run)
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Compare systems at equal n, article by article.

    Prints the mean difference with its 95 % interval, a test, and wins, ties and losses. The p of two systems on one
    dataset are corrected for the number of n (Holm).
    """
    from core.text.length import parse_lengths

    lengths, labels = None if what.n is None else parse_lengths(what.n), parse_labels(what.labels)

    from jobs.tools.comparison import compare_runs, print_comparison

    with reading(store) as opened, busy("Comparing"):
        first = chosen_run(opened, run, with_summaries=True)
        second = None if run2 is None else opened.full_id(run2)
        result = compare_runs(opened, first, second, what.systems or [], lengths, what.metric, labels)
    if as_json:
        print(json.dumps(result.as_dict(), allow_nan=False))
    else:
        print_comparison(result, PrintableConsole(), store_flag(store))


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What the study is to show."""

    power: float = plain(
        "--power SHARE", "How often the study is to show what it looks for.", 0.8, min=0.001, max=0.999
    )
    difference: float | None = plain("--difference D", "The least that matters: .01; default: that seen.", min=1e-6)
    alpha: float = plain("--alpha SHARE", "How often equal systems may be called different.", 0.05, min=1e-6, max=0.999)
    of: Literal["reference", "person", "longest"] = plain(
        "--of WHAT",
        "Whose content the smallest n keeps a share of: reference, person (what another person's summary keeps), or "
        "longest (what the system's own longest n keeps).",
        "reference",
    )
    metric: str = plain("--metric NAME", f"kept, {CHOICES}.", "kept")
    labels: list[str] | None = plain(*LABEL)


@grouped
def plan(
    asked: PlanOptions,
    run: ScoredRun = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Say how many articles a study needs.

    Two things take articles: to know the smallest n to one step of the grid, and to tell two systems apart at one n.
    """
    with busy("Loading libraries"):
        from jobs.report.study_plan import PlanGoal, plan_run, print_plan

    with reading(store) as opened, busy("Planning"):
        chosen = chosen_run(opened, run, with_summaries=True)
        goal = PlanGoal(asked.power, asked.alpha, asked.difference, asked.of)
        planned = plan_run(opened, chosen, asked.metric, goal, parse_labels(asked.labels))
    if as_json:
        print(json.dumps(planned.as_dict(), allow_nan=False))
    else:
        print_plan(planned, PrintableConsole(), store_flag(store))
