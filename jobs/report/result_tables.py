"""The tables of a sweep, each made once from a report's numbers: terminal, page, notebook and papers show the same."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf

from nws.core.analysis.answer import Answer
from nws.core.findings.comparisons import Comparison, PairedLength
from nws.core.findings.content import SHARES, Ceiling, ContentKept, SmallestN
from nws.core.findings.lengths import MagicNumber, lengths_text
from nws.core.findings.scores import Interval, Metric, Uncut
from nws.core.types import LEAD, RANDOM
from nws.jobs.report import kept_answer
from nws.jobs.report.charts import GainAt
from nws.jobs.report.metric_names import metric_name, metric_places, not_equal
from nws.jobs.report.numerals import decimals, interval_text, p_text, percent, percent_interval, signed
from nws.jobs.report.printed_lines import UPPER_BOUND_NOTE, role
from nws.jobs.report.run_numbers import Score
from nws.jobs.report.run_status import HALF
from nws.jobs.report.sweep_numbers import MAY_BE_LARGEST, Numbers
from nws.jobs.report.system_names import SystemNames
from nws.jobs.report.table import MISSING, Cell, Mark, Table

_APART_NOTE = "° lacks articles that others have: this mean is not compared with theirs."
_INTERVALS = {RANDOM: "95 % for all n of a system at once (Bonferroni)", LEAD: "95 % at each n"}
_CEILINGS: Mapping[Ceiling, str] = {
    "reference": "of the reference",
    "person": "of what another person keeps",
    "longest": "of what its own longest n keeps",
}


def means_table(scores: Sequence[Score], metric: Metric, names: SystemNames, title: str) -> Table:
    """Systems by n: each mean of a dataset with half of its 95 % interval, the highest marked."""
    by_system: dict[str, dict[int, Score]] = {}
    for score in scores:
        by_system.setdefault(score.system, {})[score.n] = score
    kinds = {score.system: score.kind for score in scores}
    places, best = metric_places(metric), _highest(scores, metric_places(metric))
    lengths = sorted({score.n for score in scores})
    rows = [
        (names[system] + role(kinds[system]), *(_mean_cell(at.get(n), best, places) for n in lengths))
        for system, at in by_system.items()
    ]
    notes = ["* highest at that n    ± half of the 95 % interval"]
    notes += [_APART_NOTE] * any(not score.comparable for score in scores)
    notes += [UPPER_BOUND_NOTE] * ("upper bound" in kinds.values())
    return Table(("n", *map(str, lengths)), rows, title, notes)


def _highest(scores: Sequence[Score], places: int) -> dict[int, float]:
    """The highest mean at each n, as rounded as it is shown. Upper bounds take no part: they saw the reference."""
    best: dict[int, float] = {}
    for score in scores:
        if score.kind != "upper bound" and score.comparable:
            best[score.n] = max(best.get(score.n, -inf), round(score.score.mean, places))
    return best


def _mean_cell(score: Score | None, best: Mapping[int, float], places: int) -> Cell:
    if score is None:
        return MISSING
    mean, half = score.score.mean, score.score.half_width
    is_best = score.kind != "upper bound" and round(mean, places) == best.get(score.n)
    mark: Mark = "°" if not score.comparable else "*" if is_best else ""
    return Cell(decimals(mean, places), "" if half is None else f"±{decimals(half, places)}", mark)


def kept_table(answer: Answer, dataset: str, names: SystemNames) -> Table:
    """Systems by n: the share of the reference's content in per cent, and from which n on half is kept."""
    of_reference = [held["reference"] for held in answer.of(dataset).values()]
    lengths = sorted({at.n for kept in of_reference for at in kept.lengths})
    rows = [(names[kept.system] + role(kept.kind), *_kept_cells(kept, lengths)) for kept in of_reference]
    title = f"{dataset}: content kept by n, {kept_answer.basis(answer, dataset)}"
    notes = (
        "Per cent of the reference's content, and the 95 % interval",
        "half: the smallest n from which on half is kept, and its 95 % interval",
    )
    return Table(("n", *map(str, lengths), "half"), rows, title, notes)


def _kept_cells(kept: ContentKept, lengths: Sequence[int]) -> Iterator[Cell]:
    shares = {at.n: at.share for at in kept.lengths}
    yield from (_share_cell(shares[n]) if n in shares else MISSING for n in lengths)
    half = kept.by_share[HALF]
    low, high = (f">{kept.longest}" if end is None else str(end) for end in (half.low, half.high))
    yield Cell(f">{kept.longest}") if half.n is None else Cell(str(half.n), f"{low}–{high}")


