"""The stored metrics as people name and read them, and what of a run's signatures tells how each was computed."""

import re
from collections.abc import Mapping, Sequence

from core.analysis import METRICS, PARTS, Metric
from core.errors import RecipeError
from core.plugins.plugin_metric import METRIC_OF_PLUGIN
from core.registry import did_you_mean
from jobs.store import RunInfo

_NAMES: Mapping[Metric, str] = {
    "bertscore_f1": "BERTScore F1",
    "rouge1_f1": "ROUGE-1 F1",
    "rouge2_f1": "ROUGE-2 F1",
    "rougel_f1": "ROUGE-L F1",
    "efficiency": "BERTScore F1 per word",
    "density": "density",
    "coverage": "coverage",
    "bertscore_precision": "BERTScore precision",
    "bertscore_recall": "BERTScore recall",
    "rouge1_precision": "ROUGE-1 precision",
    "rouge1_recall": "ROUGE-1 recall",
    "rouge2_precision": "ROUGE-2 precision",
    "rouge2_recall": "ROUGE-2 recall",
    "rougel_precision": "ROUGE-L precision",
    "rougel_recall": "ROUGE-L recall",
}
NOT_RECORDED = "not recorded"

_SIGNATURES: Mapping[Metric, tuple[str, ...]] = {
    "bertscore_f1": ("bertscore",),
    "rouge1_f1": ("rouge",),
    "rouge2_f1": ("rouge",),
    "rougel_f1": ("rouge",),
    "efficiency": ("efficiency", "bertscore"),
    "density": ("density",),
    "coverage": ("coverage",),
    **{part: ("bertscore" if part.startswith("bertscore") else "rouge",) for part in PARTS},
}
_SMALL: Metric = "efficiency"
_REVISION = re.compile(r"@([0-9a-f]{7})[0-9a-f]{33,}")
_OFF = re.compile(r".*:no")
_VERSION = re.compile(r"(like|transformers|version):.*")


def metrics_of(runs: Sequence[RunInfo]) -> tuple[Metric, ...]:
    """The metrics that all of these runs have, each for itself: `METRICS`, then those of plugins."""
    shared = (name for name in plugin_metrics_of(runs[0]) if all(name in run.signatures for run in runs))
    return (*METRICS, *shared)


def plugin_metrics_of(run: RunInfo) -> tuple[Metric, ...]:
    """The metrics of plugins that a run has."""
    return tuple(
        name for name, signature in run.signatures.items() if signature.startswith(f"{name}|{METRIC_OF_PLUGIN}")
    )


def find_metric(name: str, to: str, *runs: RunInfo) -> Metric:
    """The metric called `name`. `to` says what it is for in the error, such as "compare by" or "report".

    Raises:
        RecipeError: not all of `runs` have it.
    """
    known = (*metrics_of(runs), *PARTS)
    if name not in known:
        raise RecipeError(
            f"There is no metric {name!r} to {to}. The metrics are {', '.join(known)}.{did_you_mean(name, known)}"
        )
    return name


def metric_name(metric: Metric) -> str:
    """As tables, plots and sentences call it; a plugin's metric goes by its own name."""
    return _NAMES.get(metric, metric)


def metric_signature(run: RunInfo, metric: Metric) -> str:
    """Every option that made the numbers of `metric` in a run; `NOT_RECORDED` where a part of them is missing."""
    parts = [run.signatures.get(name) for name in _SIGNATURES.get(metric, (metric,))]
    return "|".join(filter(None, parts)) if all(parts) else NOT_RECORDED


def spaced_signature(signature: str) -> str:
    """The whole signature, with spaces so that lines can break between its options."""
    return signature.replace("|", " | ")


def short_signature(signature: str) -> str:
    """For a line of text: without library versions and options that are off, revisions cut to seven digits."""
    parts = _REVISION.sub(r"@\1", signature).split("|")
    return ", ".join(part for part in parts if not _OFF.fullmatch(part) and not _VERSION.fullmatch(part))


def metric_label(metric: Metric, signature: str) -> str:
    """The metric's name and its short signature, which begins with the name of a plugin's metric."""
    name, short = metric_name(metric), short_signature(signature)
    return short if short.split(", ")[0] == name else f"{name}, {short}"


def metric_places(metric: Metric) -> int:
    """Decimals to print: F1 per word is a tenth of F1, or less."""
    return 4 if metric == _SMALL else 3
