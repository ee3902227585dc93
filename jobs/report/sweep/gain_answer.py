"""Where does choosing words pay most, and how sure is that? In plain sentences, for the terminal and pages alike."""

from collections.abc import Iterator, Sequence
from typing import Literal

from core.analysis import LEAD, RANDOM, Comparison, Gain, MagicNumber, Metric, lengths_text
from core.summarizers.rulers import RULERS
from jobs.report.sweep.kept_answer import edge_text
from jobs.report.sweep.numbers import Numbers
from jobs.terminal.metrics import SKEWED, basis, length_notes, metric_name, metric_places
from jobs.terminal.numerals import counted, interval_text, listed, signed

_NAMED = 2
_BY_CONSTRUCTION = (
    "F1 per word falls with n by construction: compare systems at equal n, and choose n by another metric."
)


def headline(numbers: Numbers, dataset: str) -> str:
    """What is known of n on a dataset with curves, over all its systems. Controls and upper bounds do not count.

    It holds the reason why no n can be recommended where that is the same for every system.
    """
    systems = _systems(numbers, dataset)
    if not systems:
        return "There is no system here to recommend an n for."
    if numbers.metric == "efficiency":
        return _BY_CONSTRUCTION
    if length := _only_length(systems):
        return f"Only n = {length} was tried, so no n can be recommended over another."
    conclusive = [number for number in systems if number.is_conclusive]
    single = sum(len(number.recommended) == 1 and number.edge is None for number in conclusive)
    several = len(conclusive) - single
    if not single and not several:
        none = f"No n can be recommended{' yet' if any(map(_is_open, systems)) else ''}"
        shared = _shared_reason(numbers, dataset)
        return f"{none}: {shared}." if shared else f"{none}."
    if len(systems) == 1:
        return "One n can be recommended." if single else "Some n can be ruled out, but no single n can be recommended."
    if not several:
        return f"One n can be recommended for {single} of {len(systems)} systems."
    if not single:
        return f"{several} of {len(systems)} systems: some n surely do not have the largest gain."
    return (
        f"One n can be recommended for {single} of {len(systems)} systems. For {several} more some n can be ruled out."
    )


def sentences(numbers: Numbers, dataset: str) -> tuple[tuple[str, str], ...]:
    """What each system except controls is called, and what is known of its n, in the order of the tables.

    What `headline` says of all of them is not said again; a system of which nothing else is known has no sentence.
    """
    shared = _shared_reason(numbers, dataset)
    told = (
        (numbers.names[number.system], _sentence(number, numbers.metric, shared))
        for number in numbers.magic_numbers_of(dataset)
        if number.kind != "control"
    )
    return tuple((system, sentence) for system, sentence in told if sentence)


def recommendation(number: MagicNumber, metric: Metric = "bertscore_f1") -> str:
    """Which n remain for a system, or why none is recommended, and its largest gain: all of it, without its name.

    Args:
        number: of any system, controls and upper bounds too.
        metric: what the gains are in.
    """
    if number.system == RANDOM:
        return "no n is recommended: it is the control that others are compared with."
    if number.kind == "upper bound" or not (reason := _reason(number)):
        return _sentence(number, metric, None)
    none = f"no n can be recommended{' yet' if _is_open(number) else ''}"
    return f"{none}: {'; '.join(filter(None, (reason, _largest(number, metric))))}."


def what_is_known(numbers: Numbers, dataset: str) -> tuple[str, ...]:
    """How much the answer for a dataset with curves rests on, a sentence each: articles, intervals, and controls."""
    return tuple(_known(numbers, dataset))


def _systems(numbers: Numbers, dataset: str) -> list[MagicNumber]:
    return [number for number in numbers.magic_numbers_of(dataset) if number.kind == "system"]


def _only_length(systems: Sequence[MagicNumber]) -> int | None:
    """The n of all gains, if there is only one."""
    lengths = {gain.n for number in systems for gain in number.gains}
    return lengths.pop() if len(lengths) == 1 else None


def _shared_reason(numbers: Numbers, dataset: str) -> str | None:
    """Why no n can be recommended for any system, if the reason is the same for all and `headline` says it."""
    systems = _systems(numbers, dataset)
    reasons = {_reason(number) for number in systems}
    if len(reasons) != 1 or numbers.metric == "efficiency" or _only_length(systems):
        return None
    return reasons.pop()


def _reason(number: MagicNumber) -> str | None:
    """Why no n can be recommended for a system; None where some n is ruled out, or the only one beats `random`."""
    if not number.recommended:
        return number.verdict.partition(": ")[2]
    tested = number.tested
    if number.is_conclusive or len(tested) == 1:
        return None
    which = "no length" if len(tested) == len(number.gains) else f"none of the {len(tested)} lengths they have"
    return f"with {counted(max(gain.articles for gain in number.gains), 'article')} {which} could be ruled out"


def _sentence(number: MagicNumber, metric: Metric, shared: str | None) -> str:
    """What is known of one system's n, except for the `shared` reason; "" if that is all."""
    if number.system in RULERS:
        return ""  # people's texts, which are there for content kept
    if number.kind == "upper bound":
        return "no n is recommended: it is an upper bound, which saw the reference."
    largest, reason = _largest(number, metric), _reason(number)
    if reason:
        text = "; ".join(filter(None, ("" if reason == shared else reason, largest)))
        return f"{text}." if text else ""
    lengths = tuple(gain.n for gain in number.gains)
    if len(number.tested) == 1:
        where = "here" if len(lengths) == 1 else "that enough articles have"
        text = f"n = {number.recommended[0]} is the only length {where}, and better than {RANDOM}"
    elif end := number.edge:
        text = f"only n = {number.recommended[0]} is left ({edge_text(end, number.recommended[0])})"
    elif len(number.recommended) == 1:
        text = f"n = {number.recommended[0]} is recommended, since all other n are ruled out"
    else:
        so_far = "" if number.largest_gain is None else f", so far {_size(number.largest_gain, metric)}"
        return f"{candidates_text(number)} remain candidates for the largest gain over {RANDOM}{so_far}."
    return f"{text}; {largest}." if largest else f"{text}."


