"""`nws correlate`: how well metrics agree with human scores."""

import json
from pathlib import Path
from typing import Annotated

import typer

from jobs.commands.options import Json
from jobs.terminal.busy import busy
from jobs.terminal.console import PrintableConsole


def correlate(
    file: Annotated[
        Path,
        typer.Argument(
            help="JSONL, CSV or Parquet, one summary a row, with the fields system, document, one for each metric, "
            "and one of human scores."
        ),
    ],
    metrics: Annotated[
        str,
        typer.Option(
            "--metrics", "-m", metavar="NAMES", help="Names of the fields to judge, with commas between them."
        ),
    ],
    human: Annotated[str, typer.Option(metavar="NAME", help="Name of the field of human scores.")],
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the resamples and of the tests.")] = 0,
    as_json: Json = False,
) -> None:
    """Correlate metrics with human scores.

    By system and by summary, with 95 % intervals and tests between metrics. Pearson, Spearman and Kendall (tau-b).
    """
    from jobs.correlate.compute import correlate_file
    from jobs.correlate.show import print_correlation

    names = [name.strip() for name in metrics.split(",") if name.strip()]
    with busy("Correlating, and drawing resamples"):
        result = correlate_file(file, names, human, seed)
    if as_json:
        print(json.dumps(result.as_dict(), allow_nan=False))
    else:
        print_correlation(result, PrintableConsole())
