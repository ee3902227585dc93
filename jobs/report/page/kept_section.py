"""The page's answer for a dataset: how many words keep how much, as sentences, a chart, and two tables of answer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.analysis.answer import Answer
from core.analysis.content_kept import SHARES, Ceiling, ContentKept, SmallestN
from jobs.report.looks import GUIDES, kept_kinds, kept_series, kept_top, system_looks
from jobs.report.page.charts import Chart, Guide, Lines, length_label, line_chart
from jobs.report.sweep import kept_answer
from jobs.terminal.system_names import SystemNames
from jobs.terminal.table_style import role

_HEIGHT = 480.0
_CEILINGS: Mapping[Ceiling, str] = {
    "reference": "of the reference",
    "person": "of what another person keeps",
    "longest": "of what its own longest n keeps",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of a table, and below it how sure it is."""

    shown: str
    sure: str = ""


@dataclass(frozen=True, slots=True)
class SmallestTable:
    """The smallest n by system and share of one ceiling; `of` says which."""

    of: str
    shares: tuple[str, ...]
    rows: Mapping[str, tuple[Cell, ...]]


@dataclass(frozen=True, slots=True)
class KeptSection:
    """What the page says of content kept on one dataset.

    Attributes:
        headline: of the best system.
        sentences: what each is about, its CSS classes, and the sentence.
        lengths: the columns of `shares`, which has a row for each system; there is no cell where it lacks an n.
    """

    headline: str
    basis: str
    sentences: tuple[tuple[str, str, str], ...]
    chart: Chart
    lengths: tuple[int, ...]
    shares: Mapping[str, Mapping[int, Cell]]
    smallest: tuple[SmallestTable, ...]


def kept_section(section: str, answer: Answer, dataset: str, names: SystemNames) -> KeptSection | None:
    """None where there is no such score."""
    by_system = answer.of(dataset)
    if not by_system:
        return None
    of_reference = {system: held["reference"] for system, held in by_system.items()}
    kinds = kept_kinds(answer)
    looks = {name: look.classes for name, look in system_looks(kinds).items()}
    looks_of_names = {names[name]: look for name, look in looks.items()}
    named = {system: f"{names[system]}{role(kept.kind)}" for system, kept in of_reference.items()}
    lengths = sorted({at.n for kept in of_reference.values() for at in kept.lengths})
    return KeptSection(
        headline=kept_answer.headline(answer, dataset, names),
        basis=kept_answer.basis(answer, dataset),
        sentences=tuple(
            (name, looks_of_names.get(name, ""), said) for name, said in kept_answer.sentences(answer, dataset, names)
        ),
        chart=_chart(section, answer, dataset, names, Lines(looks, names.shown)),
        lengths=tuple(lengths),
        shares={named[system]: dict(_shares(kept)) for system, kept in of_reference.items()},
        smallest=tuple(_smallest_tables(by_system, named)),
    )


def _chart(section: str, answer: Answer, dataset: str, names: SystemNames, lines: Lines) -> Chart:
    described = f"{kept_answer.headline(answer, dataset, names)} The table below has every number."
    title = f"Content kept by n, {dataset}"
    axes = length_label(answer.length_unit), "content kept (%)"
    series = kept_series(answer, dataset, names)
    top = kept_top(series)
    return line_chart(
        *(f"{section}-kept", title, described, series, lines, *axes),
        guides=[Guide(height, label) for height, label in GUIDES.items() if height <= top],
        within=(0.0, top),
        least_height=_HEIGHT,
    )


def _shares(kept: ContentKept) -> Iterator[tuple[int, Cell]]:
    for at in kept.lengths:
        yield at.n, Cell(kept_answer.share_text(at.share.mean), kept_answer.share_interval_text(at.share))


def _smallest_tables(
    by_system: Mapping[str, kept_answer.ByCeiling], named: Mapping[str, str]
) -> Iterator[SmallestTable]:
    for of, called in _CEILINGS.items():
        rows = {
            named[system]: tuple(_smallest_cell(held[of], held[of].by_share[x]) for x in SHARES[of])
            for system, held in by_system.items()
            if of in held and (of != "longest" or len(held[of].lengths) > 1)
        }
        if rows:
            yield SmallestTable(called, tuple(kept_answer.share_text(x) for x in SHARES[of]), rows)


def _smallest_cell(kept: ContentKept, smallest: SmallestN) -> Cell:
    if smallest.n is None:
        return Cell(f"over {kept.longest}")
    end = kept.edge(smallest.n)
    at_end = [] if end is None else [kept_answer.edge_text(end, smallest.n)]
    return Cell(str(smallest.n), "; ".join((kept_answer.sure_text(kept, smallest), *at_end)))
