"""The tables of a run, each made once from its report document: terminal, page, notebook and papers show the same."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf

from nws.core.findings.comparisons import FEWEST_ARTICLES, Comparison, PairedLength
from nws.core.findings.content import CONTENT_KEPT, SHARES, Ceiling, ContentKept, Share, SmallestN
from nws.core.findings.lengths import MagicNumber, lengths_text
from nws.core.findings.report_document import ReportDocument
from nws.core.findings.scores import Curve, CurvePoint, Interval, Uncut
from nws.core.metrics.specs import Metric
from nws.core.text.checks.all_checks import LOWER_CASED
from nws.core.types import LEAD, RANDOM
from nws.jobs.report.charts import GainAt
from nws.jobs.report.metric_names import metric_name, metric_places
from nws.jobs.report.numerals import decimals, interval_text, p_text, percent, percent_interval, printed, signed
from nws.jobs.report.printed_lines import ORACLE_NOTE, role
from nws.jobs.report.run_report import RunReport
from nws.jobs.report.system_names import SystemNames
from nws.jobs.report.table import MISSING, Cell, Mark, Table
from nws.jobs.report.wording import KIND_NAMES, articles_and_lengths, magic_number_text, unequal_lengths_caution

_MAY_BE_LARGEST = "not significantly below another n (sign-flip tests of all pairs of n, Holm-corrected, 5 %)."
_APART_NOTE = "° the system lacks articles that others have, so its mean is not compared with theirs."
_INTERVALS = {RANDOM: "95 % for all n of a system at once (Bonferroni)", LEAD: "95 % at each n"}
_CEILINGS: Mapping[Ceiling, str] = {
    "reference": "of the reference",
    "person": "of what another person keeps",
    "longest": "of what it keeps at its longest n",
}


def means_table(curves: Sequence[Curve], metric: Metric, names: SystemNames, title: str) -> Table:
    """Make the table of systems by n: each mean of a dataset with half of its 95 % CI, the highest marked."""
    places, best = metric_places(metric), _highest(curves, metric_places(metric))
    cells = {
        names[curve.system] + role(curve.kind): {
            at.n: _mean_cell(at, best, places, is_oracle=curve.kind == "oracle") for at in curve.lengths
        }
        for curve in curves
    }
    notes = ["* highest mean at this n    ± half the width of the 95 % CI"]
    notes += [_APART_NOTE] * any(not at.comparable for curve in curves for at in curve.lengths)
    notes += [ORACLE_NOTE] * any(curve.kind == "oracle" for curve in curves)
    return _table_by_n(cells, title, notes)


def _table_by_n(cells: Mapping[str, Mapping[int, Cell]], title: str, notes: Sequence[str]) -> Table:
    """Make a table of systems by n from the cells of each by n, which need not have all n."""
    lengths = sorted({n for by_n in cells.values() for n in by_n})
    rows = [(name, *(by_n.get(n, MISSING) for n in lengths)) for name, by_n in cells.items()]
    return Table(("n", *map(str, lengths)), rows, title, notes)


def _highest(curves: Sequence[Curve], places: int) -> dict[int, float]:
    """Find the highest mean at each n, rounded as it is shown. Oracles take no part: they saw the reference."""
    best: dict[int, float] = {}
    for curve in curves:
        for at in curve.lengths if curve.kind != "oracle" else ():
            if at.comparable:
                best[at.n] = max(best.get(at.n, -inf), round(at.mean, places))
    return best


def _mean_cell(at: CurvePoint, best: Mapping[int, float], places: int, *, is_oracle: bool) -> Cell:
    half = printed(at, at.articles).half_width
    is_best = not is_oracle and round(at.mean, places) == best.get(at.n)
    mark: Mark = "°" if not at.comparable else "*" if is_best else ""
    return Cell(decimals(at.mean, places), "" if half is None else f"±{decimals(half, places)}", mark)


def kept_table(document: ReportDocument, dataset: str, names: SystemNames) -> Table:
    """Make the table of systems by n: the share of the reference's content, and from which n on half is kept."""
    of_reference = [held["reference"] for held in document.kept_of(dataset).values()]
    lengths = sorted({at.n for kept in of_reference for at in kept.lengths})
    rows = [(names[kept.system] + role(kept.kind), *_kept_cells(kept, lengths)) for kept in of_reference]
    title = f"{dataset}: content kept by n, {articles_and_lengths(document, dataset)}"
    notes = (
        "Each cell: per cent of the reference's content, and its 95 % CI",
        "half: the smallest n from which on half is kept, and its 95 % CI",
    )
    return Table(("n", *map(str, lengths), "half"), rows, title, notes)


