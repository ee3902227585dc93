"""The metrics of runs, and how each was computed."""

from collections.abc import Sequence

from nws.core.metrics.specs import BY_COLUMN, BY_MODEL, METRICS, OPTIONAL, Metric
from nws.core.plugins.adapters import METRIC_OF_PLUGIN
from nws.jobs.store.runs import RunInfo


def metrics_of(runs: Sequence[RunInfo]) -> tuple[Metric, ...]:
    """List the metrics that all these runs have: `METRICS`, then those of `OPTIONAL` and `chosen_metrics_of`."""
    some = (*OPTIONAL, *chosen_metrics_of(runs[0]))
    shared = (name for name in some if all(name in run.signatures for run in runs))
    return (*METRICS, *shared)


def chosen_metrics_of(run: RunInfo) -> tuple[Metric, ...]:
    """List the metrics that a run has besides the stored ones: by models that its recipe names, and of plugins."""
    return tuple(
        name
        for name, signature in run.signatures.items()
        if name in BY_MODEL or signature.startswith(f"{name}|{METRIC_OF_PLUGIN}")
    )


def metric_signature(run: RunInfo, metric: Metric) -> str:
    """Return the signature of a metric in a run: every option that made its numbers."""
    names = BY_COLUMN[metric].signatures if metric in BY_COLUMN else (metric,)
    return "|".join(run.signatures[name] for name in names if name in run.signatures)
