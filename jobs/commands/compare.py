"""`nws compare`: which of two systems is better at equal n, and how sure that is."""

import json
from typing import Annotated

import typer

from core.metrics.specs import CHOICES
from jobs.commands import complete
from jobs.commands.options import DEFAULT_STORE, Json, Labels, StoreUrl, parse_labels, parse_lengths
from jobs.commands.shared import chosen_run, reading, store_flag
from jobs.terminal.busy import busy
from jobs.terminal.console import PrintableConsole


def compare(
    run: Annotated[
        str | None,
        typer.Argument(
            help="Run id, as `nws ls` lists it; default: the newest run with summaries.", autocompletion=complete.runs
        ),
    ] = None,
    run2: Annotated[
        str | None, typer.Argument(help="Another run, to compare the first one with.", autocompletion=complete.runs)
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            "--system",
            metavar="NAME",
            help="Name of a system in `nws report`, or a part of it. Given twice: A and B, the output is A minus B. "
            "Given once: that system with every other, or with itself in RUN2. Default: every system with lead, or "
            "with itself in RUN2.",
            autocompletion=complete.systems,
        ),
    ] = None,
    n: Annotated[
        str | None,
        typer.Option("--n", metavar="N,N", help="Summary lengths in words: 7,9 or 7-9. Default: all they share."),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(metavar="NAME", help=f"{CHOICES}.", autocompletion=complete.metrics),
    ] = "bertscore_f1",
    label: Labels = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Compare systems at equal n, article by article.

    Prints the mean difference with its 95 % interval, a test, and wins, ties and losses. The p of two systems on one
    dataset are corrected for the number of n (Holm).
    """
    lengths, labels = parse_lengths(n), parse_labels(label)

    from jobs.evaluate.compare import compare_runs
    from jobs.evaluate.printed_comparison import print_comparison

    with reading(store) as opened, busy("Comparing"):
        first = chosen_run(opened, run, with_summaries=True)
        second = None if run2 is None else opened.full_id(run2)
        result = compare_runs(opened, first, second, system or [], lengths, metric, labels)
    if as_json:
        print(json.dumps(result.as_dict(), allow_nan=False))
    else:
        print_comparison(result, PrintableConsole(), store_flag(store))
