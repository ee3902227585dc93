"""What a system is: a frozen value with a readable signature that turns a document into drafts of a length."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NoReturn, Protocol, TypeAlias

from core.errors import RecipeError
from core.systems.importance import FloatArray
from core.text.length import UNCUT, LengthUnit, kept_to, length_of
from core.types import Article, SegmentedArticle, SystemKind

# From an anchor and texts to the BERTScore F1 of each text against the anchor (`core.metrics.bertscore.AnchorScorer`).
AnchoredF1: TypeAlias = Callable[[str, Sequence[str]], list[float]]
# From texts to the fluency of each (`core.metrics.fluency`).
FluencyOf: TypeAlias = Callable[[Sequence[str]], list[float]]
# Signatures of NWS's own systems have a "|".
_NAME = re.compile(r"[\w.+-]{1,100}")


@dataclass(frozen=True, slots=True)
class Embeddings:
    """One encoder's unit vectors of an article: (sentences, dimensions) and (chunks, dimensions)."""

    sentences: FloatArray
    chunks: FloatArray


def no_other() -> str:
    """The reference of the nearest other article, where there is none."""
    return ""


def no_fluency(texts: Sequence[str]) -> NoReturn:
    """The fluency of texts, where no language model was named.

    Raises:
        RecipeError: always.
    """
    raise RecipeError("Fluency is asked for, and the recipe names no causal language model: `fluency_model: smollm2`.")


@dataclass(frozen=True, slots=True)
class Document:
    """A segmented article, its embeddings by encoder name, and what may be asked about a text.

    `f1` gives the BERTScore F1 of each text against the references: only an oracle may ask it. `anchored_f1` gives that
    of each text against an anchor, a text that the system names: it knows no reference, and any system may ask it.
    `nearest` gives the reference of the most similar other article of the dataset, or nothing: only a ruler may ask.
    `fluency` gives that of each text, under the model that the recipe names.
    `length_unit` says what the lengths count that a system is asked for.
    """

    segmented: SegmentedArticle
    embeddings: Mapping[str, Embeddings]
    f1: Callable[[Sequence[str]], list[float]]
    anchored_f1: AnchoredF1
    nearest: Callable[[], str] = no_other
    fluency: FluencyOf = no_fluency
    length_unit: LengthUnit = "words"


@dataclass(frozen=True, slots=True)
class Draft:
    """A summary before it is scored.

    Attributes:
        n: the number of words (or characters) asked for, `UNCUT` for none.
        text: the summary.
        redraws: more summaries of a system that draws at random. The scores stored are the means over `text` and these.
        extra: what else is to be stored with it.
        seconds: what it cost, where that is known; else it is a share of the time that its bundle takes.
    """

    n: int
    text: str
    redraws: tuple[str, ...] = ()
    extra: Mapping[str, float | str] = field(default_factory=dict)
    seconds: float | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """All that is scored."""
        return (self.text, *self.redraws)


class System(Protocol):
    """One way to summarise."""

    @property
    def signature(self) -> str:
        """The name under which its summaries are stored."""

    @property
    def kind(self) -> SystemKind:
        """What it is to a reader; stored with the run."""

    @property
    def has_uncut(self) -> bool:
        """Whether it has a length of its own, too."""

    @property
    def encoders(self) -> tuple[str, ...]:
        """The names of all encoders whose vectors it may ask for. An object of a plugin need not have it."""

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        """A draft of each length, in this order: exactly that many words, or all if the article has fewer.

        Where `document.length_unit` says so, the lengths are characters: at most that many, and whole words.
        One that `has_uncut` gives its uncut draft first.
        """


class UsualSystem:
    """Base of systems: what most of them are. Another says so itself."""

    __slots__ = ()
    kind: ClassVar[SystemKind] = "system"
    has_uncut: ClassVar[bool] = False

    @property
    def encoders(self) -> tuple[str, ...]:
        """None."""
        return ()


@dataclass(frozen=True, slots=True)
class SummarizedArticle(Article):
    """An article with summaries that were written of it before: the system and the draft of each."""

    drafts: tuple[tuple[str, Draft], ...] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Stored(UsualSystem):
    """Writes what a run has stored of `signature`, for a `SummarizedArticle`."""

    signature: str

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        """All its drafts, whatever `lengths` there are; none for another article."""
        return known_drafts(document.segmented.article, self.signature)


def known_drafts(article: Article, signature: str) -> list[Draft]:
    """What an article brings along of a system."""
    drafts = article.drafts if isinstance(article, SummarizedArticle) else ()
    return [draft for system, draft in drafts if system == signature]


def require_name(name: str) -> None:
    """Refuse a name for a system from outside that could not be told from a signature, or that tables would cut.

    Raises:
        RecipeError: no system can have this name.
    """
    if not _NAME.fullmatch(name):
        raise RecipeError(
            f"a system cannot be called {name!r}: a name has only letters, digits and . _ + -, 100 at most."
        )


def uncut_and_cut(
    text: str,
    lengths: Iterable[int],
    unit: LengthUnit = "words",
    extra: Mapping[str, float | str] | None = None,
) -> list[Draft]:
    """`text` as it is, and its first words that fit into each length; as it is, too, where it has no more."""
    extra = extra or {}
    return [Draft(UNCUT, text, extra=extra), *(Draft(n, kept_to(text, n, unit), extra=extra) for n in lengths)]


def cut_to_asked(text: str, n: int, extra: Mapping[str, float | str], unit: LengthUnit = "words") -> Draft:
    """What was written for `n` words, at most that many of them; how many there were is stored beside it."""
    counts = {f"{unit}_asked": n, f"{unit}_written": length_of(text, unit)}
    return Draft(n, kept_to(text, n, unit), extra={**extra, **counts})