def _share_cell(share: Interval) -> Cell:
    """A share with its interval, which need not lie evenly around it, since a share is a ratio."""
    return Cell(percent(share.mean).removesuffix(" %"), percent_interval(share).removesuffix(" %"))


def smallest_tables(answer: Answer, dataset: str, names: SystemNames) -> Iterator[Table]:
    """For each ceiling, the smallest n by system and share of it."""
    for of, called in _CEILINGS.items():
        rows = [
            (names[system] + role(held[of].kind), *(_smallest_cell(held[of], held[of].by_share[x]) for x in SHARES[of]))
            for system, held in answer.of(dataset).items()
            if of in held and (of != "longest" or len(held[of].lengths) > 1)
        ]
        if rows:
            title = f"{dataset}: the smallest n that keeps this share {called}, as all longer n do"
            yield Table(("system", *(percent(x) for x in SHARES[of])), rows, title)


def _smallest_cell(kept: ContentKept, smallest: SmallestN) -> Cell:
    if smallest.n is None:
        return Cell(f"over {kept.longest}")
    end = kept.edge(smallest.n)
    at_end = [] if end is None else [kept_answer.edge_text(end)]
    return Cell(str(smallest.n), "; ".join((kept_answer.sure_text(kept, smallest), *at_end)))


def best_n_table(numbers: Numbers, dataset: str) -> Table | None:
    """The magic numbers of each system by metric: of the largest mean, of the largest gain, and of single articles."""
    rows = [
        (
            *(f"{numbers.names[number.system]}, {metric_name(metric)}", number.best_by_mean),
            *(_gain_cell(number, metric_places(metric)), number.verdict, number.most_frequent),
        )
        for metric, number in numbers.best_n_of(dataset)
    ]
    if not rows:
        return None
    of_gain = f"largest gain\nover {numbers.names[RANDOM]}", "n that may have\nthe largest gain"
    columns = ("system", "largest\nmean", *of_gain, "best for most\narticles")
    notes = (
        f"n that may have the largest gain: {MAY_BE_LARGEST}",
        "Below a gain: its interval, which holds for all n at once.",
    )
    return Table(columns, rows, f"{dataset}: the magic number by metric", notes)


def _gain_cell(number: MagicNumber, places: int) -> Cell:
    largest = number.largest_gain
    if not largest:
        return MISSING
    return Cell(f"{signed(largest.gain.mean, places)} at {largest.n}", interval_text(largest.gain, places))


def vs_lead_table(numbers: Numbers, dataset: str) -> Table | None:
    """Where each system is better or worse than `lead`. A system that does not beat `lead` is not worth running."""
    by_system = numbers.vs_lead_of(dataset)
    if not by_system:
        return None
    rows = [
        (numbers.names[system], *(verdict(by_metric.get(metric)) for metric in numbers.vs_lead))
        for system, by_metric in by_system.items()
    ]
    note = (
        "–: no difference shown. Sign-flip test, corrected over the n (Holm): 5 % error in each column of each system."
    )
    columns = ("system", *map(metric_name, numbers.vs_lead))
    return Table(columns, rows, f"{dataset}: vs. {numbers.names[LEAD]} at equal n", (note,))


def verdict(comparison: Comparison | None) -> str:
    """The n at which the first system of a comparison is significantly better or worse."""
    if comparison is None:
        return "–"
    tested = tuple(at.n for at in comparison.lengths)
    better = tuple(at.n for at in comparison.lengths if at.better)
    worse = tuple(at.n for at in comparison.lengths if at.worse)
    verdicts = (("better", better), ("worse", worse))
    return ", ".join(f"{name} {lengths_text(tested, shown)}" for name, shown in verdicts if shown) or "–"


def other_lengths_table(numbers: Numbers, dataset: str) -> Table | None:
    """Mean words by n of the systems that do not write n."""
    by_system = numbers.other_lengths_of(dataset)
    if not by_system:
        return None
    unit = numbers.run.length_unit
    which = "of systems that do not always write n" if unit == "words" else f"of summaries of at most n {unit}"
    lengths = sorted({n for words in by_system.values() for n in words})
    rows = [
        (
            numbers.names[system] + role(numbers.kinds[system]),
            *(Cell(f"{words[n]:.1f}") if n in words else MISSING for n in lengths),
        )
        for system, words in by_system.items()
    ]
    return Table(("n", *map(str, lengths)), rows, f"{dataset}: mean words, {which}", (not_equal(unit),))


