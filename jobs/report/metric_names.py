"""The stored metrics as people name and read them, and what of a run's signatures tells how each was computed."""

import re
from collections.abc import Iterator

from nws.core.errors import RecipeError, did_you_mean
from nws.core.findings.content import CONTENT_KEPT
from nws.core.metrics.specs import BY_COLUMN, PARTS, SPECS, Metric
from nws.jobs.store import RunInfo
from nws.jobs.store.runs import metric_signature, metrics_of

_DECIMALS = 3

# By any writing of a column's name or label, and by that of a metric of several columns: the column.
_COLUMN_OF = (
    {label.lower().replace(" ", "_"): column for spec in BY_COLUMN.values() for column, label in spec.columns.items()}
    | {column.lower(): column for column in BY_COLUMN}
    | {spec.name: spec.column for spec in SPECS}
)
_REVISION = re.compile(r"@([0-9a-f]{7})[0-9a-f]{33,}")
_OFF = re.compile(r".*:no")
_VERSION = re.compile(r"(like|transformers|version):.*")


def find_metric(name: str, to: str, *runs: RunInfo) -> Metric:
    """Find the metric called `name`: `rouge1` is its F1, `rougeL` is `rougel_f1`, and `content_kept` is `kept`.

    `to` says what it is for in the error, such as "compare by" or "report".

    Raises:
        RecipeError: not all of `runs` have it.
    """
    metrics = (*metrics_of(runs), *PARTS)
    name = _COLUMN_OF.get(name.lower().replace(" ", "_"), name) if name not in metrics else name
    if name not in metrics:
        raise RecipeError(
            f"There is no metric {name!r} to {to}. The metrics are {', '.join(metrics)}.{did_you_mean(name, metrics)}"
        )
    return name


def default_metric(*runs: RunInfo) -> Metric:
    """Return the default metric of comparisons: content kept where all runs measure it alike, else BERTScore F1."""
    signatures = {metric_signature(run, CONTENT_KEPT) for run in runs}
    return CONTENT_KEPT if CONTENT_KEPT in metrics_of(runs) and len(signatures) == 1 else "bertscore_f1"


def metric_name(metric: Metric) -> str:
    """Return the name of a metric in tables, plots and sentences. A plugin's metric goes by its own name."""
    return BY_COLUMN[metric].columns[metric] if metric in BY_COLUMN else metric


def spaced_signature(signature: str) -> str:
    """Return the whole signature, with spaces so that lines can break between its options."""
    return signature.replace("|", " | ")


def signature_lines(signature: str, width: int) -> Iterator[str]:
    """Yield a signature in as many lines as it needs, broken only between its options."""
    line = ""
    for part in signature.split("|"):
        longer = f"{line}|{part}" if line else part
        if line and len(longer) > width:
            yield line + "|"
            longer = f"  {part}"
        line = longer
    yield line


def short_signature(signature: str) -> str:
    """Shorten a signature for a line of text: no library versions, no options that are off, revisions of 7 digits."""
    parts = _REVISION.sub(r"@\1", signature).split("|")
    return " | ".join(part for part in parts if not _OFF.fullmatch(part) and not _VERSION.fullmatch(part))


def metric_places(metric: Metric) -> int:
    """Return the number of decimals to print."""
    return BY_COLUMN[metric].decimals if metric in BY_COLUMN else _DECIMALS
