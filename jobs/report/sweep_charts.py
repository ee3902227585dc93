"""The charts of a sweep: content kept by n, mean scores by n, and gains over controls of the same length."""

import math
from collections.abc import Iterator, Mapping, Sequence

from nws.core.analysis.answer import Answer
from nws.core.findings.comparisons import PairedLength
from nws.core.findings.content import KEPT, ContentKept
from nws.core.systems.rulers import PERSON
from nws.core.types import LEAD, RANDOM, SystemKind
from nws.jobs.report.charts import (
    Chart,
    ChartPoint,
    GainAt,
    Series,
    Sheet,
    difference_chart,
    made_by,
    mean_chart,
    scores_notes,
    system_looks,
)
from nws.jobs.report.kept_answer import basis, headline
from nws.jobs.report.metric_names import metric_name, metric_signature
from nws.jobs.report.numerals import counted, percent, percent_interval
from nws.jobs.report.printed_lines import role
from nws.jobs.report.sweep_numbers import Numbers
from nws.jobs.report.system_names import FULL_NAMES, SystemNames

WHOLE = "person, in full"
"""What another person's whole summary keeps: the same at every n."""
_GUIDES = {50.0: "half", 90.0: "90 %"}
"""Shares that readers look for."""
_STEP = 20.0


def kept_chart(answer: Answer, dataset: str, names: SystemNames = FULL_NAMES, chart_id: str = "") -> Chart:
    """Content kept by n, in per cent, and another person's whole summaries if there are any."""
    of_reference = [held["reference"] for held in answer.of(dataset).values()]
    looks = system_looks(kept_kinds(answer))
    lines = [
        Series(names[kept.system] + role(kept.kind), looks[kept.system], tuple(_shares(kept))) for kept in of_reference
    ]
    person = answer.uncut_of(dataset).get(PERSON)
    if person is not None and lines:
        lengths = [at.n for kept in of_reference for at in kept.lengths]
        text = f"{percent(person.score.mean)}, {person.words:.0f} words on average"
        ends = dict.fromkeys((min(lengths), max(lengths)))
        points = tuple(ChartPoint(n, 100 * person.score.mean, text=text) for n in ends)
        lines.append(Series(WHOLE, looks[WHOLE], points))
    highest = max((at.high or at.y for line in lines for at in line.points), default=0.0)
    # Above all lines and half, and not at 100 % if they end far below.
    top = max(3 * _STEP, _STEP * math.ceil(highest / _STEP))
    return Chart(
        id=chart_id,
        title=f"Content kept by n, {dataset}",
        heading=f"{dataset} · {basis(answer, dataset)}",
        x_label=f"summary length n ({answer.length_unit})",
        y_label="content kept (%)",
        series=tuple(lines),
        description=f"{headline(answer, dataset, names)} The table below has every number.",
        guides={height: name for height, name in _GUIDES.items() if height <= top},
        top=top,
    )


def kept_kinds(answer: Answer) -> dict[str, SystemKind]:
    """The kind of each line."""
    kinds: dict[str, SystemKind] = {kept.system: kept.kind for kept in answer.of_systems}
    return kinds | {WHOLE: "upper bound"} if any(uncut.system == PERSON for uncut in answer.uncut) else kinds


def _shares(kept: ContentKept) -> Iterator[ChartPoint]:
    for at in kept.lengths:
        share = at.share
        interval = percent_interval(share) or "no interval"
        # No mean share is above 1 and hardly one below 0, though an interval may end there: it would stretch the axis.
        least = min(0.0, 100 * share.mean)
        low, high = (None if end is None else min(max(100 * end, least), 100.0) for end in (share.low, share.high))
        text = f"{percent(share.mean)} ({interval}, {counted(at.articles, 'article')})"
        yield ChartPoint(at.n, 100 * share.mean, low, high, text=text)


def kept_sheet(numbers: Numbers) -> Sheet:
    """Content kept by n, a chart for each dataset: the first figure of a report."""
    kept = numbers.kept
    return Sheet(
        title=f"How many {kept.length_unit} keep how much of the content?",
        rows=(tuple(kept_chart(kept, dataset, numbers.names) for dataset in kept.datasets),),
        notes=(
            "0 %: a text about something else; 100 %: the whole reference. It does not see what is true",
            "bars: 95 % intervals over articles, cut at 0 and 100 %",
            *numbers.names.shared,
        ),
        made_by=made_by(numbers.run, f"content kept: {metric_signature(numbers.run, KEPT)}", [numbers.run.seed]),
    )


def gains(numbers: Numbers, dataset: str) -> dict[str, Mapping[str, Sequence[GainAt | PairedLength]]]:
    """By `random` and `lead` what each system gains over it by n, where anything can be compared with it.

    Upper bounds are left out: they gain several times as much as systems, so the other lines would be squeezed.
    """
    over_random = {
        number.system: tuple(GainAt(at.n, at.articles, at.gain, at.p_holm) for at in number.gains)
        for number in numbers.magic_numbers_of(dataset)
        if number.gains and number.kind != "upper bound"
    }
    over_lead = {
        system: by_metric[numbers.metric].lengths
        for system, by_metric in numbers.vs_lead_of(dataset).items()
        if numbers.metric in by_metric
    }
    return {over: by_system for over, by_system in ((RANDOM, over_random), (LEAD, over_lead)) if by_system}


def curves_sheet(numbers: Numbers) -> Sheet:
    """Mean scores by n, and below them gains over `random`, a column for each dataset."""
    over_random = [gains(numbers, dataset).get(RANDOM, {}) for dataset in numbers.scored]
    below = [
        difference_chart(numbers, dataset, RANDOM, differences)
        for dataset, differences in zip(numbers.scored, over_random, strict=True)
    ]
    above = tuple(mean_chart(numbers, dataset) for dataset in numbers.scored)
    return Sheet(
        title="Mean scores and gains by n",
        rows=(above, tuple(below)) if any(over_random) else (above,),
        notes=("bars: 95 % intervals over articles, of gains for all n at once", *scores_notes(numbers)),
        made_by=made_by(numbers.run, f"{metric_name(numbers.metric)}: {numbers.signature}", [numbers.run.seed]),
    )