def uncut_tables(numbers: Numbers, dataset: str) -> Iterator[Table]:
    """Summaries whose length nobody asked for, and what they keep minus what others keep with as many words."""
    if rows := [_uncut_row(score, numbers) for score in numbers.uncut if score.dataset == dataset]:
        columns = ("system", "articles", "mean words", f"mean {metric_name(numbers.metric)}")
        note = "Below a mean: its 95 % interval. To compare at equal length, sweep n near these words."
        yield Table(columns, rows, f"{dataset}: summaries of their own length", (note,))
    pairs = [pair for pair in numbers.kept.own_length if pair.dataset == dataset]
    if pairs:
        yield _own_length_table(pairs, numbers)


def _uncut_row(score: Uncut, numbers: Numbers) -> tuple[object, ...]:
    mean = Cell(decimals(score.score.mean, numbers.places), interval_text(score.score, numbers.places))
    return numbers.names[score.system] + role(score.kind), score.articles, Cell(f"{score.words:.1f}"), mean


def _own_length_table(pairs: Sequence[Comparison], numbers: Numbers) -> Table:
    names, kinds = numbers.names, numbers.kinds
    rows = [
        (
            *(names[pair.a] + role(kinds[pair.a]), Cell(f"{at.words_a:.1f}"), names[pair.b], Cell(f"{at.words_b:.1f}")),
            *(at.articles, at.only_a, Cell(signed(at.difference.mean), interval_text(at.difference))),
            Cell(p_text(at.p_holm), mark="*" if at.significant else ""),
        )
        for pair in pairs
        for at in pair.lengths
    ]
    columns = ("system A", "its\nwords", "other, B", "its\nwords", "articles", "left\nout", "A − B", "Holm p")
    notes = (
        "Of each article, B's summary whose length is nearest to A's own; left out where none is within 10 %.",
        "p: sign-flip test, corrected over this table (Holm); * below .05. Below A − B: its 95 % interval.",
    )
    return Table(columns, rows, f"{pairs[0].dataset}: content kept by A at its own length, minus B's", notes)


def comparison_table(comparison: Comparison, a: str, b: str, title: str, places: int) -> Table:
    """Two systems, called `a` and `b`, at every n that both have."""
    columns = ["n", "articles", a, b, f"{a} − {b}", "95 % interval", "p", "Holm p", "wins/ties/losses"]
    rows = [_paired_row(at, places) for at in comparison.lengths]
    if any(at.same_text for at in comparison.lengths):
        columns.append("same text")
        rows = [(*row, at.same_text) for row, at in zip(rows, comparison.lengths, strict=True)]
    if not all(at.at_equal_length for at in comparison.lengths):
        columns += [f"words of {a}", f"words of {b}"]
        words = [(Cell(f"{at.words_a:.1f}"), Cell(f"{at.words_b:.1f}")) for at in comparison.lengths]
        rows = [(*row, *both) for row, both in zip(rows, words, strict=True)]
    return Table(columns, rows, title)


def _paired_row(at: PairedLength, places: int) -> tuple[object, ...]:
    return (
        *(at.n or "own", at.articles, Cell(decimals(at.mean_a, places)), Cell(decimals(at.mean_b, places))),
        *(Cell(signed(at.difference.mean, places)), Cell(interval_text(at.difference, places)), Cell(p_text(at.p))),
        Cell(p_text(at.p_holm), mark="*" if at.significant else ""),
        Cell(f"{at.wins}/{at.ties}/{at.losses}"),
    )


def gains_table(
    numbers: Numbers, dataset: str, over: str, gains: Mapping[str, Sequence[GainAt | PairedLength]]
) -> Table:
    """What each system gains over `random` or `lead` at equal n, with interval and corrected p."""
    places = numbers.places
    rows = [
        (
            *(numbers.names[system], at.n, at.articles, Cell(signed(at.difference.mean, places))),
            *(Cell(interval_text(at.difference, places)), Cell(p_text(at.p_holm))),
        )
        for system, by_n in gains.items()
        for at in by_n
    ]
    title = f"{dataset}: {metric_name(numbers.metric)} vs. {numbers.names[over]} at equal n"
    note = f"Interval: {_INTERVALS[over]}. p: sign-flip test, corrected over n (Holm)."
    return Table(("system", "n", "articles", "Δ", "interval", "p"), rows, title, (note,))
