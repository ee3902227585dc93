"""`nws cite`: what a paper cites that reports a run."""

from typing import Annotated

import typer

from jobs.commands import complete
from jobs.commands.options import DEFAULT_STORE, StoreUrl
from jobs.commands.shared import chosen_run, err, reading
from jobs.terminal.busy import busy


def cite(
    run: Annotated[
        str | None,
        typer.Argument(help="Run id; default: the newest run with summaries.", autocompletion=complete.runs),
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
) -> None:
    """Print BibTeX of all that a run used.

    That is NWS and the libraries, models, datasets, metrics and systems. What has no entry is named on stderr.
    """
    from jobs.report.citations import bibtex, citations

    with reading(store) as opened, busy("Reading the cards of models and datasets"):
        info = opened.run_info(chosen_run(opened, run, with_summaries=True))
        found = citations(info, opened.articles(info.id).systems())
    print(bibtex(info, found), end="")
    for line in found.without:
        err.print(line, markup=False)
