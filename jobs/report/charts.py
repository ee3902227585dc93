"""Charts as plain data: lines of systems by n, the look of each, and the texts around them.

`nws.jobs.report.drawing` draws a chart, the same for files, notebooks and the page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from nws.core.findings.comparisons import PairedLength
from nws.core.findings.lengths import Gain
from nws.core.findings.scores import Curve, CurvePoint, Interval, system_order
from nws.core.metrics.specs import Metric
from nws.core.types import SystemKind
from nws.jobs.report.metric_names import metric_name, metric_places, spaced_signature
from nws.jobs.report.numerals import counted, decimals, interval_text, signed
from nws.jobs.report.printed_lines import role
from nws.jobs.report.run_report import RunReport
from nws.jobs.store import RunInfo

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255")
"""Okabe and Ito (2008) without black and yellow, and a wine red: told apart with any colour vision."""
GREYS = ("#555555", "#646464", "#767676")
"""Text in them is legible on white: 4.5 to 1 and more (WCAG 2.2, AA)."""
BLACK = "#111111"
_MARKERS = ("o", "s", "D", "^", "v", "<", ">")
Dashes = Literal["-"] | tuple[float, tuple[float, ...]]

BASELINE_DASHES: Dashes = (0, (6, 2, 2, 2))  # of the advantage baseline in a learning curve; no system has them
_LONG_DASHES: tuple[Dashes, ...] = ((0, (4, 2)), (0, (9, 3)), (0, (2, 2)), (0, (14, 4)))
_DOTTED: tuple[Dashes, ...] = ((0, (1, 1.3)), (0, (5, 1.5, 1, 1.5)), (0, (3, 1.3, 1, 1.3, 1, 1.3)), (0, (7, 1.5)))


@dataclass(frozen=True, slots=True)
class Look:
    """How a line looks in every chart: without `marker` only the line is drawn; `css` is its class on the page."""

    colour: str
    marker: str
    dashes: Dashes
    css: str


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A point of a line: `y` at `x`, with the ends of its interval if it has one, and in words (`text`).

    A hollow point is over fewer articles than others'; what a ring marks, the chart says.
    """

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    hollow: bool = False
    ringed: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """A line in rising x. Its name stands at its end; `is_band` says that its intervals are always a band."""

    name: str
    look: Look
    points: tuple[ChartPoint, ...]
    is_band: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over one x axis.

    Attributes:
        id: the id in the page.
        title: the title of the chart alone, as in the page.
        heading: over its panel in a figure of several.
        description: for who cannot see it.
        zero: the look of the line at 0, where others are compared with what that line stands for.
        guides: heights that readers look for, and what they are called.
        top: y goes from 0 to at least this height.
        note: the text in a chart without lines, or over one without a heading.
    """

    id: str
    title: str
    heading: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    description: str = ""
    zero: Look | None = None
    guides: Mapping[float, str] = field(default_factory=dict)
    top: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """Charts in rows that have the same x, under a title: the content of a figure.

    Attributes:
        notes: the facts that readers must know.
        made_by: the origin of the numbers, for the metadata of its files.
        is_shared: whether the charts of a row have the same lines, which are named at the last one, and the same y.
    """

    title: str
    rows: tuple[tuple[Chart, ...], ...]
    notes: tuple[str, ...]
    made_by: tuple[str, ...]
    is_shared: bool = False


GainAt: TypeAlias = Gain | PairedLength
"""A system minus another at n words, over the articles that both have."""


def system_looks(kinds: Mapping[str, SystemKind]) -> dict[str, Look]:
    """Give each system its look: controls grey and dashed, oracles black and dotted, others in colour with markers.

    On a dark page, oracles are nearly white. On every page all controls have one grey, so each has dashes of its own.

    After the seventh system the colours return, each with another marker and a dashed line.
    """
    looks: dict[str, Look] = {}
    place: dict[SystemKind, int] = {"system": 0, "control": 0, "oracle": 0}
    for system in sorted(kinds, key=lambda system: system_order(system, kinds[system])):
        kind = kinds[system]
        i, place[kind] = place[kind], place[kind] + 1
        if kind == "control":
            looks[system] = Look(GREYS[i % len(GREYS)], "", _LONG_DASHES[i % len(_LONG_DASHES)], "control")
        elif kind == "oracle":
            looks[system] = Look(BLACK, "", _DOTTED[i % len(_DOTTED)], "oracle")
        else:
            looks[system] = numbered_look(i)
    return looks


def numbered_look(i: int) -> Look:
    """Return the look of the i-th system."""
    turn, colour = divmod(i, len(COLOURS))
    dashes: Dashes = "-" if turn % 2 == 0 else (0, (4, 1))
    return Look(COLOURS[colour], _MARKERS[(i + turn) % len(_MARKERS)], dashes, f"c{colour}")


def mean_chart(
    report: RunReport,
    metric: Metric,
    curves: Sequence[Curve],
    looks: Mapping[str, Look],
    chart_id: str = "",
    noun: str = "article",
) -> Chart:
    """Make the chart of the mean scores of every system of a dataset by n, over articles that are called `noun`."""
    name, places = metric_name(metric), metric_places(metric)
    most = max(at.articles for curve in curves for at in curve.lengths)
    return Chart(
        id=chart_id,
        title=f"{name} by n",
        heading=f"{curves[0].dataset} · {counted(most, noun)}",
        x_label=f"summary length n ({report.document.unit})",
        y_label=f"mean {name}",
        series=tuple(
            Series(
                report.names[curve.system] + role(curve.kind),
                looks[curve.system],
                tuple(_mean_point(at, places) for at in curve.lengths),
            )
            for curve in curves
        ),
        description=f"Mean {name} by n. The table below has every number.",
    )


def _mean_point(at: CurvePoint, places: int) -> ChartPoint:
    articles = counted(at.articles, "article")
    text = f"{decimals(at.mean, places)} ({interval_text(at, places)}, {articles})"
    return interval_point(at.n, at, text, hollow=not at.comparable)


def interval_point(n: int, interval: Interval, text: str, *, hollow: bool = False, ringed: bool = False) -> ChartPoint:
    """Make a point at n words."""
    text += "; lacks articles that others have" * hollow
    return ChartPoint(n, interval.mean, interval.low, interval.high, hollow, ringed, text)


def difference_chart(
    report: RunReport,
    curves: Sequence[Curve],
    over: str,
    differences: Mapping[str, Sequence[GainAt]],
    looks: Mapping[str, Look],
    chart_id: str = "",
    note: str = "",
) -> Chart:
    """Make the chart of the differences between systems and another one at equal n, which is the line at 0.

    With a `note`, which says so, what is significant has a ring. `curves` are those of the dataset.
    """
    name, places, other = metric_name(report.metric), report.places, report.names[over]
    apart = {(curve.system, at.n) for curve in curves for at in curve.lengths if not at.comparable}
    kinds = {curve.system: curve.kind for curve in curves}

    def point(system: str, at: GainAt) -> ChartPoint:
        text = f"{signed(at.difference.mean, places)} ({interval_text(at.difference, places)}, {at.articles} articles)"
        return interval_point(
            at.n, at.difference, text, hollow=(system, at.n) in apart, ringed=at.significant and note != ""
        )

    return Chart(
        id=chart_id,
        title=f"{name} vs. {other} at equal n (Δ)",
        heading="",
        x_label=f"summary length n ({report.document.unit})",
        y_label=f"difference to {other} at equal n",
        series=tuple(
            Series(report.names[system] + role(kinds[system]), looks[system], tuple(point(system, at) for at in by_n))
            for system, by_n in differences.items()
        ),
        description=f"Mean per-article difference in {name} between each system and {other}, by n.",
        zero=looks.get(over),
        note=note if differences else f"nothing here to compare with {other}",
    )


def scores_notes(report: RunReport, curves: Sequence[Curve]) -> tuple[str, ...]:
    """Return the cautions for readers of charts of scores."""
    is_hollow = any(not at.comparable for curve in curves for at in curve.lengths)
    return (
        *["oracles saw the reference; other texts may score higher still"]
        * any(curve.kind == "oracle" for curve in curves),
        *["hollow marker: lacks articles that others have"] * is_hollow,
        *report.names.shortened,
    )


def made_by(run: RunInfo, measured: str, seeds: Sequence[int]) -> tuple[str, ...]:
    """Return the origin of a figure's numbers: metric with signature (`measured`), seeds, run and code."""
    return (
        spaced_signature(measured),
        f"seed {', '.join(map(str, seeds))}",
        f"run {run.id}, {run.state}, {counted(run.articles_done, 'article')}, {run.failures} failed",
        f"code {run.code_version}",
    )
