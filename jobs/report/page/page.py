"""A report as one HTML file: no network, no other files; everything but the viewer reads without JavaScript."""

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import yaml
from markupsafe import Markup

from nws.core.analysis import Points, kinds_of
from nws.core.errors import NwsError, StoreError
from nws.core.findings.content import KEPT
from nws.core.findings.scores import Metric
from nws.core.metrics.specs import METRICS, OPTIONAL
from nws.core.text.length import LengthUnit
from nws.core.types import LEAD, RANDOM
from nws.core.whole_files import replacing
from nws.jobs.installation import is_of_commit, told_version
from nws.jobs.report import kept_answer, policy_report
from nws.jobs.report.console import written_out
from nws.jobs.report.metric_names import (
    find_metric,
    metric_label,
    metric_name,
    metric_places,
    metric_signature,
    metrics_of,
)
from nws.jobs.report.page import TEMPLATES, page_environment
from nws.jobs.report.page.archive import Archive, Source, build_archive, viewed_systems
from nws.jobs.report.page.sections import (
    PolicySection,
    SweepSection,
    opening,
    policy_section,
    sweep_sections,
)
from nws.jobs.report.policy_numbers import analyse_policies, policy_results
from nws.jobs.report.printed_lines import role
from nws.jobs.report.run_status import duration, made_by
from nws.jobs.report.sweep_numbers import Numbers, analyse, require_summaries
from nws.jobs.report.system_names import system_notes, with_labels
from nws.jobs.store import FailureInfo, RunInfo, Store

_MOST_FAILURES = 500
_SAME = 1e-6
"""Scores no further apart are equal."""
_SCRIPT = "\n".join((TEMPLATES / name).read_text(encoding="utf-8") for name in ("view.js", "viewer.js"))
"""The viewer."""


@dataclass(frozen=True, slots=True)
class Page:
    """The content of the page."""

    runs: tuple[RunInfo, ...]
    metric: Metric
    numbers: Numbers
    sections: tuple[SweepSection, ...]
    policies: tuple[PolicySection, ...]
    failures: tuple[tuple[str, FailureInfo], ...]
    archive: Archive

    @property
    def length_unit(self) -> LengthUnit:
        """The unit of n in every run of the page."""
        return self.runs[0].length_unit

    @property
    def is_of_trainings(self) -> bool:
        """Whether all runs train policies: then the page asks whether these are better, not how many words it takes."""
        return all(run.job == "phase2" for run in self.runs)

    @property
    def gained_over(self) -> tuple[str, ...]:
        """The names of the systems over which others have gains."""
        return tuple(dict.fromkeys(gain.name for section in self.sections for gain in section.gains))

    @property
    def has_curves(self) -> bool:
        """Whether there is a dataset with several n, to draw something by n."""
        return any(len(section.lengths) > 1 for section in self.sections)


