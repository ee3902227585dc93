"""A warning of rows that hold the same article as another row."""

from collections.abc import Iterable

from rich.console import Console

from core.text.corpus import Corpus
from jobs.terminal.numerals import counted


def warn_of_repeats(corpora: Iterable[Corpus], console: Console) -> None:
    """Say how many rows of each dataset are left out since they repeat another. Of a stream this is not known."""
    for corpus in corpora:
        if corpus.known is not None and corpus.known.repeats:
            what = "repeats another row and is" if corpus.known.repeats == 1 else "repeat another row and are"
            rows = counted(corpus.known.repeats, "row")
            console.print(f"Warning: {rows} of {corpus.name} {what} left out.", markup=False)