def candidates_text(number: MagicNumber) -> str:
    """The n that may have the largest gain: "n = 5 and 17", or "all n but 9" where that is shorter."""
    lengths = tuple(gain.n for gain in number.gains)
    candidates = f"n = {_listed(lengths, number.recommended)}"
    if len(number.tested) < len(lengths):  # an n that was not tested is neither ruled out nor a candidate
        return candidates
    ruled_out = tuple(n for n in lengths if n not in number.recommended)
    all_but = f"all n but {_listed(lengths, ruled_out)}"
    return min(candidates, all_but, key=len)


def _listed(lengths: tuple[int, ...], chosen: tuple[int, ...]) -> str:
    return listed(lengths_text(lengths, chosen).split(", "))


def _largest(number: MagicNumber, metric: Metric) -> str:
    gain = number.largest_gain
    return "" if gain is None else f"largest gain over {RANDOM} {_size(gain, metric)}"


def _size(gain: Gain, metric: Metric) -> str:
    places = metric_places(metric)
    ends = interval_text(gain.gain, places)
    sure = ends if gain.gain.low is None else f"95 % interval {ends}"
    return f"{signed(gain.gain.mean, places)} at n = {gain.n}, {sure}"


def _is_open(number: MagicNumber) -> bool:
    """Whether more articles may bring an answer: there were too few, or no n was ruled out."""
    return number.verdict.startswith("unknown: ") or bool(number.recommended)


def _known(numbers: Numbers, dataset: str) -> Iterator[str]:
    points = [score for at in numbers.of(dataset).values() for score in at.values()]
    yield from basis([(point.n, point.articles) for point in points], "article", numbers.metric)
    yield from length_notes(numbers.other_lengths_named(dataset), numbers.run.length_unit)
    if over_lead := _over_lead(numbers, dataset):
        yield over_lead
    yield from _not_confirmed(numbers, dataset)
    if skewed := list(_skewed(numbers, dataset)):
        more = [f"{len(skewed) - _NAMED} more (report.json)"] * (len(skewed) > _NAMED)
        yield f"{SKEWED}: {'; '.join([*skewed[:_NAMED], *more])}."
    magic = numbers.magic_numbers_of(dataset)
    random = next((number for number in magic if number.system == RANDOM), None)
    if len({point.n for point in points}) > 1:
        effect = "Means depend on length"
        if random is None:
            yield f"{effect}: there is no {RANDOM} in this run to tell how much."
        elif random.best_by_mean is not None:
            yield f"{effect}: even {RANDOM} is best at n = {random.best_by_mean}."
    if any(number.is_conclusive for number in magic if number.kind != "control"):
        yield (
            "A candidate is an n that is not ruled out as the one with the largest gain over random (95 % confidence "
            "for each system). The gain tells where choosing words pays most, not how much of the content is kept."
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
    better = _shown(numbers, numbers.metric, dataset, "better")
    metrics_by_systems: dict[tuple[str, ...], list[str]] = {}
    for metric in numbers.vs_lead:
        worse = tuple(system for system in _shown(numbers, metric, dataset, "worse") if system in better)
        if worse and metric != numbers.metric:
            metrics_by_systems.setdefault(worse, []).append(metric_name(metric))
    for worse, metrics in metrics_by_systems.items():
        named = [numbers.names[system] for system in worse[:_NAMED]]
        named += [f"{len(worse) - _NAMED} more"] * (len(worse) > _NAMED)
        are = "is" if len(worse) == 1 else "are"
        yield f"In {listed(metrics)}, {listed(named)} {are} shown to be worse than {LEAD} at some n."


def _skewed(numbers: Numbers, dataset: str) -> Iterator[str]:
    """Which verdicts rest on differences that are too skewed for the test."""
    for number in _systems(numbers, dataset):
        lengths = tuple(gain.n for gain in number.gains)
        if above := tuple(gain.n for gain in number.gains if gain.above_random and gain.too_skewed):
            yield f"{numbers.names[number.system]} over {RANDOM} at n = {lengths_text(lengths, above)}"
    for metric, comparisons in numbers.vs_lead.items():
        for comparison in comparisons:
            lengths = tuple(at.n for at in comparison.lengths)
            told = tuple(at.n for at in comparison.lengths if at.significant and at.too_skewed)
            if told and comparison.dataset == dataset:
                at_n = f"n = {lengths_text(lengths, told)}"
                yield f"{numbers.names[comparison.a]} vs. {LEAD} at {at_n} in {metric_name(metric)}"


def _shown(numbers: Numbers, metric: Metric, dataset: str, verdict: Literal["better", "worse"]) -> list[str]:
    """The systems that are shown to be better, or worse, than `lead` at any n."""
    return [
        comparison.a
        for comparison in numbers.vs_lead.get(metric, ())
        if comparison.dataset == dataset and any(getattr(at, verdict) for at in comparison.lengths)
    ]


def verdict_lengths(comparison: Comparison) -> tuple[str, str]:
    """At which n the first system of a comparison is significantly better, and at which it is worse; "" for none."""
    tested = tuple(at.n for at in comparison.lengths)
    better = tuple(at.n for at in comparison.lengths if at.better)
    worse = tuple(at.n for at in comparison.lengths if at.worse)
    return lengths_text(tested, better), lengths_text(tested, worse)