def _kept_cells(kept: ContentKept, lengths: Sequence[int]) -> Iterator[Cell]:
    shares = {at.n: at for at in kept.lengths}
    yield from (_share_cell(shares[n]) if n in shares else MISSING for n in lengths)
    half = kept.by_share[0.5]
    low, high = (f">{kept.longest}" if end is None else str(end) for end in (half.low, half.high))
    yield Cell(f">{kept.longest}") if half.n is None else Cell(str(half.n), f"{low}–{high}")


def _share_cell(at: Share) -> Cell:
    """Make the cell of a share with its interval, which need not lie evenly around it, since a share is a ratio."""
    ends = percent_interval(printed(at.share, at.articles))
    return Cell(percent(at.share.mean).removesuffix(" %"), ends.removesuffix(" %"))


FEW_OF_KIND = f"A share without an interval: fewer than {FEWEST_ARTICLES} references have this kind of word"


def kinds_table(document: ReportDocument, dataset: str, system: str, names: SystemNames) -> Table:
    """Make the table of what a system keeps of each kind of word by n, and of how many articles have this kind."""
    by_n = document.by_kind(dataset)[system]
    shares = [of.by_kind for of in by_n]
    articles = {kind: str(share.articles) for kind, share in shares[0].items()}
    rows = [
        (KIND_NAMES[kind], *(kind_cell(of[kind].share) if kind in of else MISSING for of in shares), Cell(count))
        for kind, count in articles.items()
    ]
    notes = (
        "Each cell: per cent of what the references have of this kind of word, and its 95 % CI",
        "Each kind is a share of its own, so the kinds do not add up to content kept",
        FEW_OF_KIND,
        *(str(one) for one in document.findings if one.check == LOWER_CASED and one.place.startswith(f"{dataset} (")),
    )
    title = f"{dataset}: what {names[system]} keeps of each kind of word, by n"
    return Table(("n", *(str(of.n) for of in by_n), "articles"), rows, title, notes)


def kind_cell(share: Interval) -> Cell:
    """Make the cell of a share in per cent, without the sign."""
    return Cell(percent(share.mean).removesuffix(" %"), percent_interval(share).removesuffix(" %"))


def smallest_tables(document: ReportDocument, dataset: str, names: SystemNames) -> Iterator[Table]:
    """Make, for each ceiling, the table of the smallest n by system and share of the ceiling."""
    for of, called in _CEILINGS.items():
        rows = [
            (names[system] + role(held[of].kind), *(_smallest_cell(held[of], held[of].by_share[x]) for x in SHARES[of]))
            for system, held in document.kept_of(dataset).items()
            if of in held and (of != "longest" or len(held[of].lengths) > 1)
        ]
        if rows:
            title = f"{dataset}: the smallest n from which on a system keeps this share {called}"
            yield Table(("system", *(percent(x) for x in SHARES[of])), rows, title)


def _smallest_cell(kept: ContentKept, smallest: SmallestN) -> Cell:
    if smallest.n is None:
        return Cell(f"over {kept.longest}")
    edge = kept.edge(smallest.n)
    at_end = [] if edge is None else [f"the {'only n' if edge == 'only' else edge} tried"]
    return Cell(str(smallest.n), "; ".join((_interval_of_n(kept, smallest), *at_end)))


def _interval_of_n(kept: ContentKept, smallest: SmallestN) -> str:
    """Write the interval of an n, whose upper end is claimed: "9–11"."""
    if kept.articles < FEWEST_ARTICLES:
        return "too few articles"
    low, high = (str(end) if end is not None else f"over {kept.longest}" for end in (smallest.low, smallest.high))
    return low if low == high else f"{low}–{high}" if smallest.high is not None else f"{low} to {high}"


