"""The charts of a sweep: content kept by n, mean scores by n, and gains over controls of the same length."""

import math
from collections.abc import Sequence
from dataclasses import replace

from nws.core.findings.content import CONTENT_KEPT
from nws.core.findings.policy_findings import split_seed
from nws.core.findings.report_document import ReportDocument
from nws.core.findings.scores import Interval
from nws.core.systems.rulers import PERSON
from nws.core.text.word_kinds import NAMED
from nws.core.types import LEAD, RANDOM
from nws.jobs.report.charts import (
    Chart,
    ChartPoint,
    GainAt,
    Look,
    Series,
    Sheet,
    difference_chart,
    made_by,
    mean_chart,
    numbered_look,
    scores_notes,
    system_looks,
)
from nws.jobs.report.metric_names import metric_name
from nws.jobs.report.numerals import counted, percent, percent_interval
from nws.jobs.report.printed_lines import role
from nws.jobs.report.result_tables import FEW_OF_KIND
from nws.jobs.report.run_report import RunReport
from nws.jobs.report.wording import KIND_NAMES, READ_PART, articles_and_lengths, headline
from nws.jobs.store.runs import metric_signature

WHOLE_PERSON = "person, in full"
"""What another person's whole summary keeps: the same at every n."""
_GUIDES = {50.0: "half", 90.0: "90 %"}
"""Shares that readers look for."""
_STEP, _ZOOMED_STEP = 20.0, 5.0


def kept_chart(report: RunReport, dataset: str, chart_id: str = "") -> Chart:
    """Chart content kept by n, in per cent, and another person's whole summaries if there are any."""
    document, names = report.document, report.names
    of_reference = [held["reference"] for held in document.kept_of(dataset).values()]
    looks = run_looks(report)
    lines = [
        Series(
            names[kept.system] + role(kept.kind),
            looks[kept.system],
            tuple(_share_point(at.n, at.share, at.articles) for at in kept.lengths),
        )
        for kept in of_reference
    ]
    uncut = [one for one in document.kept_uncut if (one.dataset, one.system) == (dataset, PERSON)]
    for person in uncut if lines else ():
        lengths = [at.n for kept in of_reference for at in kept.lengths]
        text = f"{percent(person.score.mean)}, {person.words:.0f} words on average"
        ends = dict.fromkeys((min(lengths), max(lengths)))
        points = tuple(ChartPoint(n, 100 * person.score.mean, text=text) for n in ends)
        lines.append(Series(WHOLE_PERSON, looks[WHOLE_PERSON], points))
    # Above all lines and half, and not at 100 % if they end far below.
    top = max(3 * _STEP, _top(lines, _STEP))
    return Chart(
        id=chart_id,
        title=f"Content kept by n, {dataset}",
        heading=f"{dataset} · {articles_and_lengths(document, dataset)}",
        x_label=f"summary length n ({document.unit})",
        y_label="content kept (%)",
        series=tuple(lines),
        description=f"{headline(document, dataset, names)} The table has every number.",
        guides={height: name for height, name in _GUIDES.items() if height <= top},
        top=top,
    )


def kinds_chart(report: RunReport, dataset: str, system: str, chart_id: str = "") -> Chart:
    """Chart what a system keeps of each kind of word by n, in per cent: a line for each kind that has a name."""
    document, name = report.document, report.names[system]
    by_n = document.by_kind(dataset)[system]
    lines = tuple(
        Series(
            KIND_NAMES[kind],
            numbered_look(i),
            tuple(_share_point(of.n, at.share, at.articles) for of in by_n if (at := of.by_kind.get(kind))),
        )
        for i, kind in enumerate(NAMED)
        if kind in by_n[0].by_kind
    )
    return Chart(
        id=chart_id,
        title=f"What {name} keeps of each kind of word",
        heading=f"{dataset} · {name}",
        x_label=f"summary length n ({document.unit})",
        y_label="kept of this kind (%)",
        series=lines,
        description="Content kept by kind of word and n. The table has every number.",
        top=_top(lines, _STEP),
    )


def zoomed(chart: Chart) -> Chart | None:
    """Make a chart of content kept without oracles, whose y axis ends above the other lines.

    None where there are no oracles, or nothing else.
    """
    lines = tuple(line for line in chart.series if line.look.css != "oracle")
    if len(lines) in (0, len(chart.series)):
        return None
    top = _top(lines, _ZOOMED_STEP)
    guides = {height: name for height, name in chart.guides.items() if height <= top}
    return replace(chart, id=f"{chart.id}-zoomed", series=lines, guides=guides, top=top)


def _top(lines: Sequence[Series], step: float) -> float:
    """Return the first multiple of `step` that is above all lines and their intervals, in per cent."""
    highest = max((at.high or at.y for line in lines for at in line.points), default=0.0)
    return step * math.ceil(highest / step)


