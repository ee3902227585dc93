"""How many words keep how much, how sure, and what next? In plain sentences, for the terminal, pages and Python alike.

Each sentence comes with what it is about: what a system is called, or one of `COMPARED` and `NEXT`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from nws.core.analysis.answer import Answer
from nws.core.findings.comparisons import FEWEST_ARTICLES, Comparison
from nws.core.findings.content import Ceiling, ContentKept, Share, SmallestN
from nws.core.findings.lengths import lengths_text
from nws.core.findings.scores import Edge
from nws.core.systems.rulers import OTHER_ARTICLE, PERSON, REFERENCE_WORDS
from nws.core.types import LEAD, RANDOM
from nws.jobs.report import kept_limits
from nws.jobs.report.kept_limits import TRUTH, length_text, some, written
from nws.jobs.report.numerals import counted, in_brackets, listed, of_length, percent, percent_interval
from nws.jobs.report.run_status import HALF, ranked
from nws.jobs.report.system_names import FULL_NAMES, SystemNames

COMPARED, NEXT = "To compare", "Next"
WHAT_IT_IS = (
    "Content kept is BERTScore recall with rare words weighing more, scaled so that texts about other things have 0 % "
    "on average, and the whole reference 100 %. It measures neither truth nor how well a text reads: the reference has "
    "99 % with “not” put in, and 97 % with changed numbers."
)
HOW_SURE = (
    "In brackets behind a share: its 95 % interval over articles. “Sure from n on” is claimed of this n and of every "
    "longer one tried. Each such claim is wrong in at most 5 % of studies."
)
_RULERS = {
    RANDOM: "random phrases",
    LEAD: "the text's first words",
    OTHER_ARTICLE: "the nearest other article's summary",
    REFERENCE_WORDS: "the reference's first words",
}
_MOST_SYSTEMS = 3

OWN_SHARE = 0.8
"""The share of what a system keeps with its longest n that the answer names where no n keeps half."""
_FURTHER = (1.5, 2, 3)
_MOST_OF_REFERENCE = 1.2

ByCeiling: TypeAlias = Mapping[Ceiling, ContentKept]


def sentences(answer: Answer, dataset: str, names: SystemNames = FULL_NAMES) -> tuple[tuple[str, str], ...]:
    """The sentences below a headline: the three best systems, what to compare them with, and what to try next.

    None of them repeats what the headline says.
    """
    by_system = answer.of(dataset)
    ranked = ranked_systems(answer, dataset)
    if not ranked:
        return ()
    described = [
        (names[system], " ".join((text, *kept_limits.at_own_length(answer, dataset, system, names))))
        for i, system in enumerate(ranked[:_MOST_SYSTEMS])
        if (text := _of_system(by_system[system], is_first=i == 0))
    ]
    best = by_system[ranked[0]]["reference"]
    compared = (
        *_rulers(by_system, best, ranked[:_MOST_SYSTEMS]),
        *kept_limits.at_own_length(answer, dataset, PERSON, names),
        *_over_others(answer, dataset, ranked[0], names),
        *_over_lead(names, answer.vs_lead_of(dataset, ranked[0])),
        *kept_limits.lead_overtakes(answer, dataset, names),
        *kept_limits.lead_is_low(answer, dataset, names),
    )
    limit = tuple(kept_limits.systems_are_the_limit(answer, dataset, names))
    steps = (
        *(limit or _other_lengths(best, answer.reference_lengths.get(dataset))),
        *_articles(names[ranked[0]], by_system[ranked[0]]),
    )
    told = kept_limits.truth(answer, dataset, names)
    return (
        *[(TRUTH, told)] * bool(told),
        *described,
        *[(COMPARED, " ".join(compared))] * bool(compared),
        *[(NEXT, " ".join(steps))] * bool(steps),
    )


def headline(answer: Answer, dataset: str, names: SystemNames = FULL_NAMES) -> str:
    """The answer in one sentence: what the best system keeps, and the text's first words where they keep as much."""
    ranked = ranked_systems(answer, dataset)
    if not ranked:
        return "How much of the content is kept is not known here: it takes references of other articles, too."
    by_system = answer.of(dataset)
    kept = by_system[ranked[0]]["reference"]
    half, longest, name = kept.by_share[HALF], kept.lengths[-1], names[ranked[0]]
    lead = by_system[LEAD]["reference"] if LEAD in by_system and ranked[0] != LEAD else None
    as_good = "" if lead is None else _first_words(lead, kept, names[LEAD])
    if half.n is not None and _is_inside(kept, half):
        by_whom = ", ".join(filter(None, (name, claimed_text(kept, half))))
        length = next(length_text(at, kept.length_unit) for at in kept.lengths if at.n == half.n)
        return f"{length} keep half of the reference's content ({by_whom}){as_good}."
    interval = percent_interval(longest.share)
    share = f"{percent(longest.share.mean)}{f' ({interval})' * bool(interval)}"
    none = as_good or ("; no n tried keeps half" if half.n is None else "")
    keep = "keeps" if longest.n == 1 else "keep"
    return f"{length_text(longest, kept.length_unit)} {keep} {share} of the reference's content ({name}){none}."