def write_page(
    store: Store,
    run_ids: Sequence[str],
    path: Path,
    metric: Metric = "bertscore_f1",
    labels: Mapping[str, str] | None = None,
) -> Page:
    """Write the report of runs, at least one, to an HTML file; the same runs give the same bytes.

    Args:
        store: where the runs are.
        run_ids: the runs. If two of them have a system of the same name that wrote different texts, that of the later
            run is called `SYSTEM @RUN`.
        path: of the file; its folder is made where it does not exist.
        metric: what the answer, the gains and the comparisons are in.
        labels: of systems, over those of the recipes.

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


def collect(
    store: Store,
    run_ids: Sequence[str],
    metric: Metric,
    labels: Mapping[str, str] | None = None,
) -> Page:
    """The content of the page, read from the store."""
    runs = tuple(store.run_info(run_id) for run_id in dict.fromkeys(run_ids))
    metric = find_metric(metric, "report", *runs)
    _require_one_unit(runs)
    _require_same_metrics(runs, (*METRICS, metric))
    charted = [name for name in metrics_of(runs) if len({metric_signature(run, name) for run in runs}) == 1]
    metrics = [*dict.fromkeys((*charted, metric))]
    points_by_run = [store.points(run.id, metrics) for run in runs]
    for run, points in zip(runs, points_by_run, strict=True):
        require_summaries(run, points)
    points, sources = combine([(run.id, points) for run, points in zip(runs, points_by_run, strict=True)])
    stored = store.stored_answer(runs[0].id) if len(runs) == 1 else None
    numbers = analyse(runs[0], points, metric, labels, runs[1:], stored)
    article_ids = sorted({article_id for _, article_id in points.articles})
    lengths = sorted(set(points.n.tolist()) - {0}) + [0] * bool((points.n == 0).any())
    viewed = viewed_systems(sources, kinds_of(points), numbers.names)
    trained = [run for run in runs if run.job == "phase2"]
    policies = tuple(_policies(store, with_labels(run, labels or {}), i) for i, run in enumerate(trained))
    failures = tuple((run.id, failure) for run in runs for failure in store.failures(run.id))
    opens = opening(numbers, [section.numbers for section in policies], points)
    optional = [name for name in charted if name in OPTIONAL]
    archive = build_archive(store, sources, viewed, article_ids, lengths, opens, optional)
    return Page(
        runs=runs,
        metric=metric,
        numbers=numbers,
        sections=sweep_sections(numbers, points, _in_two_runs(sources)),
        policies=policies,
        failures=failures,
        archive=archive,
    )


def combine(runs: Sequence[tuple[str, Points]]) -> tuple[Points, tuple[Source, ...]]:
    """The points of all runs, and the names that each run's systems have among them.

    A system counts as one if it wrote the same text with the same scores wherever two runs share an article and n.
    Otherwise it keeps its name for the first run, and is called `NAME @RUN` for any other.
    """
    if len(runs) == 1:
        ((run_id, points),) = runs
        return points, (Source(run_id, {system: system for system in points.systems}),)
    texts: dict[tuple[str, str, str, int], tuple[int, float]] = {}
    parts: list[Points] = []
    sources: list[Source] = []
    for run_id, points in runs:
        rows = list(_rows(points))
        differing = {system for system, place, text in rows if not _is_same(text, texts.get((system, *place), text))}
        names = {system: f"{system} @{run_id}" if system in differing else system for system in points.systems}
        is_new = np.array([(names[system], *place) not in texts for system, place, _ in rows])
        for system, place, text in rows:
            texts.setdefault((names[system], *place), text)
        parts.append(replace(points, systems=tuple(names.values())).take(is_new))
        sources.append(Source(run_id, names))
    return Points.together(parts), tuple(sources)


def _rows(points: Points) -> Iterator[tuple[str, tuple[str, str, int], tuple[int, float]]]:
    """For each summary: its system; its dataset, article and n; and the key of its text with its F1."""
    columns = (points.system, points.article, points.n, points.text, points.scores["bertscore_f1"])
    for system, article, n, text, f1 in zip(*(column.tolist() for column in columns), strict=True):
        yield points.systems[system], (*points.articles[article], n), (text, f1)


def _is_same(text: tuple[int, float], other: tuple[int, float]) -> bool:
    return text[0] == other[0] and abs(text[1] - other[1]) <= _SAME


def _require_one_unit(runs: Sequence[RunInfo]) -> None:
    """Refuse runs whose n count other things.

    Raises:
        StoreError: one counts words, another characters.
    """
    for run in runs[1:]:
        if run.length_unit != runs[0].length_unit:
            raise StoreError(
                f"Run {runs[0].id!r} has summaries of n {runs[0].length_unit}, and run {run.id!r} of n "
                f"{run.length_unit}, so they cannot be on one page. Write a page of each."
            )


def _require_same_metrics(runs: Sequence[RunInfo], metrics: Sequence[Metric]) -> None:
    """Refuse runs whose numbers cannot be shown on one axis.

    Raises:
        StoreError: a metric was computed in another way.
    """
    for run in runs[1:]:
        for metric in metrics:
            signature, other_signature = metric_signature(runs[0], metric), metric_signature(run, metric)
            if signature != other_signature:
                raise StoreError(
                    f"{metric_name(metric)} is not the same metric in run {runs[0].id!r} ({signature}) and in run "
                    f"{run.id!r} ({other_signature}), so they cannot be on one page. Write a page of each."
                )


def _in_two_runs(sources: Sequence[Source]) -> list[tuple[str, str]]:
    """The names that systems of the same name have, of another run and of the first that has them."""
    return [(name, system) for source in sources for system, name in source.names.items() if name != system]


def _policies(store: Store, run: RunInfo, i: int) -> PolicySection:
    results = policy_results(store, run, metrics_of([run]))
    return policy_section(f"p{i}", analyse_policies(run, results))


def render(page: Page, way_back: Mapping[str, str] = MappingProxyType({})) -> str:
    """The page as HTML. Every text from outside is escaped; a policy in its head lets only its own script run.

    `way_back` has links to stand above it, by what they are called: of a page that a server shows among others.
    """
    environment = page_environment()
    environment.filters |= {"role": role, "metric_name": metric_name}
    environment.filters["named"] = page.numbers.names.__getitem__
    environment.globals |= {
        "kept_answer": kept_answer,
        "not_scored": _not_scored,
        "policy_report": policy_report,
        "duration": duration,
        "made_by": made_by,
        "metric_label": metric_label,
        "metric_signature": metric_signature,
        "recipe_yaml": _recipe_yaml,
        "metric_name": metric_name,
        "LEAD": LEAD,
        "RANDOM": RANDOM,
        "most_failures": _MOST_FAILURES,
        "told_version": told_version,
        "system_notes": system_notes,
        "is_of_commit": is_of_commit,
    }
    html = environment.get_template("page.html.j2").render(
        page=page,
        way_back=way_back,
        places=metric_places(page.metric),
        style=Markup((TEMPLATES / "page.css").read_text(encoding="utf-8")),
        script=Markup(_SCRIPT),
        policy=Markup(content_policy()),
    )
    return written_out(html)  # control characters, which a name may hold, mean nothing in HTML


def content_policy() -> str:
    """The page's Content-Security-Policy: a browser loads nothing, and runs the page's own script."""
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode("utf-8")).digest()).decode("ascii")
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:"


def _not_scored(page: Page) -> str:
    """Why the page does not say how much is kept."""
    if len({metric_signature(run, KEPT) for run in page.runs}) > 1:
        return "These runs do not measure in the same way how much of the content is kept: write a page of each."
    return "How much of the content is kept is not known here: it takes references of other articles, too."


def _recipe_yaml(run: RunInfo) -> str:
    """The run's recipe as a file for `nws submit JOB --recipe FILE`."""
    text: str = yaml.safe_dump(run.recipe, sort_keys=False, allow_unicode=True, width=100)
    return text
