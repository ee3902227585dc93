"""A report as one HTML file: no network, no other files; everything but the viewer reads without JavaScript."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from markupsafe import Markup

from nws.core.errors import NwsError, StoreError
from nws.core.findings.content import CONTENT_KEPT
from nws.core.findings.scores import system_order
from nws.core.metrics.specs import METRICS, OPTIONAL, Metric
from nws.core.types import LEAD, RANDOM
from nws.core.whole_files import replacing
from nws.jobs.installation import is_of_commit, printed_version
from nws.jobs.report import policy_report, wording
from nws.jobs.report.console import escape_controls
from nws.jobs.report.metric_names import find_metric, metric_name
from nws.jobs.report.page import TEMPLATES, page_environment
from nws.jobs.report.page.archive import Archive, build_archive, viewed_systems
from nws.jobs.report.page.sections import opening, policy_section, sweep_section
from nws.jobs.report.policy_report import read_examples
from nws.jobs.report.result_tables import obedience_table
from nws.jobs.report.run_report import RunReport, read_report, require_findings
from nws.jobs.report.run_status import duration, made_by
from nws.jobs.report.system_names import names_of, system_notes, with_labels
from nws.jobs.store import FailureInfo, RunInfo, Store
from nws.jobs.store.runs import metric_signature

_MOST_FAILURES = 500
_SCRIPT = "\n".join((TEMPLATES / name).read_text(encoding="utf-8") for name in ("view.js", "viewer.js"))
"""The viewer."""


@dataclass(frozen=True, slots=True)
class Page:
    """The content of the page."""

    runs: tuple[RunInfo, ...]
    report: RunReport
    sections: list[dict[str, Any]]
    policies: list[dict[str, Any]]
    failures: tuple[tuple[str, FailureInfo], ...]
    archive: Archive


def write_page(
    store: Store,
    run_ids: Sequence[str],
    path: Path,
    metric: Metric = "bertscore_f1",
    labels: Mapping[str, str] | None = None,
) -> Page:
    """Write the report of runs, at least one, to an HTML file; the same runs give the same bytes.

    Args:
        store: the store of the runs.
        run_ids: the runs. If two of them have a system of the same name that wrote different texts, that of the later
            run is called `SYSTEM @RUN`.
        path: the path of the file; its folder is made if it does not exist.
        metric: the metric of the answer, the gains and the comparisons.
        labels: the labels of systems, over those of the recipes.

    Raises:
        RecipeError: not all of them have the metric, or a label is of no system or is the name of another one.
        StoreError: there is no such run, one has no summaries, or a metric is not the same in all of them.
        NwsError: the file cannot be written; an older one is as it was.
    """
    page = collect(store, run_ids, metric, labels)
    html = render(page)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as unfinished:
            unfinished.write_text(html, encoding="utf-8")
    except OSError as error:
        reason = error.strerror or error
        raise NwsError(f"The page cannot be written to {path}: {reason}. Choose another file.") from error
    return page


def collect(store: Store, run_ids: Sequence[str], metric: Metric, labels: Mapping[str, str] | None = None) -> Page:
    """Read the content of the page from the store."""
    runs = tuple(store.run_info(run_id) for run_id in dict.fromkeys(run_ids))
    metric = find_metric(metric, "report", *runs)
    for run in runs:
        _require_same_metrics(runs[0], run, (*METRICS, metric))
    for run in runs:
        require_findings(store, run)
    document = store.document([run.id for run in runs], metric)
    report = RunReport(runs[0], document, names_of(runs, document.kinds, labels))
    trained = [read_report(store, with_labels(run, labels or {})) for run in runs if run.job == "phase2"]
    kinds = dict(sorted(document.kinds.items(), key=lambda of: system_order(*of)))
    lengths = sorted({at.n for curve in document.of_metric().curves for at in curve.lengths})
    archive = build_archive(
        store,
        document.sources,
        viewed_systems(document.sources, kinds, report.names),
        sorted({article for run in runs for article in store.content_hashes(run.id)}),
        lengths + [0] * bool(document.of_metric().uncut),
        opening(report, trained),
        [found.metric for found in document.metrics if found.metric in OPTIONAL],
    )
    return Page(
        runs=runs,
        report=report,
        sections=[sweep_section(f"d{i}", dataset, report) for i, dataset in enumerate(document.datasets)],
        policies=[policy_section(f"p{i}", of, read_examples(store, of)) for i, of in enumerate(trained)],
        failures=tuple((run.id, failure) for run in runs for failure in store.failures(run.id)),
        archive=archive,
    )


def _require_same_metrics(first: RunInfo, run: RunInfo, metrics: Sequence[Metric]) -> None:
    """Refuse a run whose numbers cannot be shown on one axis with those of the first one.

    Raises:
        StoreError: its n count other things, or a metric was computed in another way.
    """
    if run.length_unit != first.length_unit:
        raise StoreError(
            f"Run {first.id!r} has summaries of n {first.length_unit}, and run {run.id!r} of n {run.length_unit}, so "
            "they cannot be on one page. Write a page of each."
        )
    for metric in metrics:
        signature, other_signature = metric_signature(first, metric), metric_signature(run, metric)
        if signature != other_signature:
            raise StoreError(
                f"{metric_name(metric)} is not the same metric in run {first.id!r} ({signature}) and in run "
                f"{run.id!r} ({other_signature}), so they cannot be on one page. Write a page of each."
            )


def render(page: Page, way_back: Mapping[str, str] = MappingProxyType({})) -> str:
    """Render the page as HTML. Text from outside is escaped; a policy in its head lets only its own script run.

    `way_back` has links to stand above it, by what they are called: of a page that a server shows among others.
    """
    environment = page_environment()
    environment.filters["named"] = page.report.names.__getitem__
    asked = (duration, is_of_commit, made_by, why_not_scored, recipe_yaml, system_notes, printed_version)
    html = environment.get_template("page.html.j2").render(
        {function.__name__: function for function in asked},
        wording=wording,
        policy_report=policy_report,
        most_failures=_MOST_FAILURES,
        LEAD=LEAD,
        RANDOM=RANDOM,
        page=page,
        unit=page.report.document.unit,
        # Then the page asks whether policies are better, not how many words it takes.
        is_of_trainings=all(run.job == "phase2" for run in page.runs),
        # The names of the systems over which others have gains.
        gained_over=tuple(dict.fromkeys(gain.name for section in page.sections for gain in section["gains"])),
        # Whether there is a dataset with several n, to draw something by n.
        has_curves=any(len(section["lengths"]) > 1 for section in page.sections),
        # How well generators keep to n.
        obeyed=obedience_table(page.report.document, page.report.names) if page.report.document.obedience else None,
        way_back=way_back,
        style=Markup((TEMPLATES / "page.css").read_text(encoding="utf-8")),
        script=Markup(_SCRIPT),
        policy=Markup(content_policy()),
    )
    return escape_controls(html)  # control characters, which a name may hold, mean nothing in HTML


def content_policy() -> str:
    """Return the page's Content-Security-Policy: a browser loads nothing, and runs the page's own script."""
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode("utf-8")).digest()).decode("ascii")
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:"


def why_not_scored(page: Page) -> str:
    """Say why the page does not say how much is kept."""
    if len({metric_signature(run, CONTENT_KEPT) for run in page.runs}) > 1:
        return "These runs measure content kept in different ways: write a page for each run."
    return wording.CONTENT_KEPT_UNKNOWN


def recipe_yaml(run: RunInfo) -> str:
    """Write the run's recipe as a file for `nws submit JOB --recipe FILE`."""
    text: str = yaml.safe_dump(run.recipe, sort_keys=False, allow_unicode=True, width=100)
    return text
