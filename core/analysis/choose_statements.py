"""Decides which findings on a dataset are stated: which systems and n are named, and what is advised.

The most important statements come first. They become sentences in `nws.jobs.report.wording`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from nws.core.findings.comparisons import FEWEST_ARTICLES, Comparison
from nws.core.findings.content import Ceiling, ContentKept, KeptByKind, SmallestN
from nws.core.findings.report_document import ReportDocument
from nws.core.findings.scores import FEW_ARTICLES
from nws.core.findings.statements import (
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
from nws.core.systems.rulers import OTHER_ARTICLE, PERSON
from nws.core.types import LEAD, POLICY, RANDOM

HALF = 0.5
"""The share of the content whose smallest n the headline names."""
OWN_SHARE = 0.8
"""Where no n keeps half, the smallest n is named that keeps this share of what the longest n keeps."""
MOST_SYSTEMS = 3
"""The number of systems about which statements are made."""
_LENGTH_FACTORS = (1.5, 2, 3)
_MOST_REFERENCE_FACTOR = 1.2


def statements(document: ReportDocument, dataset: str) -> Iterator[Statement]:
    """Yield the findings on a dataset, the most important first."""
    ranked, by_system = document.ranking[dataset], document.kept_of(dataset)
    if not ranked:
        return
    best = by_system[ranked[0]]["reference"]
    reach_half = any(by_system[system]["reference"].by_share[HALF].n is not None for system in ranked)
    references_truncated = document.has_cut_references(dataset)
    headline = _headline(best, by_system.get(LEAD, {}).get("reference"), reach_half)
    yield headline.model_copy(update={"references_truncated": references_truncated})
    yield from _differences(document, dataset, ranked[0])
    yield from _kinds_kept(document.by_kind(dataset).get(ranked[0], []))
    for saved in document.words_saved:
        if saved.dataset == dataset and saved.smallest.n is not None and saved.smallest.n < saved.m:
            yield FewerWords(system=saved.a, m=saved.m, n=saved.smallest.n, claimed=saved.smallest.claimed)
    yield from _over_lead(document, dataset, ranked[:MOST_SYSTEMS])
    for system in (*ranked[:MOST_SYSTEMS], PERSON):
        yield from _uncut_content(document, dataset, system)
    for system in ranked[:MOST_SYSTEMS]:
        for smallest in _smallest_lengths(by_system[system], is_best=system == ranked[0]):
            is_share = isinstance(smallest, SmallestLength)
            yield smallest.model_copy(update={"references_truncated": references_truncated}) if is_share else smallest
    yield from _lead_statements(document, dataset)
    limit = tuple(_systems_are_the_limit(document, dataset))
    yield from limit or _other_lengths(best, document.reference_lengths.get(dataset))
    yield from _articles_needed(by_system[ranked[0]])
    own = [words for words in document.abstractive if words.dataset == dataset]
    if own:
        known = {words.system: words.faithfulness for words in own if words.faithfulness is not None}
        yield TruthNotMeasured(systems=tuple(words.system for words in own), faithfulness=known)


def warnings(document: ReportDocument, dataset: str) -> Iterator[Statement]:
    """Yield what limits the numbers of a dataset: few or short articles, shorter texts, and skewed differences."""
    found = document.of_metric()
    points = [at for curve in found.curves_of(dataset) for at in curve.lengths]
    fewest = min((at.articles for at in points), default=0)
    if 1 < fewest < FEW_ARTICLES:  # one has no interval
        yield FewArticles(articles=fewest)
    left_out = max((at.of_articles - at.articles for at in points if at.comparable), default=0)
    if left_out:
        yield LeftOut(articles=left_out)
    if short := {of.n: of.articles for of in document.short_articles if of.dataset == dataset}:
        yield ShortTexts(articles=short)
    uneven = {} if document.unit != "words" else document.other_lengths(found.curves_of(dataset))
    if shorter := tuple(system for system in uneven if document.kinds[system] == "system"):
        yield FewerThanAsked(systems=shorter)
    skewed = [
        (number.system, RANDOM)
        for number in found.magic_numbers
        if number.dataset == dataset
        and number.kind == "system"
        and any(gain.significant and gain.too_skewed for gain in number.gains)
    ]
    over_lead = {
        pair.a: None
        for of_metric in document.metrics
        for pair in of_metric.vs_lead
        if pair.dataset == dataset and any(at.significant and at.too_skewed for at in pair.lengths)
    }
    if skewed or over_lead:
        yield SkewedDifferences(pairs=(*skewed, *((system, LEAD) for system in over_lead)))


def ranked_systems(document: ReportDocument, dataset: str) -> tuple[str, ...]:
    """List the systems that one can choose, or the controls if there are none; for a training, its policies.

    The system that keeps most at the longest n of all comes first.
    """
    of_reference = [held["reference"] for held in document.kept_of(dataset).values()]
    if document.policies is not None:
        of_reference = [kept for kept in of_reference if kept.system.startswith(POLICY)] or of_reference
    for kind in ("system", "control"):
        shares = {
            kept.system: {at.n: at.share.mean for at in kept.lengths}
            for kept in of_reference
            if kept.kind == kind and kept.system != OTHER_ARTICLE
        }
        if shares:
            common = set.intersection(*map(set, shares.values()))
            last = {system: at[max(common or at)] for system, at in shares.items()}
            return tuple(sorted(last, key=lambda system: (-last[system], system)))
    return ()


def _headline(best: ContentKept, lead: ContentKept | None, reach_half: bool) -> Headline:
    """Name the smallest n that keeps half, if it lies between other n tried, else the longest n."""
    half = best.by_share[HALF]
    is_half = half.n is not None and best.edge(half.n) is None
    at = next(at for at in best.lengths if at.n == (half.n if is_half else best.longest))
    named = Headline(
        system=best.system,
        n=at.n,
        articles=at.articles,
        words=at.words,
        share=at.share,
        is_half=is_half,
        claimed=half.claimed if is_half else None,
        any_keeps_half=reach_half,
    )
    if lead is None or lead.system == best.system:
        return named
    of_lead = lead.by_share[HALF].n
    if of_lead is not None and (half.n is None or of_lead <= half.n):
        return named.model_copy(update={"lead_n": of_lead, "lead_share": HALF})
    share = {at.n: at.share.mean for at in lead.lengths}.get(best.longest)
    if half.n is None and share is not None and share >= best.lengths[-1].share.mean:
        return named.model_copy(update={"lead_n": best.longest, "lead_share": share})
    return named


def _differences(document: ReportDocument, dataset: str, best: str) -> Iterator[Differences]:
    n = None
    more, like, less = list[str](), list[str](), list[str]()
    for pair in document.all_pairs:
        if pair.dataset == dataset and best in (pair.a, pair.b):
            at = pair.lengths[0]
            other, is_above = (pair.b, at.better) if pair.a == best else (pair.a, at.worse)
            if at.articles < FEWEST_ARTICLES:
                continue
            n = at.n
            (like if not at.significant else more if is_above else less).append(other)
    if n is not None:
        yield Differences(system=best, n=n, more_than=tuple(more), like=tuple(like), less_than=tuple(less))


def _over_lead(document: ReportDocument, dataset: str, systems: tuple[str, ...]) -> Iterator[OverLead]:
    """Yield a statement for all systems with the same significant differences from `lead`."""
    pairs = document.of_metric("kept").vs_lead_of(dataset)
    known: dict[tuple[tuple[int, ...], ...], list[str]] = {}
    for system in systems:
        if system in pairs:
            tested = tuple(at.n for at in pairs[system].lengths if at.articles >= FEWEST_ARTICLES)
            known.setdefault((tested, *pairs[system].significant_lengths()), []).append(system)
    for (tested, more, less), alike in known.items() if any(tested for tested, *_ in known) else ():
        yield OverLead(systems=tuple(alike), lengths=tested, more=more, less=less)


def _kinds_kept(by_n: Sequence[KeptByKind]) -> Iterator[KindsKept]:
    for of in by_n:
        if (contrast := of.contrast) is not None and contrast.significant:
            most, least = (of.by_kind[kind].share.mean for kind in (contrast.most, contrast.least))
            yield KindsKept(
                system=of.system, n=of.n, most=contrast.most, most_share=most, least=contrast.least, least_share=least
            )


def _uncut_content(document: ReportDocument, dataset: str, system: str) -> Iterator[UncutContent]:
    """Yield what uncut summaries keep, and the difference from the best length-matched system with enough articles."""
    uncut = next((one for one in document.kept_uncut if (one.dataset, one.system) == (dataset, system)), None)
    pairs = [
        pair
        for pair in document.length_matched
        if (pair.dataset, pair.a) == (dataset, system) and pair.lengths[0].articles >= FEWEST_ARTICLES
    ]
    if uncut is None or not (pairs or system == PERSON):
        return
    best: Comparison | None = max(pairs, key=lambda pair: pair.lengths[0].mean_b, default=None)
    other, beside = (None, None) if best is None else (best.b, best.lengths[0])
    yield UncutContent(system=system, words=uncut.words, share=uncut.score, other=other, beside=beside)


def _smallest_lengths(held: Mapping[Ceiling, ContentKept], *, is_best: bool) -> Iterator[SmallestLength | MayKeepHalf]:
    """Yield the smallest n for a share of the reference, of a person's summary, or of what the longest n keeps.

    Half of the reference is left out for the best system, since the headline has it.
    """
    kept = held["reference"]
    half = kept.by_share[HALF]
    reached = [smallest for smallest in kept.smallest if smallest.n is not None and smallest.share >= HALF]
    if reached:
        if not (is_best and reached[-1] == half and kept.edge(half.n) is None):
            yield _smallest(held, "reference", reached[-1])
    elif len(kept.lengths) > 1 and kept.articles >= FEWEST_ARTICLES:
        may = [at.n for at in kept.lengths if (at.share.high or 0) >= HALF]
        if may:
            yield MayKeepHalf(system=kept.system, n=may[0])
    if person := held.get("person"):
        of_person = [smallest for smallest in person.smallest if smallest.n is not None]
        if of_person:
            yield _smallest(held, "person", of_person[-1])
    elif (own := held.get("longest")) and (most := own.by_share[OWN_SHARE]).n not in (None, own.longest, half.n):
        yield _smallest(held, "longest", most)


def _smallest(held: Mapping[Ceiling, ContentKept], ceiling: Ceiling, smallest: SmallestN) -> SmallestLength:
    kept = held[ceiling]
    reference_share = next(at.share.mean for at in held["reference"].lengths if at.n == smallest.n)
    edge = kept.edge(smallest.n)
    return SmallestLength(
        system=kept.system,
        ceiling=ceiling,
        longest=kept.longest,
        articles=kept.articles,
        reference_share=reference_share,
        smallest=smallest,
        at=edge,
    )


def _lead_statements(document: ReportDocument, dataset: str) -> Iterator[LeadOvertakes | LeadIsLow]:
    pairs = document.of_metric("kept").vs_lead_of(dataset)
    for system in sorted(pairs):
        if (one := pairs[system].overtaking) is not None:
            yield LeadOvertakes(system=system, until=one.until, at=one.at, since=one.since)
    for pair in document.lead_vs_random:
        _, worse = pair.significant_lengths()
        if pair.dataset == dataset and worse and not any(at.better for at in pair.lengths):
            yield LeadIsLow(lengths=tuple(at.n for at in pair.lengths), worse=worse)


def _systems_are_the_limit(document: ReportDocument, dataset: str) -> Iterator[SystemsAreTheLimit]:
    gains = [gain for gain in document.late_gains if gain.dataset == dataset]
    if gains and all(gain.has_stopped for gain in gains):
        first, systems = gains[0], tuple(gain.system for gain in gains)
        of_reference, own = first.of_reference.mean, any(words.dataset == dataset for words in document.abstractive)
        yield SystemsAreTheLimit(
            systems=systems, start=first.start, end=first.end, of_reference=of_reference, some_write_own_words=own
        )


def _other_lengths(best: ContentKept, of_references: float | None) -> Iterator[TryLengths]:
    """Advise shorter n if the shortest n keeps half, and longer n if no n shorter than the longest does.

    Longer n are at most `_MOST_REFERENCE_FACTOR` times the references' median length. Where that is not known, none is
    advised.
    """
    half, shortest = best.by_share[HALF].n, best.lengths[0].n
    if half == shortest:
        shorter = sorted({math.ceil(half / times) for times in _LENGTH_FACTORS} - {half}, reverse=True)
        if shorter:
            yield TryLengths(beyond=half, lengths=tuple(shorter))
    elif half in (None, best.longest) and of_references is not None:
        most = math.floor(_MOST_REFERENCE_FACTOR * of_references)
        longer = [n for n in (math.ceil(best.longest * times) for times in _LENGTH_FACTORS) if n <= most]
        if longer:
            yield TryLengths(beyond=best.longest, lengths=tuple(longer))


def _articles_needed(held: Mapping[Ceiling, ContentKept]) -> Iterator[TakeArticles]:
    kept = held["reference"]
    if kept.articles < FEWEST_ARTICLES:
        yield TakeArticles(system=kept.system, has=kept.articles, articles=None, n=None)
        return
    held_most = held.get("person") or held.get("longest") or kept
    reached = [smallest for smallest in held_most.smallest if smallest.n is not None]
    named = (
        reached[-1:]
        if held_most.ceiling == "person"
        else [smallest for smallest in reached if smallest.share == OWN_SHARE]
    )
    for smallest in named:
        needed = smallest.articles_for_one_step
        if needed is not None and _steps_wide(held_most, smallest) > 1:
            yield TakeArticles(system=kept.system, has=kept.articles, articles=needed, n=smallest.n)


def _steps_wide(kept: ContentKept, smallest: SmallestN) -> int:
    """Return how many steps between the n tried an interval spans. One end may lie beyond the longest n."""
    steps: list[int | None] = [*(at.n for at in kept.lengths), None]
    return steps.index(smallest.high) - steps.index(smallest.low)
