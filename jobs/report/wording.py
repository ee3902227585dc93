"""Turns each statement of a report document into a sentence: the only place where findings are worded."""

from collections.abc import Iterator, Mapping, Sequence

from nws.core.findings.comparisons import FEWEST_ARTICLES
from nws.core.findings.lengths import MagicNumber, enough_articles, lengths_text
from nws.core.findings.report_document import ReportDocument
from nws.core.findings.scores import FEW_ARTICLES, Interval
from nws.core.findings.statements import (
    CutTexts,
    Differences,
    FewArticles,
    FewerThanAsked,
    FewerWords,
    Headline,
    KindsKept,
    LeadIsLow,
    LeadOvertakes,
    LeftOut,
    MayKeepHalf,
    OverLead,
    ShortTexts,
    SkewedDifferences,
    SmallestLength,
    Statement,
    SystemsAreTheLimit,
    TakeArticles,
    TruthNotMeasured,
    TryLengths,
    UncutContent,
)
from nws.core.systems.rulers import PERSON
from nws.core.text.length import LengthUnit
from nws.core.text.word_kinds import WordKind
from nws.core.types import LEAD, RANDOM
from nws.jobs.report.numerals import (
    LEAST_FOR_INTERVAL,
    counted,
    decimals,
    in_brackets,
    length_text,
    listed,
    percent,
    percent_interval,
    printed,
)
from nws.jobs.report.system_names import SystemNames

CONTENT_KEPT_EXPLAINED = (
    "Content kept is BERTScore recall in which rare words weigh more. Texts about other things score 0 % on average, "
    "and the whole reference scores 100 %. Content kept measures neither truth nor readability: a reference with an "
    "added “not” still scores 99 %, and a reference with changed numbers 97 %."
)
INTERVALS_EXPLAINED = (
    "Intervals are 95 % confidence intervals (CI) over articles. “With 95 % confidence from 15 on” means that a system "
    "keeps the share at 15 and at every longer length tried. Each such claim is wrong in at most 5 % of studies."
)
_WHOLE, _CONTENT, READ_PART = "the whole reference", "the reference's content", "what was read of the reference"
CONTENT_KEPT_UNKNOWN = "Content kept is not known here, because computing it also takes references of other articles."
KIND_NAMES: Mapping[WordKind, str] = {
    "who": "names",
    "where": "places",
    "when": "dates and times",
    "number": "numbers",
    "action": "verbs",
    "thing": "nouns",
    "quality": "adjectives and adverbs",
    "other": "other words",
}
_MOST_NAMED = 4
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def worded(statement: Statement, names: SystemNames, unit: LengthUnit = "words") -> str:
    """Word a statement in one or two sentences, with the names of systems that people see."""
    match statement:
        case Headline():
            return _headline(statement, names, unit)
        case Differences():
            return _differences(statement, names, unit)
        case OverLead():
            return _over_lead(statement, names, unit)
        case KindsKept():
            return _kinds_kept(statement, names, unit)
        case FewerWords():
            sentence = (
                f"With {length_text(statement.n, unit)}, {names[statement.system]} keeps as much as the text's first "
            )
            sentence += f"{length_text(statement.m, unit)} ({names[LEAD]})"
            if statement.claimed is None:
                return f"{sentence}, but not with 95 % confidence."
            enough = f"{length_text(statement.claimed, unit)} {'is' if statement.claimed == 1 else 'are'} enough"
            return f"{sentence}. With 95 % confidence, {enough}."
        case UncutContent():
            return _uncut_content(statement, names)
        case SmallestLength():
            return _smallest_length(statement, names, unit)
        case MayKeepHalf():
            length = length_text(statement.n, unit)
            return f"{names[statement.system]} may keep half with {length}: the 95 % CI at this length includes half."
        case LeadOvertakes():
            return _lead_overtakes(statement, names, unit)
        case LeadIsLow():
            where, lead = _at_lengths(statement.lengths, statement.worse, unit), names[LEAD]
            return f"{lead} keeps significantly less than {names[RANDOM]} {where}, so exceeding {lead} proves little."
        case SystemsAreTheLimit():
            another = "another" if statement.some_write_own_words else "a"
            return (
                f"The systems are the limit, not the length. From {statement.start} to "
                f"{length_text(statement.end, unit)}, the reference's first words gain "
                f"{100 * statement.of_reference:.0f} points, and "
                f"{names_or_count(names, statement.systems, 'and')} gain less than a third of that. Try {another} "
                "language model, or predictions of a system of your own."
            )
        case TryLengths():
            side = "above" if statement.lengths[0] > statement.beyond else "below"
            return f"Next, try lengths {side} {statement.beyond}, such as {listed([*map(str, statement.lengths)])}."
        case TakeArticles():
            return _take_articles(statement, names, unit)
        case TruthNotMeasured():
            return _truth_not_measured(statement, names)
        case CutTexts():
            return _cut_texts(statement)
        case FewArticles():
            return small_sample_caution(statement.articles) or ""
        case ShortTexts():
            counts = ", ".join(f"{count} at n = {n}" for n, count in sorted(statement.articles.items()))
            which = "with fewer than n words" if unit == "words" else f"that fit whole into n {unit}"
            return f"Articles {which} are left out at that n: {counts}."
        case LeftOut():
            most = counted(statement.articles, "article")
            return f"Articles that lack a summary by some system are left out of the means: at most {most} at any n."
        case FewerThanAsked():
            which = names_or_count(names, statement.systems, "and")
            do = "does" if len(statement.systems) == 1 else "do"
            why = "a longer summary may score higher because of its length alone"
            return f"{which} {do} not always write n words: {why}."
        case SkewedDifferences():
            pairs = [f"{names[a]} with {names[b]}" for a, b in statement.pairs]
            which = listed(pairs) if len(pairs) <= _MOST_NAMED else f"{len(pairs)} pairs of a system and a control"
            return skewed_caution(f"of {which}", " (too_skewed in report.json)")