def obedience_table(document: ReportDocument, names: SystemNames) -> Table:
    """Make the table of how well generators keep to n, with a row for each generator and n."""
    unit = document.unit
    rows = [
        (
            *(
                names[of.system],
                of.n,
                Cell(f"{of.mean_length:.1f}"),
                Cell(percent(of.exactly)),
                Cell(percent(of.within)),
            ),
            *(Cell(f"{of.miss:+.1f}"), Cell(f"{of.absolute_miss:.1f}")),
            Cell("–" if of.first_absolute_miss is None else f"{of.first_absolute_miss:.1f}"),
            *(Cell(f"{count / of.summaries:.1f}") for count in (of.requests, of.drafts)),
        )
        for of in document.obedience
    ]
    columns = ("system", "n", f"mean\n{unit}", "exactly\nn", "within\nn", "miss", "absolute\nmiss", "first\nanswers")
    notes = (
        f"Each column counts what was written. A summary with more than n {unit} was then cut to n.",
        f"Miss: the mean of {unit} written minus n. Absolute miss: the mean of its absolute values. First answers: the "
        "absolute miss of first answers, before any draft. Requests and drafts are for each summary.",
    )
    title = f"Do systems keep to n? {unit.capitalize()} that they wrote when asked for n"
    return Table((*columns, "requests", "drafts"), rows, title, notes)


def best_n_table(report: RunReport, dataset: str) -> Table | None:
    """Make the table of the magic numbers by metric: of the largest mean, the largest gain, and single articles."""
    names = report.names
    rows = [
        (
            *(f"{names[number.system]}, {metric_name(metric)}", number.best_by_mean),
            *(_gain_cell(number, metric_places(metric)), magic_number_text(number), number.most_frequent),
        )
        for metric, number in report.document.best_lengths(dataset)
    ]
    if not rows:
        return None
    of_gain = f"largest gain\nover {names[RANDOM]}", "n that may have\nthe largest gain"
    columns = ("system", "largest\nmean", *of_gain, "best for most\narticles")
    notes = (
        f"n that may have the largest gain: {_MAY_BE_LARGEST}",
        "Below a gain: its 95 % CI, which holds for all n at once.",
    )
    return Table(columns, rows, f"{dataset}: the magic number by metric", notes)


def _gain_cell(number: MagicNumber, places: int) -> Cell:
    largest = number.largest_gain
    if not largest:
        return MISSING
    return Cell(f"{signed(largest.gain.mean, places)} at {largest.n}", interval_text(largest.gain, places))


def vs_lead_table(report: RunReport, dataset: str) -> Table | None:
    """Make the table of where systems differ from `lead`. A system that does not beat `lead` is not worth running."""
    compared = [found for found in report.document.metrics if found.vs_lead_of(dataset)]
    compared.sort(key=lambda found: found.metric != CONTENT_KEPT)
    systems = dict.fromkeys(system for found in compared for system in found.vs_lead_of(dataset))
    if not systems:
        return None
    rows = [
        (report.names[system], *(verdict(found.vs_lead_of(dataset).get(system)) for found in compared))
        for system in systems
    ]
    note = "–: no significant difference (sign-flip test, Holm-corrected over n for each system and metric, 5 %)."
    columns = ("system", *(metric_name(found.metric) for found in compared))
    return Table(columns, rows, f"{dataset}: vs. {report.names[LEAD]} at equal n", (note,))


def verdict(comparison: Comparison | None) -> str:
    """Name the n at which the first system of a comparison is significantly better or worse."""
    if comparison is None:
        return "–"
    tested = tuple(at.n for at in comparison.lengths)
    verdicts = zip(("better", "worse"), comparison.significant_lengths(), strict=True)
    return ", ".join(f"{name} {lengths_text(tested, shown)}" for name, shown in verdicts if shown) or "–"


def other_lengths_table(report: RunReport, dataset: str) -> Table | None:
    """Make the table of mean words by n of the systems that do not always write n words."""
    document = report.document
    by_system = document.other_lengths(document.of_metric().curves_of(dataset))
    if not by_system:
        return None
    unit = document.unit
    which = "of systems that do not always write n" if unit == "words" else f"of summaries of at most n {unit}"
    cells = {
        report.names[system] + role(document.kinds[system]): {at.n: Cell(f"{at.words:.1f}") for at in points}
        for system, points in by_system.items()
    }
    return _table_by_n(cells, f"{dataset}: mean words, {which}", (unequal_lengths_caution(unit),))


def uncut_tables(report: RunReport, dataset: str) -> Iterator[Table]:
    """Make the table of uncut summaries, and that of their length-matched comparison with other systems."""
    document = report.document
    if rows := [_uncut_row(score, report) for score in document.of_metric().uncut if score.dataset == dataset]:
        columns = ("system", "articles", "mean words", f"mean {metric_name(report.metric)}")
        note = "Below a mean: its 95 % CI. For a length-matched comparison, run n near the mean words of the system."
        yield Table(columns, rows, f"{dataset}: uncut summaries", (note,))
    pairs = [pair for pair in document.length_matched if pair.dataset == dataset]
    if pairs:
        yield _length_matched_table(pairs, report)


