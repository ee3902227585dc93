"""The findings on a dataset as typed statements: each holds its numbers, and becomes a sentence only in a report.

Statements are decided in `nws.core.analysis.choose_statements`, and worded in `nws.jobs.report.wording`.
"""

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field

from nws.core.findings.comparisons import PairedLength
from nws.core.findings.content import Ceiling, SmallestN
from nws.core.findings.scores import Edge, Interval
from nws.core.text.word_kinds import WordKind

ReferencesTruncated = Annotated[bool, Field(exclude_if=lambda references_truncated: not references_truncated)]


class Headline(BaseModel, frozen=True):
    """What the best system (the one that keeps most) keeps with the `n` words that the answer names.

    Attributes:
        words: the mean number of words that it writes; None where that is not known.
        is_half: whether `n` is the smallest n from which on it keeps half of the content.
        claimed: where `is_half`, the n from which on this holds with 95 % confidence; None where there is no such n.
        any_keeps_half: whether any system that one can choose keeps half at any n.
        lead_n: the number of the text's first words that keep half, too, or as much as the system; None where no
            number does.
        lead_share: the share that these words keep.
        references_truncated: whether the references were too long to be read to their end, so that shares are of the
            part that was read (`CutTexts`).
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
    references_truncated: ReferencesTruncated = False


class Differences(BaseModel, frozen=True):
    """How the best system compares with each other one at `n`, in content kept (Holm over all pairs of a dataset)."""

    type: Literal["differences"] = "differences"
    system: str
    n: int
    more_than: tuple[str, ...]
    like: tuple[str, ...]
    less_than: tuple[str, ...]


class OverLead(BaseModel, frozen=True):
    """The n at which systems keep significantly more, or less, than `lead` (Holm over the n of each system)."""

    type: Literal["over_lead"] = "over_lead"
    systems: tuple[str, ...]
    lengths: tuple[int, ...]
    more: tuple[int, ...]
    less: tuple[int, ...]


class KindsKept(BaseModel, frozen=True):
    """The kinds of word of which a system keeps most and least at its longest n, with both shares.

    The difference is significant (Bonferroni over all pairs of kinds): without that, it is not stated. That none is
    significant says nothing of other pairs, and with few articles hardly any can be.
    """

    type: Literal["kinds_kept"] = "kinds_kept"
    system: str
    n: int
    most: WordKind
    most_share: float
    least: WordKind
    least_share: float


class FewerWords(BaseModel, frozen=True):
    """The smallest n with which a system keeps as much as `lead` with `m` words, and the n that is claimed, if any."""

    type: Literal["fewer_words"] = "fewer_words"
    system: str
    m: int
    n: int
    claimed: int | None


class UncutContent(BaseModel, frozen=True):
    """What a system's uncut summaries keep, and their difference from the best length-matched system, if any."""

    type: Literal["uncut_content"] = "uncut_content"
    system: str
    words: float
    share: Interval
    other: str | None = None
    beside: PairedLength | None = None


class SmallestLength(BaseModel, frozen=True):
    """The smallest n with which a system keeps a share of a ceiling, and what it keeps of the reference there.

    For `references_truncated` see `Headline`.
    """

    type: Literal["smallest_length"] = "smallest_length"
    system: str
    ceiling: Ceiling
    longest: int
    articles: int
    reference_share: float
    smallest: SmallestN
    at: Edge | None
    references_truncated: ReferencesTruncated = False


class MayKeepHalf(BaseModel, frozen=True):
    """The smallest n with which a system may keep half: the 95 % interval there includes half."""

    type: Literal["may_keep_half"] = "may_keep_half"
    system: str
    n: int


class LeadOvertakes(BaseModel, frozen=True):
    """`lead` keeps significantly less than a system up to `until`, and more from `since` on (its mean from `at` on)."""

    type: Literal["lead_overtakes"] = "lead_overtakes"
    system: str
    until: int
    at: int
    since: int | None


class LeadIsLow(BaseModel, frozen=True):
    """The n at which `lead` keeps significantly less than `random`."""

    type: Literal["lead_is_low"] = "lead_is_low"
    lengths: tuple[int, ...]
    worse: tuple[int, ...]


class SystemsAreTheLimit(BaseModel, frozen=True):
    """From `start` to `end` words all systems have stopped gaining, while the reference's first words still gain."""

    type: Literal["systems_are_the_limit"] = "systems_are_the_limit"
    systems: tuple[str, ...]
    start: int
    end: int
    of_reference: float
    some_write_own_words: bool


class TryLengths(BaseModel, frozen=True):
    """Lengths that are worth trying, shorter or longer than those tried."""

    type: Literal["try_lengths"] = "try_lengths"
    beyond: int
    lengths: tuple[int, ...]


class TakeArticles(BaseModel, frozen=True):
    """The number of `articles` that would narrow the interval of a system's n to one step; None: it has too few."""

    type: Literal["take_articles"] = "take_articles"
    system: str
    has: int
    articles: int | None
    n: int | None


class TruthNotMeasured(BaseModel, frozen=True):
    """Systems that may write words which the article lacks, with their mean faithfulness where it was measured."""

    type: Literal["truth_not_measured"] = "truth_not_measured"
    systems: tuple[str, ...]
    faithfulness: dict[str, float]


class CutTexts(BaseModel, frozen=True):
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


class FewArticles(BaseModel, frozen=True):
    """With so few articles intervals understate the uncertainty."""

    type: Literal["few_articles"] = "few_articles"
    articles: int


class ShortTexts(BaseModel, frozen=True):
    """By n, the number of articles with fewer than n words, which are left out at that n."""

    type: Literal["short_texts"] = "short_texts"
    articles: dict[int, int]


class LeftOut(BaseModel, frozen=True):
    """The largest number of articles, at any n, that lack a summary by some system, and are left out of the means."""

    type: Literal["left_out"] = "left_out"
    articles: int


class FewerThanAsked(BaseModel, frozen=True):
    """The systems that do not always write n words: a longer summary may score higher because of its length alone."""

    type: Literal["fewer_than_asked"] = "fewer_than_asked"
    systems: tuple[str, ...]


class SkewedDifferences(BaseModel, frozen=True):
    """The pairs of systems whose significant differences are less reliable, because they are skewed."""

    type: Literal["skewed_differences"] = "skewed_differences"
    pairs: tuple[tuple[str, str], ...]


_Answer: TypeAlias = (
    Headline | Differences | OverLead | KindsKept | FewerWords | UncutContent | SmallestLength | MayKeepHalf
)
_OfLead: TypeAlias = LeadOvertakes | LeadIsLow
_Advice: TypeAlias = SystemsAreTheLimit | TryLengths | TakeArticles | TruthNotMeasured
_Warning: TypeAlias = CutTexts | FewArticles | ShortTexts | LeftOut | FewerThanAsked | SkewedDifferences
Statement: TypeAlias = Annotated[_Answer | _OfLead | _Advice | _Warning, Field(discriminator="type")]
