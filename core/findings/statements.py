"""What the numbers of a dataset say, as typed statements: each holds its numbers, and is worded where it is shown.

Statements are decided in `nws.core.analysis.choose_statements`, and worded in `nws.jobs.report.wording`.
"""

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from nws.core.findings.comparisons import PairedLength
from nws.core.findings.content import Ceiling, SmallestN
from nws.core.findings.scores import Edge, Interval

OfRead = Annotated[bool, Field(exclude_if=lambda of_read: not of_read)]


class _Decided(BaseModel):
    model_config = ConfigDict(frozen=True)


class Headline(_Decided):
    """What the system that keeps most keeps with `n`, which the answer names.

    Attributes:
        words: what it writes on average; None where that is not known.
        is_half: whether `n` is the smallest n from which on it keeps half of the content.
        claimed: where it is, the n from which on that is sure; None where it is not.
        any_keeps_half: whether any system that one can choose keeps half at any n.
        lead_n: the number of the text's first words that keep half, too, or as much; None where they keep less.
        lead_share: what these keep.
        of_read: whether the shares are of what was read of the references, and not of all of it (`CutTexts`).
    """

    type: Literal["headline"] = "headline"
    system: str
    n: int
    articles: int
    words: float | None
    share: Interval
    is_half: bool
    claimed: int | None
    any_keeps_half: bool
    lead_n: int | None = None
    lead_share: float | None = None
    of_read: OfRead = False


class Differences(_Decided):
    """The systems that the best one is compared with at `n`, in content kept (Holm over all pairs of a dataset)."""

    type: Literal["differences"] = "differences"
    system: str
    n: int
    more_than: tuple[str, ...]
    like: tuple[str, ...]
    less_than: tuple[str, ...]


class OverLead(_Decided):
    """The n at which systems keep significantly more than `lead`, and less (Holm over the n of each)."""

    type: Literal["over_lead"] = "over_lead"
    systems: tuple[str, ...]
    lengths: tuple[int, ...]
    more: tuple[int, ...]
    less: tuple[int, ...]


class OwnLength(_Decided):
    """What a system keeps at its own length, beside the best of those that wrote as many words; None: no other did."""

    type: Literal["own_length"] = "own_length"
    system: str
    words: float
    share: Interval
    other: str | None = None
    beside: PairedLength | None = None


class SmallestLength(_Decided):
    """The smallest n with which a system keeps a share of a ceiling; for `of_read` see `Headline`."""

    type: Literal["smallest_length"] = "smallest_length"
    system: str
    of: Ceiling
    longest: int
    articles: int
    share: float
    smallest: SmallestN
    at: Edge | None
    of_read: OfRead = False


class MayKeepHalf(_Decided):
    """The smallest n with which a system may keep half: its interval holds it."""

    type: Literal["may_keep_half"] = "may_keep_half"
    system: str
    n: int


class LeadOvertakes(_Decided):
    """`lead` keeps less than a system up to `until`, and more from `since` on; by the means, from `at` on."""

    type: Literal["lead_overtakes"] = "lead_overtakes"
    system: str
    until: int
    at: int
    since: int | None


class LeadIsLow(_Decided):
    """The n at which `lead` keeps significantly less than `random`."""

    type: Literal["lead_is_low"] = "lead_is_low"
    lengths: tuple[int, ...]
    worse: tuple[int, ...]


class SystemsAreTheLimit(_Decided):
    """From `start` to `end` words all systems have stopped gaining, and the reference's first words have not."""

    type: Literal["systems_are_the_limit"] = "systems_are_the_limit"
    systems: tuple[str, ...]
    start: int
    end: int
    of_reference: float
    some_write_own_words: bool


class TryLengths(_Decided):
    """Lengths that are worth trying, shorter or longer than those tried."""

    type: Literal["try_lengths"] = "try_lengths"
    beyond: int
    lengths: tuple[int, ...]


class TakeArticles(_Decided):
    """With so many `articles` the interval of the smallest n of a system would be one step wide; None: too few."""

    type: Literal["take_articles"] = "take_articles"
    system: str
    has: int
    articles: int | None
    n: int | None


class TruthIsUnseen(_Decided):
    """Systems that write words of their own, with their mean faithfulness where that was measured."""

    type: Literal["truth_is_unseen"] = "truth_is_unseen"
    systems: tuple[str, ...]
    faithfulness: dict[str, float]


class CutTexts(_Decided):
    """Texts that are longer than what BERTScore's backbone reads of one.

    Attributes:
        articles: those that were looked at.
        references: how many of them have such a reference.
        of_reference: the mean share that was read of these references; None where there is none.
        summaries: how many of their summaries are such texts.
        of_summary: the mean share that was read of these summaries; None where there is none.
    """

    type: Literal["cut_texts"] = "cut_texts"
    articles: int
    references: int
    of_reference: float | None
    summaries: int
    of_summary: float | None


class FewArticles(_Decided):
    """With so few articles intervals understate the uncertainty."""

    type: Literal["few_articles"] = "few_articles"
    articles: int


class ShortTexts(_Decided):
    """By n, how many articles have fewer words: they are left out there."""

    type: Literal["short_texts"] = "short_texts"
    articles: dict[int, int]


class LeftOut(_Decided):
    """At any n, at most so many articles lack a summary by some system: they are left out of the means."""

    type: Literal["left_out"] = "left_out"
    articles: int


class SkewedDifferences(_Decided):
    """Verdicts that rest in part on skewed differences, by the systems and what they were compared with."""

    type: Literal["skewed_differences"] = "skewed_differences"
    pairs: tuple[tuple[str, str], ...]


Statement: TypeAlias = Annotated[
    Headline
    | Differences
    | OverLead
    | OwnLength
    | SmallestLength
    | MayKeepHalf
    | LeadOvertakes
    | LeadIsLow
    | SystemsAreTheLimit
    | TryLengths
    | TakeArticles
    | TruthIsUnseen
    | CutTexts
    | FewArticles
    | ShortTexts
    | LeftOut
    | SkewedDifferences,
    Field(discriminator="type"),
]