def skewed_caution(which: str, where: str = "") -> str:
    """Caution against the comparisons `which`, such as "at n = 3". `where` says where more is found."""
    why = "the differences are skewed, and the error rate may exceed 7 %"
    return f"The comparisons {which} are less reliable: {why}{where}."


def content_kept_explained(document: ReportDocument | None) -> str:
    """Say what content kept is, and what 100 % is of: only what was read, if references were cut."""
    is_cut = document is not None and document.has_cut_references()
    return CONTENT_KEPT_EXPLAINED.replace(_WHOLE, READ_PART) if is_cut else CONTENT_KEPT_EXPLAINED


def headline(document: ReportDocument, dataset: str, names: SystemNames) -> str:
    """Word the answer for a dataset in one or two sentences."""
    named = document.headline(dataset)
    return CONTENT_KEPT_UNKNOWN if named is None else worded(named, names, document.unit)


def sentences(document: ReportDocument, dataset: str, names: SystemNames) -> list[str]:
    """Word all statements on a dataset except its headline."""
    statements = document.statements.get(dataset, ())
    return [worded(one, names, document.unit) for one in statements if not isinstance(one, Headline)]


def articles_and_lengths(document: ReportDocument, dataset: str) -> str:
    """Count the articles, the lengths and the articles left out; "" if content kept is not known."""
    held = [kept["reference"] for kept in document.kept_of(dataset).values()]
    if not held:
        return ""
    fewest, most = min(kept.articles for kept in held), max(kept.articles for kept in held)
    size = counted(most, "article") if fewest == most else f"{fewest} to {counted(most, 'article')}"
    lengths = sorted({at.n for kept in held for at in kept.lengths})
    span = length_text(lengths[0], document.unit)
    if len(lengths) > 1:
        span = f"{len(lengths)} lengths from {lengths[0]} to {length_text(lengths[-1], document.unit)}"
    dropped = max(kept.dropped for kept in held)
    left_out = f"; left out: at most {counted(dropped, 'article')} per system (a length is missing)" if dropped else ""
    return f"{size}, {span}{left_out}"


def names_or_count(names: SystemNames, systems: Sequence[str], word: str) -> str:
    """List the names of systems with a word before the last, or their number where they are too many to read."""
    if len(systems) > _MOST_NAMED:
        return f"{len(systems)} systems"
    return listed([names[system] for system in systems], word)


def small_sample_caution(count: int, noun: str = "articles") -> str | None:
    """Word the caution for `count` of `noun`; None where there are enough."""
    if count >= FEW_ARTICLES or count < 2:  # one has no interval
        return None
    few_shown = noun == "articles" and count < LEAST_FOR_INTERVAL
    intervals = "no interval is printed" if few_shown else "the intervals understate the uncertainty"
    if noun == "articles" and count < FEWEST_ARTICLES:
        return f"With {count} articles, {intervals} and nothing is called significant: take at least {FEWEST_ARTICLES}."
    return f"With {count} {noun}, {intervals}: treat them as indicative."