def run_looks(report: RunReport) -> dict[str, Look]:
    """Return the look of every system, the same in all charts of a run.

    The mean over a policy's seeds, and its method, look as its first seed does.
    """
    trained = report.document.policies
    methods = {line.system for line in trained.learning} if trained is not None else set()
    kinds = report.document.kinds | {WHOLE_PERSON: "oracle"}
    kinds |= {method: "system" for method in methods if not any(name.startswith(f"{method}|") for name in kinds)}
    looks = system_looks(kinds)
    looks |= {split_seed(system)[0]: look for system, look in reversed(looks.items())}
    for method in methods - looks.keys():
        looks[method] = next(look for system, look in looks.items() if system.startswith(f"{method}|"))
    return looks


def _share_point(n: int, share: Interval, articles: int) -> ChartPoint:
    # No mean share is above 1 and hardly one below 0, though an interval may end there: it would stretch the axis.
    least = min(0.0, 100 * share.mean)
    low, high = (None if end is None else min(max(100 * end, least), 100.0) for end in (share.low, share.high))
    text = f"{percent(share.mean)} ({percent_interval(share) or 'no interval'}, {counted(articles, 'article')})"
    return ChartPoint(n, 100 * share.mean, low, high, text=text)


def kept_sheet(report: RunReport) -> Sheet:
    """Chart content kept by n, with a chart for each dataset: the first figure of a report."""
    run = report.run
    ceiling = READ_PART if report.document.has_cut_references() else "the whole reference"
    return Sheet(
        title=f"How many {report.document.unit} keep how much of the content?",
        rows=(tuple(kept_chart(report, dataset) for dataset in sorted(report.document.ranking)),),
        notes=(
            f"0 %: a text about something else; 100 %: {ceiling}. Content kept does not measure truth",
            "bars: 95 % CIs over articles, cut at 0 and 100 %",
            *report.names.shortened,
        ),
        made_by=made_by(run, f"content kept: {metric_signature(run, CONTENT_KEPT)}", [run.seed]),
    )


def kinds_sheet(report: RunReport) -> Sheet:
    """Chart what the best system of each dataset keeps of each kind of word."""
    document, run = report.document, report.run
    return Sheet(
        title="What survives of each kind of word?",
        rows=(tuple(kinds_chart(report, *place) for place in best_by_kind(document)),),
        notes=("bars: 95 % CIs over articles", FEW_OF_KIND, *report.names.shortened),
        made_by=made_by(run, f"content kept by kind: {document.word_kinds}", [run.seed]),
    )


def best_by_kind(document: ReportDocument) -> list[tuple[str, str]]:
    """List each dataset with its best system, if it is known what this system keeps of each kind of word."""
    best = [(dataset, ranked[0]) for dataset, ranked in sorted(document.ranking.items()) if ranked]
    return [(dataset, system) for dataset, system in best if system in document.by_kind(dataset)]


def gains(report: RunReport, dataset: str) -> dict[str, dict[str, Sequence[GainAt]]]:
    """Return, for `random` and `lead`, what each system gains over it by n, if anything can be compared with it.

    Oracles are left out: they gain several times as much as systems, so the other lines would be squeezed.
    """
    found = report.document.of_metric()
    over_random: dict[str, Sequence[GainAt]] = {
        number.system: number.gains
        for number in found.magic_numbers
        if number.dataset == dataset and number.gains and number.kind != "oracle"
    }
    over_lead: dict[str, Sequence[GainAt]] = {
        system: comparison.lengths for system, comparison in found.vs_lead_of(dataset).items()
    }
    return {over: by_system for over, by_system in ((RANDOM, over_random), (LEAD, over_lead)) if by_system}


def curves_sheet(report: RunReport) -> Sheet:
    """Chart mean scores by n, and below them gains over `random`, with a column for each dataset."""
    found, datasets, looks = report.document.of_metric(), report.document.scored, run_looks(report)
    over_random = [gains(report, dataset).get(RANDOM, {}) for dataset in datasets]
    below = [
        difference_chart(report, found.curves_of(dataset), RANDOM, differences, looks)
        for dataset, differences in zip(datasets, over_random, strict=True)
    ]
    above = tuple(mean_chart(report, report.metric, found.curves_of(dataset), looks) for dataset in datasets)
    return Sheet(
        title="Mean scores and gains by n",
        rows=(above, tuple(below)) if any(over_random) else (above,),
        notes=("bars: 95 % CIs over articles; of gains for all n at once", *scores_notes(report, found.curves)),
        made_by=made_by(report.run, f"{metric_name(report.metric)}: {report.signature}", [report.run.seed]),
    )