def _is_inside(kept: ContentKept, smallest: SmallestN) -> bool:
    """Whether the smallest n lies between others tried, so that a headline can name it."""
    return smallest.n is not None and kept.edge(smallest.n) is None


def named_length(answer: Answer, dataset: str, system: str) -> int:
    """The n that the answer names first of a system with shares, and that lies between others tried; else its longest.

    Either half is kept from there on, or a share of what a person or the system's own longest n keeps.
    """
    held = answer.of(dataset)[system]
    kept = held["reference"]
    named = [(kept, kept.by_share[HALF])]
    if person := held.get("person"):
        named += [(person, smallest) for smallest in person.smallest if smallest.n is not None][-1:]
    elif own := held.get("longest"):
        named.append((own, own.by_share[OWN_SHARE]))
    return next((smallest.n for of, smallest in named if smallest.n and _is_inside(of, smallest)), kept.longest)


def named_by_answer(answer: Answer, dataset: str) -> tuple[str, int] | None:
    """The best system of a dataset, and the n that the answer names of it; None where there is no system."""
    ranked = ranked_systems(answer, dataset)
    return (ranked[0], named_length(answer, dataset, ranked[0])) if ranked else None


def ranked_systems(answer: Answer, dataset: str) -> tuple[str, ...]:
    """Systems that one can choose, or controls if there are none, see `ranked`."""
    references = [held["reference"] for held in answer.of(dataset).values()]
    return ranked({(kept.kind, kept.system): {at.n: at.share.mean for at in kept.lengths} for kept in references})


def heading(answer: Answer, dataset: str) -> str:
    """The question that `sentences` answer, and what the answer rests on."""
    rests_on, unit = basis(answer, dataset), answer.length_unit
    return f"{dataset}: how many {unit} keep how much?{f' ({rests_on})' * bool(rests_on)}".removeprefix(": ")


def basis(answer: Answer, dataset: str) -> str:
    """The number of articles, the lengths, and the articles left out; "" if there are none."""
    held = [kept["reference"] for kept in answer.of(dataset).values()]
    if not held:
        return ""
    fewest, most = min(kept.articles for kept in held), max(kept.articles for kept in held)
    size = counted(most, "article") if fewest == most else f"{fewest} to {counted(most, 'article')}"
    lengths = sorted({at.n for kept in held for at in kept.lengths})
    span = f"n = {lengths[0]}"
    if len(lengths) > 1:
        span = f"{len(lengths)} lengths from {lengths[0]} to {of_length(lengths[-1], answer.length_unit)}"
    dropped = max(kept.dropped for kept in held)
    left_out = f"; left out: at most {counted(dropped, 'article')} of a system, for lack of an n" if dropped else ""
    return f"{size}, {span}{left_out}"


def _smallest_text(held: ByCeiling, of: Ceiling, smallest: SmallestN, what: str) -> str:
    """The smallest n that keeps `what`: "With 11 words (34 %) it keeps 80 % of what it keeps with 21 (not sure)."."""
    kept, n = held[of], smallest.n or 0
    edge, claimed = kept.edge(n), claimed_text(kept, smallest)
    at = next(at for at in held["reference"].lengths if at.n == n)
    share = in_brackets(written(at, kept.length_unit), percent(at.share.mean))
    at_end = f", {edge_text(edge)}," if edge else ""
    sure = f" ({claimed})" * bool(claimed)
    return f"With {of_length(n, kept.length_unit)}{share}{at_end} it keeps {what}{sure}."


def edge_text(edge: Edge) -> str:
    """The remark behind an n at an end of those tried: "the longest tried"."""
    return f"the {'only n' if edge == 'only' else edge} tried"