def _uncut_row(score: Uncut, report: RunReport) -> tuple[object, ...]:
    ends = interval_text(printed(score.score, score.articles), report.places)
    mean = Cell(decimals(score.score.mean, report.places), ends)
    return report.names[score.system] + role(score.kind), score.articles, Cell(f"{score.words:.1f}"), mean


def _length_matched_table(pairs: Sequence[Comparison], report: RunReport) -> Table:
    names, kinds = report.names, report.document.kinds
    rows = [
        (
            *(names[pair.a] + role(kinds[pair.a]), Cell(f"{at.words_a:.1f}"), names[pair.b], Cell(f"{at.words_b:.1f}")),
            *(at.articles, at.only_a),
            Cell(signed(at.difference.mean), interval_text(printed(at.difference, at.articles))),
            Cell(p_text(at.p_holm), mark="*" if at.significant else ""),
        )
        for pair in pairs
        for at in pair.lengths
    ]
    columns = ("system A", "its\nwords", "other, B", "its\nwords", "articles", "left\nout", "A − B", "Holm p")
    notes = (
        "For each article, B's summary is the one nearest in length; left out: articles where none is within 10 %.",
        "Holm p: sign-flip test, Holm-corrected over this table; * below .05. Below A − B: its 95 % CI.",
    )
    return Table(columns, rows, f"{pairs[0].dataset}: content kept, length-matched, A − B", notes)


def comparison_table(comparison: Comparison, a: str, b: str, title: str, places: int) -> Table:
    """Make the table of systems `a` and `b` at every n that both have, with the words that they wrote if not n."""
    uncut = "matched" if comparison.is_length_matched else "uncut"
    columns = ["n", "articles", a, b, f"{a} − {b}", "95 % CI", "p", "Holm p", "wins/ties/losses"]
    rows = [_paired_row(at, places, at.n or uncut) for at in comparison.lengths]
    more: dict[str, list[object]] = {}
    if any(at.same_text for at in comparison.lengths):
        more["same text"] = [at.same_text for at in comparison.lengths]
    if any(at.words_a != at.n for at in comparison.lengths):
        more[f"words of {a}"] = [Cell(f"{at.words_a:.1f}") for at in comparison.lengths]
    if any(at.words_b != at.n for at in comparison.lengths):
        more[f"words of {b}"] = [Cell(f"{at.words_b:.1f}") for at in comparison.lengths]
    return Table((*columns, *more), [(*row, *cells) for row, *cells in zip(rows, *more.values(), strict=True)], title)


def systems_table(
    comparisons: Sequence[Comparison], called: Sequence[str], other: str, title: str, places: int
) -> Table:
    """Make the table of systems minus one `other`, at one n, with a row for each system."""
    columns = ["system", "articles", "mean", other, "difference", "95 % CI", "p", "Holm p"]
    lengths = [comparison.lengths[0] for comparison in comparisons]
    rows = [_paired_row(at, places, name)[:-1] for name, at in zip(called, lengths, strict=True)]
    return Table(columns, rows, title)


def _paired_row(at: PairedLength, places: int, first: object) -> tuple[object, ...]:
    return (
        *(first, at.articles, Cell(decimals(at.mean_a, places)), Cell(decimals(at.mean_b, places))),
        Cell(signed(at.difference.mean, places)),
        Cell(interval_text(printed(at.difference, at.articles), places)),
        Cell(p_text(at.p)),
        Cell(p_text(at.p_holm), mark="*" if at.significant else ""),
        Cell(f"{at.wins}/{at.ties}/{at.losses}"),
    )


def gains_table(report: RunReport, dataset: str, over: str, gains: Mapping[str, Sequence[GainAt]]) -> Table:
    """Make the table of what each system gains over `random` or `lead` at equal n, with interval and corrected p."""
    places = report.places
    rows = [
        (
            *(report.names[system], at.n, at.articles, Cell(signed(at.difference.mean, places))),
            *(Cell(interval_text(printed(at.difference, at.articles), places)), Cell(p_text(at.p_holm))),
        )
        for system, by_n in gains.items()
        for at in by_n
    ]
    title = f"{dataset}: {metric_name(report.metric)} vs. {report.names[over]} at equal n"
    note = f"Interval: {_INTERVALS[over]}. p: sign-flip test, Holm-corrected over n."
    return Table(("system", "n", "articles", "Δ", "interval", "p"), rows, title, (note,))
