"""Which n, and how sure? A sweep's answer in plain sentences, for the terminal and for pages alike."""

from collections.abc import Iterator
from dataclasses import dataclass

from core.analysis import LEAD, RANDOM, Gain, MagicNumber, Metric, lengths_text
from jobs.report.sweep.numbers import Numbers
from jobs.terminal.caution import basis
from jobs.terminal.metrics import metric_name, metric_places
from jobs.terminal.numerals import counted, interval_text, listed, signed


def headline(numbers: Numbers, dataset: str) -> str:
    """For how many of the systems an n is recommended, on a dataset with curves. Controls and bounds do not count."""
    systems = [number for number in numbers.magic_numbers_of(dataset) if number.kind == "system"]
    if not systems:
        return "There is no system here to recommend a length for."
    if numbers.metric == "efficiency":
        return "F1 per word falls with n by construction: compare systems at equal n, and choose n by another metric."
    if len(lengths := {gain.n for number in systems for gain in number.gains}) == 1:
        return f"Only n = {lengths.pop()} was tried, so no length can be recommended over another."
    narrowed = sum(number.is_conclusive for number in systems)
    if not narrowed:
        return "No length can be recommended" + (" yet." if any(map(_is_open, systems)) else ".")
    if len(systems) == 1:
        return "A length can be recommended."
    return f"A length can be recommended for {narrowed} of {len(systems)} systems."


def sentences(numbers: Numbers, dataset: str) -> tuple[tuple[str, str], ...]:
    """Each system except controls, and what is recommended for it, in the order of the tables."""
    return tuple(
        (number.system, recommendation(number, numbers.metric))
        for number in numbers.magic_numbers_of(dataset)
        if number.kind != "control"
    )


def recommendation(number: MagicNumber, metric: Metric = "bertscore_f1") -> str:
    """Which n is recommended for a system, or why none is, and its largest gain: one sentence without its name.

    Args:
        number: of any system, controls and upper bounds too.
        metric: what the gains are in.
    """
    if number.kind == "upper bound":
        return "no n is recommended: it is an upper bound, which saw the reference."
    if number.system == RANDOM:
        return "no n is recommended: it is the control that others are compared with."
    gain = number.largest_gain
    detail = "" if gain is None else f" ({_largest(gain, metric)})"
    return f"{_choice(number)}{detail}."


def what_is_known(numbers: Numbers, dataset: str) -> tuple[str, ...]:
    """How much the answer for a dataset with curves rests on, a sentence each: articles, intervals, and controls."""
    return tuple(_known(numbers, dataset))


def _choice(number: MagicNumber) -> str:
    """The recommended n, or why there is none."""
    tested = number.tested
    if not number.recommended:
        state, _, why = number.verdict.partition(": ")
        return f"no n can be recommended{' yet' if state == 'unknown' else ''}: {why}"
    lengths = lengths_text(tuple(gain.n for gain in number.gains), number.recommended)
    if len(tested) == 1:
        where = "here" if len(number.gains) == 1 else "that enough articles have"
        return f"n = {lengths} is the only length {where}, and better than {RANDOM}"
    if number.is_conclusive:
        return f"n = {lengths} recommended"
    which = "no length" if len(tested) == len(number.gains) else f"none of the {len(tested)} lengths they have"
    articles = counted(max(gain.articles for gain in number.gains), "article")
    return f"no n can be recommended yet: with {articles} {which} could be ruled out"


def _largest(gain: Gain, metric: Metric) -> str:
    places = metric_places(metric)
    ends = interval_text(gain.gain, places)
    sure = ends if gain.gain.low is None else f"95 % interval {ends}"
    return f"largest gain over {RANDOM}, {signed(gain.gain.mean, places)} at {gain.n}, {sure}"


def _is_open(number: MagicNumber) -> bool:
    """Whether more articles may bring an answer: there were too few, or no n was ruled out."""
    return number.verdict.startswith("unknown: ") or bool(number.recommended)


def _known(numbers: Numbers, dataset: str) -> Iterator[str]:
    points = [point for curve in numbers.curves_of(dataset) for point in curve.lengths]
    yield from basis([(point.n, point.articles) for point in points], "article", numbers.metric)
    if over_lead := _over_lead(numbers, dataset):
        yield over_lead
    yield from _not_confirmed(numbers, dataset)
    magic = numbers.magic_numbers_of(dataset)
    random = next((number for number in magic if number.system == RANDOM), None)
    if len({point.n for point in points}) > 1:
        effect = "The best n by mean is partly an effect of length"
        if random is None:
            yield f"{effect}: no {RANDOM} in this run to tell how much."
        elif random.best_by_mean is not None:
            yield f"{effect}: {RANDOM} alone does best at n = {random.best_by_mean}."
    if any(number.is_conclusive for number in magic if number.kind != "control"):
        yield (
            "Recommended means: not ruled out as the n with the largest gain over random (95 % confidence for each "
            "system). It tells where choosing words pays most, not how much of the meaning is left."
        )


def _over_lead(numbers: Numbers, dataset: str) -> str:
    """How many systems are shown to beat `lead`. A system that does not is not worth running."""
    compared = [comparison for comparison in numbers.vs_lead.get(numbers.metric, ()) if comparison.dataset == dataset]
    if not compared:
        return ""
    somewhere = sum(any(at.better for at in comparison.lengths) for comparison in compared)
    everywhere = sum(all(at.better for at in comparison.lengths) for comparison in compared)
    worse = sum(any(at.worse for at in comparison.lengths) for comparison in compared)
    if len(compared) == 1:
        shown = "The system is" + ("" if somewhere else " not")
        return f"{shown} shown to beat {LEAD}{' at every n' if everywhere else ' at some n' if somewhere else ''}."
    text = f"Of {len(compared)} systems, {somewhere} {'is' if somewhere == 1 else 'are'} shown to beat {LEAD} at some n"
    text += f", {everywhere} of them at every n" if everywhere else ""
    return text + (f"; {worse} {'is' if worse == 1 else 'are'} shown to be worse at some n." if worse else ".")


def _not_confirmed(numbers: Numbers, dataset: str) -> Iterator[str]:
    """Which systems that beat `lead` in the metric are worse than `lead` in another one."""
    better = {system for system, verdict in _compared(numbers, numbers.metric, dataset).items() if verdict.better}
    metrics_by_systems: dict[tuple[str, ...], list[str]] = {}
    for metric in numbers.vs_lead:
        others = _compared(numbers, metric, dataset)
        worse = tuple(system for system in others if system in better and others[system].worse)
        if worse and metric != numbers.metric:
            metrics_by_systems.setdefault(worse, []).append(metric_name(metric))
    for worse, metrics in metrics_by_systems.items():
        subject = f"{worse[0]} is" if len(worse) == 1 else f"{len(worse)} of them are"
        yield f"But {subject} worse than {LEAD} at some n in {listed(metrics)}."


@dataclass(frozen=True, slots=True)
class _Verdict:
    """Whether a system is better, and whether it is worse, than `lead` at any n."""

    better: bool
    worse: bool


def _compared(numbers: Numbers, metric: Metric, dataset: str) -> dict[str, _Verdict]:
    return {
        comparison.a: _Verdict(any(at.better for at in comparison.lengths), any(at.worse for at in comparison.lengths))
        for comparison in numbers.vs_lead.get(metric, ())
        if comparison.dataset == dataset
    }