def claimed_text(kept: ContentKept, smallest: SmallestN) -> str:
    """The claim about a share: "sure from 13 on"; "" where nothing is claimed."""
    if kept.articles < FEWEST_ARTICLES:
        return ""
    if kept.of == "longest" and smallest.claimed == kept.longest:
        return "not sure"  # it keeps all of that by definition
    if smallest.claimed is None:
        return f"not sure up to {kept.longest}"
    return f"sure from {smallest.claimed} on"


def sure_text(kept: ContentKept, smallest: SmallestN) -> str:
    """The interval of an n, whose upper end is claimed: "9–11"."""
    if kept.articles < FEWEST_ARTICLES:
        return "too few articles"
    low, high = (str(end) if end is not None else f"over {kept.longest}" for end in (smallest.low, smallest.high))
    return low if low == high else f"{low}–{high}" if smallest.high is not None else f"{low} to {high}"


def _of_system(held: ByCeiling, *, is_first: bool) -> str:
    kept = held["reference"]
    named, unit = _named_lengths(kept.lengths), kept.length_unit
    if is_first and len(named) > 1 and not _is_inside(kept, kept.by_share[HALF]):
        named.pop()  # the headline says it
    shares = [
        f"{length_text(at, unit, bare=i > 0)} {'keeps' if at.n == 1 else 'keep'} {percent(at.share.mean)}"
        for i, at in enumerate(named)
    ]
    if is_first:
        shares[0] += " of the reference's content"
    if named[-1].n == kept.longest:
        interval = percent_interval(named[-1].share)
        shares[-1] += f" ({interval})" if interval else ""
    parts = [f"{', '.join(shares)}."]
    if person := held.get("person"):
        longest = person.lengths[-1]
        parts.append(f"With {longest.n} it keeps {percent(longest.share.mean)} of what another person keeps.")
    return " ".join((*parts, *_thresholds(held, is_first=is_first)))


def _named_lengths(lengths: Sequence[Share]) -> list[Share]:
    """About a seventh and a third of the longest n, and the longest: the share rises fast first."""
    longest = lengths[-1].n
    near = (min(lengths, key=lambda at: (abs(at.n - part), at.n)) for part in (longest / 7, longest / 3, longest))
    return list({at.n: at for at in near}.values())


def _thresholds(held: ByCeiling, *, is_first: bool) -> Iterator[str]:
    """Sentences on the smallest n for a share of the reference, of a person's summary, or of the own longest n.

    Of the first system, half is the headline's.
    """
    kept = held["reference"]
    half = kept.by_share[HALF]
    reached = [smallest for smallest in kept.smallest if smallest.n is not None and smallest.x >= HALF]
    if reached:
        if not (is_first and reached[-1] == half and _is_inside(kept, half)):
            yield _smallest_text(held, "reference", reached[-1], _called(reached[-1].x))
    elif len(kept.lengths) > 1 and kept.articles >= FEWEST_ARTICLES:
        may_keep = [at.n for at in kept.lengths if (at.share.high or 0) >= HALF]
        if may_keep:
            yield f"{of_length(may_keep[0], kept.length_unit)} may keep half."
    if person := held.get("person"):
        of_person = [smallest for smallest in person.smallest if smallest.n is not None]
        if of_person:
            yield _smallest_text(held, "person", of_person[-1], f"{_called(of_person[-1].x)} of what a person keeps")
    elif (own := held.get("longest")) and (most := own.by_share[OWN_SHARE]).n not in (None, own.longest, half.n):
        yield _smallest_text(held, "longest", most, f"{percent(OWN_SHARE)} of what it keeps with {own.longest}")


def _called(x: float) -> str:
    return "half" if x == HALF else percent(x)


def _first_words(lead: ContentKept, best: ContentKept, name: str) -> str:
    """The remark that `lead` needs no more words for half, or keeps as much as the best system; else ""."""
    half, best_half = lead.by_share[HALF].n, best.by_share[HALF].n
    if half is not None and (best_half is None or half <= best_half):
        keep = "keep half, too" if half == best_half else "already keep half"
        return f"; the text's first {of_length(half, lead.length_unit)} {keep} ({name})"
    of_lead = {at.n: at.share.mean for at in lead.lengths}.get(best.longest)
    if best_half is None and of_lead is not None and of_lead >= best.lengths[-1].share.mean:
        return f"; the text's first {of_length(best.longest, lead.length_unit)} keep {percent(of_lead)} ({name})"
    return ""


