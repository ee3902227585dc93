"""What limits an answer about content kept: truth, systems of their own length, the text's first words, the systems.

The sentences are part of those of `nws.jobs.report.kept_answer`.
"""

from collections.abc import Iterator, Sequence

from nws.core.analysis.answer import Answer
from nws.core.findings.comparisons import FEWEST_ARTICLES, Comparison
from nws.core.findings.content import Share
from nws.core.findings.lengths import lengths_text
from nws.core.systems.rulers import PERSON
from nws.core.text.length import LengthUnit
from nws.core.types import LEAD, RANDOM
from nws.jobs.report.numerals import counted, decimals, in_brackets, listed, of_length, percent, percent_interval
from nws.jobs.report.system_names import SystemNames

TRUTH = "Truth"
MOST_NAMED = 4


def written(at: Share, unit: LengthUnit) -> str:
    """The mean number of words, "47.8 written"; "" where they are n, or n counts characters."""
    is_told = unit == "words" and at.words is not None and f"{at.words:.1f}" != f"{at.n:.1f}"
    return f"{at.words:.1f} written" if is_told else ""


def length_text(at: Share, unit: LengthUnit, *, bare: bool = False) -> str:
    """An n with what was written where that differs: "61 words (47.8 written)"; without its unit if `bare`."""
    return (str(at.n) if bare else of_length(at.n, unit)) + in_brackets(written(at, unit))


def truth(answer: Answer, dataset: str, names: SystemNames) -> str:
    """The caution where systems write words that are not the article's, with their faithfulness if it is known."""
    own = [words for words in answer.own_words if words.dataset == dataset]
    if not own:
        return ""
    shown = [f"{names[of.system]} {decimals(of.faithfulness, 2)}" for of in own if of.faithfulness is not None]
    who = some(names, [words.system for words in own], "and", "systems")
    measured = f"Mean faithfulness: {', '.join(shown)}." if shown else "Measure it with --faithfulness-model."
    return f"Content kept cannot see whether what {who} {'writes' if len(own) == 1 else 'write'} is true. {measured}"


def notes(answer: Answer, dataset: str, names: SystemNames) -> list[str]:
    """The cautions of an answer, as plain sentences."""
    told = (lead_overtakes, lead_is_low, systems_are_the_limit)
    said = [truth(answer, dataset, names), *(note for tell in told for note in tell(answer, dataset, names))]
    return [note for note in said if note]


def some(names: SystemNames, systems: Sequence[str], word: str, many: str = "others") -> str:
    """The names of systems with a word before the last, or their number where they are too `many` to read."""
    if len(systems) > MOST_NAMED:
        return f"{len(systems)} {many}"
    return listed([names[system] for system in systems], word)


def at_own_length(answer: Answer, dataset: str, system: str, names: SystemNames) -> Iterator[str]:
    """Sentence on what a system keeps at its own length, and how much more that is than the best other in as many.

    Nothing is compared over fewer than `FEWEST_ARTICLES`. Of a person without any to be compared with, too.
    """
    uncut = answer.uncut_of(dataset).get(system)
    of_system = [pair for pair in answer.own_length if (pair.dataset, pair.a) == (dataset, system)]
    pairs = [pair for pair in of_system if pair.lengths[0].articles >= FEWEST_ARTICLES]
    if uncut and (pairs or system == PERSON):
        whose = (
            "Another person's whole summary" if system == PERSON else f"At its own length, {uncut.words:.1f} words, it"
        )
        than = f": {_than_best(pairs, names)}" if pairs else ""
        yield f"{whose} keeps {percent(uncut.score.mean)}{in_brackets(percent_interval(uncut.score))}{than}."


def _than_best(pairs: Sequence[Comparison], names: SystemNames) -> str:
    """How much more a system keeps than the best of the others with as many words."""
    best = max(pairs, key=lambda pair: pair.lengths[0].mean_b)
    at = best.lengths[0]
    points = percent(abs(at.difference.mean), 1).removesuffix(" %")
    left_out = f"{counted(at.only_a, 'article')} left out" if at.only_a else ""
    sure = in_brackets(percent_interval(at.difference).removesuffix(" %"), left_out)
    shown = "" if at.significant else ", which is not shown to be a difference"
    side = "more" if at.difference.mean >= 0 else "less"
    return f"{points} points {side} than {names[best.b]} in as many{sure}{shown}"


def lead_overtakes(answer: Answer, dataset: str, names: SystemNames) -> Iterator[str]:
    """Sentences on the n at which `lead` overtakes systems, and on whether that is shown (Holm over n)."""
    found, unit = answer.overtakings(dataset), answer.length_unit
    shown = [
        f"{names[one.a]} near {of_length(one.at, unit)} (less up to {one.until}, more from {one.since})"
        for one in found
        if one.since is not None
    ]
    if shown:
        yield f"{names[LEAD]} is shown to overtake {listed(shown)}."
    if unclear := [one.a for one in found if one.since is None]:
        yield f"{names[LEAD]} is ahead of {some(names, unclear, 'and')} at the longest n, but not significantly."


def lead_is_low(answer: Answer, dataset: str, names: SystemNames) -> Iterator[str]:
    """Sentence that to keep more than `lead` says little, where `lead` is shown to keep less than `random`."""
    for pair in answer.lead_vs_random:
        worse = tuple(at.n for at in pair.lengths if at.worse)
        if pair.dataset == dataset and worse and not any(at.better for at in pair.lengths):
            where = lengths_text(tuple(at.n for at in pair.lengths), worse)
            yield f"{names[LEAD]} keeps less than {names[RANDOM]} at n = {where}: beating it there means little."


def systems_are_the_limit(answer: Answer, dataset: str, names: SystemNames) -> Iterator[str]:
    """The diagnosis where longer summaries by the same systems will not keep much more, and what to try."""
    gains = [gain for gain in answer.late_gains if gain.dataset == dataset]
    if gains and all(gain.has_stopped for gain in gains):
        start, end = gains[0].start, of_length(gains[0].end, answer.length_unit)
        who = some(names, [gain.system for gain in gains], "and", "systems")
        another = "another" if any(words.dataset == dataset for words in answer.own_words) else "a"
        yield (
            f"Length is not the limit, the systems are. From {start} to {end} the reference's first words gain "
            f"{100 * gains[0].of_reference.mean:.0f} points, {who} less than a third of that. Try {another} generator, "
            "or predictions of a system of your own."
        )