def unequal_lengths_caution(unit: LengthUnit) -> str:
    """Word the caution where systems do not all write equally many words at n."""
    if unit == "words":
        return "Where systems do not write n words, a longer summary may score higher because of its length alone."
    return "Summaries have at most n characters: part of a difference may come from length alone."


def _written_words(n: int, words: float | None, unit: LengthUnit) -> str:
    is_reported = unit == "words" and words is not None and f"{words:.1f}" != f"{n:.1f}"
    return f"{words:.1f} written on average" if is_reported else ""


def _headline(of: Headline, names: SystemNames, unit: LengthUnit) -> str:
    length = length_text(of.n, unit) + in_brackets(_written_words(of.n, of.words, unit))
    keep = "keeps" if of.n == 1 else "keep"
    content = READ_PART if of.references_truncated else _CONTENT
    if of.is_half:
        sure = f"with 95 % confidence from {length_text(of.claimed, unit)} on" if of.claimed is not None else ""
        sentence = f"{length} {keep} half of {content}{in_brackets(names[of.system], sure)}."
    else:
        sentence = f"{length} {keep} {percent(of.share.mean)} of {content}"
        sentence += f"{in_brackets(names[of.system], _ci(of.share, of.articles))}."
        sentence += "" if of.any_keeps_half else " No system keeps half."
    if of.lead_n is not None and of.lead_share is not None:
        share = "half, too" if of.is_half or of.lead_share == 0.5 else percent(of.lead_share)
        sentence += f" The text's first {length_text(of.lead_n, unit)} keep {share} ({names[LEAD]})."
    return sentence


def _ci(interval: Interval, articles: int) -> str:
    ends = percent_interval(printed(interval, articles))
    return f"95 % CI {ends}" if ends else ""


def _differences(of: Differences, names: SystemNames, unit: LengthUnit) -> str:
    where, best = length_text(of.n, unit), names[of.system]
    if not of.more_than and not of.less_than:
        count = len(of.like) + 1
        many = _NUMBERS[count] if count < len(_NUMBERS) else str(count)
        return f"The {many} systems do not differ significantly at {where}."
    claims = (
        ("significantly more than", of.more_than, "and"),
        ("not significantly more than", of.like, "or"),
        # The mean that puts the best system first is over other articles, too.
        ("significantly less, over the articles that both have, than", of.less_than, "and"),
    )
    parts = [f"{verb} {names_or_count(names, systems, word)}" for verb, systems, word in claims if systems]
    return f"At {where}, {best} keeps {', but '.join(parts)}."


def _over_lead(of: OverLead, names: SystemNames, unit: LengthUnit) -> str:
    who = names_or_count(names, of.systems, "and")
    is_one = len(of.systems) == 1
    each = who if is_one else f"Each of {who}"
    if not of.more and not of.less:
        who = who if is_one else f"None of {who}"
        return f"{who} {'does not differ' if is_one else 'differs'} significantly from {names[LEAD]} at any length."
    claims = [
        f"significantly {word} than {names[LEAD]} {_at_lengths(of.lengths, shown, unit)}"
        for word, shown in (("more", of.more), ("less", of.less))
        if shown
    ]
    return f"{each} keeps {listed(claims)}."


def _kinds_kept(of: KindsKept, names: SystemNames, unit: LengthUnit) -> str:
    return (
        f"At {length_text(of.n, unit)}, {names[of.system]} keeps significantly more of the references' "
        f"{KIND_NAMES[of.most]} ({percent(of.most_share)}) than of their {KIND_NAMES[of.least]} "
        f"({percent(of.least_share)})."
    )


def _at_lengths(tested: Sequence[int], shown: Sequence[int], unit: LengthUnit) -> str:
    if tuple(tested) == tuple(shown) and len(tested) > 1:
        return "at every length"
    lengths = listed(lengths_text(tuple(tested), tuple(shown)).split(", "))
    return f"at {lengths} {unit.removesuffix('s') if shown == (1,) else unit}"


def _uncut_content(of: UncutContent, names: SystemNames) -> str:
    whose = (
        f"Another person's whole summary ({of.words:.1f} words)"
        if of.system == PERSON
        else f"{names[of.system]}, uncut ({of.words:.1f} words),"
    )
    sentence = f"{whose} keeps {percent(of.share.mean)}{in_brackets(percent_interval(of.share))}"
    if of.beside is None or of.other is None:
        return f"{sentence}."
    at = of.beside
    points = percent(abs(at.difference.mean), 1).removesuffix(" %")
    left_out = f"{counted(at.only_a, 'article')} left out" if at.only_a else ""
    sure = in_brackets(f"95 % CI {percent_interval(at.difference).removesuffix(' %')}", left_out)
    side = "more" if at.difference.mean >= 0 else "less"
    verdict = "" if at.significant else ", which is not a significant difference"
    return f"{sentence}: {points} points {side} than length-matched summaries by {names[of.other]}{sure}{verdict}."