def _over_others(answer: Answer, dataset: str, best: str, names: SystemNames) -> Iterator[str]:
    """Sentence on the systems that the best one keeps more than (Holm over all pairs of a dataset: 5 % err)."""
    n, shown = answer.compared(dataset, best)
    if n is None:
        return
    name, where = names[best], of_length(n, answer.length_unit)
    more, unclear, less = ([name for name, above in shown.items() if above is kind] for kind in (True, None, False))
    claims = [
        f"{verb} than {some(names, systems, word)}"
        for verb, systems, word in (
            ("shown to keep more", more, "and"),
            ("not shown to keep more", unclear, "or"),
            ("shown to keep less of the same articles", less, "and"),  # the mean that puts it first is of others, too
        )
        if systems
    ]
    if claims:
        yield f"With {where}, {name} is {', and '.join(claims)}."


def _over_lead(names: SystemNames, compared: Comparison | None) -> Iterator[str]:
    """Sentence on the n at which the best system keeps more than `lead`, or less (Holm over n: 5 % of them err)."""
    if compared is None:
        return
    system, lead = names[compared.a], names[compared.b]
    tested = tuple(at.n for at in compared.lengths)
    more = tuple(at.n for at in compared.lengths if at.better)
    less = tuple(at.n for at in compared.lengths if at.worse)
    claims = [
        f"{word} than {lead} at n = {lengths_text(tested, shown)}"
        for word, shown in (("more", more), ("less", less))
        if shown
    ]
    if claims:
        yield f"{system} is shown to keep {listed(claims)}."
    else:
        yield f"No difference between {system} and {lead} is shown."


def _rulers(by_system: Mapping[str, ByCeiling], best: ContentKept, named: Sequence[str]) -> Iterator[str]:
    """Sentence on what random words, the first words and the reference's own keep."""
    at_longest = {
        system: {at.n: at for at in held["reference"].lengths}.get(best.longest)
        for system, held in by_system.items()
        if system not in named
    }
    rulers = [(name, at) for system, name in _RULERS.items() if (at := at_longest.get(system)) is not None]
    if rulers:
        shares = [
            f"{name}{in_brackets(written(at, best.length_unit))}{' keep' * (i == 0)} {percent(at.share.mean)}"
            for i, (name, at) in enumerate(rulers)
        ]
        yield f"With {of_length(best.longest, best.length_unit)}, {listed(shares)}."


def _other_lengths(best: ContentKept, of_references: float | None) -> Iterator[str]:
    """Advice on other n: shorter ones where the shortest keeps half, longer ones where half needs the longest.

    None is beyond `_MOST_OF_REFERENCE` times the references' median length, nor longer where that is not known.
    """
    half, shortest = best.by_share[HALF].n, best.lengths[0].n
    if half == shortest:
        shorter = sorted({math.ceil(half / times) for times in _FURTHER} - {half}, reverse=True)
        if shorter:
            yield f"Try n below {half}, such as {listed([str(n) for n in shorter])}."
    elif half in (None, best.longest) and of_references is not None:
        most = math.floor(_MOST_OF_REFERENCE * of_references)
        longer = [n for n in (math.ceil(best.longest * times) for times in _FURTHER) if n <= most]
        if longer:
            yield f"Try n above {best.longest}, such as {listed([str(n) for n in longer])}."


def _articles(system: str, held: ByCeiling) -> Iterator[str]:
    """Advice on the number of articles, at the n tried."""
    kept = held["reference"]
    if kept.articles < FEWEST_ARTICLES:
        yield f"With {counted(kept.articles, 'article')} no n is claimed: take at least {FEWEST_ARTICLES}."
        return
    held_most = held.get("person") or held.get("longest") or kept
    reached = [smallest for smallest in held_most.smallest if smallest.n is not None]
    named = reached[-1:] if held_most.of == "person" else [smallest for smallest in reached if smallest.x == OWN_SHARE]
    for smallest in named:
        needed = smallest.articles_for_one_step
        if smallest.n is not None and needed is not None and _steps_wide(held_most, smallest) > 1:
            articles = round(needed, 1 - math.floor(math.log10(needed)))
            length = of_length(smallest.n, kept.length_unit)
            yield f"About {articles:,} articles would narrow the interval of {system}'s {length} to one step of n."


def _steps_wide(kept: ContentKept, smallest: SmallestN) -> int:
    """The number of steps of the n tried that an interval spans. One end may lie beyond the longest."""
    steps: list[int | None] = [*(at.n for at in kept.lengths), None]
    return steps.index(smallest.high) - steps.index(smallest.low)
