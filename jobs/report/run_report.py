"""A run's report document together with what it is shown with: the run, and what its systems are called."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nws.core.errors import StoreError
from nws.core.findings.policy_findings import PolicyFindings
from nws.core.findings.report_document import ReportDocument
from nws.core.metrics.specs import DEFAULT_METRIC, Metric
from nws.jobs.report.metric_names import metric_places
from nws.jobs.report.system_names import SystemNames, names_of
from nws.jobs.store import RunInfo, Store
from nws.jobs.store.runs import metric_signature


@dataclass(frozen=True, slots=True)
class RunReport:
    """What every output of a report renders."""

    run: RunInfo
    document: ReportDocument
    names: SystemNames

    @property
    def metric(self) -> Metric:
        """The metric of tables and comparisons."""
        return self.document.metric

    @property
    def trained(self) -> PolicyFindings:
        """What was found of trained policies: of a run that trains them alone."""
        assert self.document.policies is not None
        return self.document.policies

    @property
    def signature(self) -> str:
        """Every option that made the numbers in this metric."""
        return metric_signature(self.run, self.metric)

    @property
    def places(self) -> int:
        """The decimals to print of a score."""
        return metric_places(self.metric)


def read_report(
    store: Store,
    run: RunInfo,
    metric: Metric = DEFAULT_METRIC,
    labels: Mapping[str, str] | None = None,
    claim: str | int | None = None,
) -> RunReport:
    """Read the report of a run, or make it where it is not stored.

    Raises:
        RecipeError: a label is of no system, or another system is called so, or the run does not have the claimed n.
        StoreError: there is nothing to report yet, or the summaries are not those of one run.
    """
    require_findings(store, run)
    document = store.document([run.id], metric, claim)
    systems = {*document.kinds}
    if trained := document.policies:
        systems |= {score.system for score in trained.scores} | {line.system for line in trained.learning}
    return RunReport(run, document, names_of([run], systems, labels))


def require_findings(store: Store, run: RunInfo) -> None:
    """Refuse a run that has neither summaries nor updates of a training.

    Raises:
        StoreError: says what to do.
    """
    has_updates = "reward" in run.signatures and bool(store.policy_infos(run.id))
    if not run.summaries and not has_updates:
        raise StoreError(
            f"Run {run.id!r} ({run.state}) has no summaries to report: {run.articles_done} articles finished, "
            f"{run.failures} failed. See `nws status {run.id}`; continue it with `nws resume {run.id}`."
        )


def run_json(run: RunInfo) -> dict[str, Any]:
    """Return the origin of the numbers as plain JSON values; `articles` are finished, and `failures` are lost."""
    names = ("id", "seed", "code_version", "signatures", "revisions", "device", "state")
    return {name: getattr(run, name) for name in names} | {"articles": run.articles_done, "failures": run.failures}