def _smallest_length(of: SmallestLength, names: SystemNames, unit: LengthUnit) -> str:
    length, system = length_text(of.smallest.n or 0, unit), names[of.system]
    what = "half" if of.smallest.share == 0.5 else percent(of.smallest.share)
    share = {
        "reference": f"{what} of {READ_PART if of.references_truncated else _CONTENT}",
        "person": f"{what} of what another person keeps",
        "longest": f"{what} of what it keeps at {length_text(of.longest, unit)}",
    }[of.ceiling]
    edge = f", the {'only length' if of.at == 'only' else of.at} tried" if of.at else ""
    claimed = of.smallest.claimed if not (of.ceiling == "longest" and of.smallest.claimed == of.longest) else None
    sure = f"with 95 % confidence from {claimed} on" if claimed is not None else ""
    return f"At {length}{edge}, {system} already keeps {share}{in_brackets(sure)}."


def _lead_overtakes(of: LeadOvertakes, names: SystemNames, unit: LengthUnit) -> str:
    lead, system = names[LEAD], names[of.system]
    if of.since is None:
        return f"{lead} is ahead of {system} at the longest length, but not significantly."
    return (
        f"{lead} overtakes {system} near {length_text(of.at, unit)}: {lead} keeps significantly less up to {of.until}, "
        f"and significantly more from {of.since} on."
    )


def _cut_texts(of: CutTexts) -> str:
    """Say how many texts BERTScore has not read to the end, how much it has read, and what that means."""
    which = f"{of.references} of {counted(of.articles, 'reference')}", counted(of.summaries, "summary")
    shares = zip((of.of_reference, of.of_summary), which, strict=True)
    parts = [f"{texts} ({percent(share)} was read)" for share, texts in shares if share is not None]
    note = f" Shares are of {READ_PART}, and not of all of it." if of.references else ""
    return f"BERTScore and content kept read only the beginning of texts that are too long: {listed(parts)}.{note}"


def _take_articles(of: TakeArticles, names: SystemNames, unit: LengthUnit) -> str:
    if of.articles is None or of.n is None:
        return f"With {counted(of.has, 'article')} nothing is called significant: take at least {FEWEST_ARTICLES}."
    rounded = round(of.articles, 1 - len(str(of.articles)) + 1)
    length = f"the {length_text(of.n, unit)} named for {names[of.system]}"
    return f"About {rounded:,} articles would narrow the 95 % CI of {length} to two neighbouring lengths."


def _truth_not_measured(of: TruthNotMeasured, names: SystemNames) -> str:
    shown = [f"{names[system]} {decimals(value, 2)}" for system, value in of.faithfulness.items()]
    who = names_or_count(names, of.systems, "and")
    measured = f"Mean faithfulness: {', '.join(shown)}." if shown else "Measure faithfulness with --faithfulness-model."
    write = "writes" if len(of.systems) == 1 else "write"
    return f"Content kept does not show whether what {who} {write} is true. {measured}"


def warning_sentences(document: ReportDocument, dataset: str, names: SystemNames) -> Iterator[str]:
    """Word the warnings on a dataset."""
    for warning in document.warnings.get(dataset, ()):
        yield worded(warning, names, document.unit)


def magic_number_text(number: MagicNumber) -> str:
    """Name the n that may have the largest gain over `random`, or say why none is named."""
    if number.kind == "oracle":
        return "is an oracle: it saw the reference"
    if number.recommended:
        lengths = lengths_text(tuple(gain.n for gain in number.gains), number.recommended)
        return f"{lengths}: no n ruled out" if 1 < len(number.recommended) == len(number.tested) else lengths
    if number.system == RANDOM:
        return "is the control"
    if not number.gains:
        return f"unknown: no summaries by {RANDOM} to compare with"
    most, tried = max(gain.articles for gain in number.gains), len(number.gains)
    if not number.tested or most < enough_articles(tried):
        many = counted(most, "article")
        return f"unknown: {many} cannot tell {tried} n apart" if tried > 1 else f"unknown: only {many} to test"
    if not any(gain.above_random for gain in number.gains):
        return f"none: not significantly above {RANDOM} at any n"
    return "unclear: every n is significantly below another n"
