"""The interface of systems: frozen values with a readable signature that write drafts of given lengths."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NoReturn, Protocol, TypeAlias

from nws.core.article import Article, SegmentedArticle
from nws.core.errors import RecipeError
from nws.core.systems.importance import FloatArray
from nws.core.text.length import UNCUT, LengthUnit, kept_to, length_of
from nws.core.text.model_outputs import RAW
from nws.core.types import SystemKind

# A function from an anchor and texts to the BERTScore F1 of each text against the anchor
# (`nws.core.metrics.bertscore.AnchorScorer`).
AnchoredF1: TypeAlias = Callable[[str, Sequence[str]], list[float]]
# A function from texts to the fluency of each (`nws.core.metrics.fluency`).
FluencyOf: TypeAlias = Callable[[Sequence[str]], list[float]]
# Signatures of NWS's own systems have a "|".
_NAME = re.compile(r"[\w.+-]{1,100}")


@dataclass(frozen=True, slots=True)
class Embeddings:
    """One encoder's unit vectors of an article's sentences, chunks and subtrees, (segments, dimensions) each."""

    sentences: FloatArray
    chunks: FloatArray
    subtrees: FloatArray | None = None


def split_vectors(article: SegmentedArticle, vectors: FloatArray) -> Embeddings:
    """Split the vectors of `article.segments` into those of sentences, chunks and subtrees."""
    chunks = len(article.sentences)
    subtrees = chunks + len(article.chunks)
    return Embeddings(vectors[:chunks], vectors[chunks:subtrees], vectors[subtrees:])


def no_other() -> str:
    """Return "" as the reference of the nearest other article, for datasets without other articles."""
    return ""


def no_fluency(texts: Sequence[str]) -> NoReturn:
    """Refuse to measure fluency, because the recipe names no language model.

    Raises:
        RecipeError: always.
    """
    raise RecipeError("Fluency needs a causal language model. Name one in the recipe: `fluency_model: smollm2`.")


@dataclass(frozen=True, slots=True)
class Document:
    """A segmented article with its embeddings, and scores that a system may compute.

    Attributes:
        segmented: the article.
        embeddings: the embeddings by the encoder's name.
        f1: a function for the BERTScore F1 of each text against the references. Only an oracle may use it.
        anchored_f1: a function for the BERTScore F1 of each text against an anchor, any text that the system chooses.
        nearest: a function for the reference of the most similar other article, or "". Only a ruler may use it.
        fluency: a function for the fluency of each text, under the model that the recipe names.
        length_unit: the unit of the summaries' lengths.
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
        n: the number of words (or characters) that was asked for; `UNCUT` for none.
        text: the summary.
        redraws: more summaries of a system that draws at random. The stored scores are the means over `text` and these.
        extra: further values that are stored with it.
        seconds: the time it took, if that was measured. Otherwise its share of the time of its bundle is stored.
    """

    n: int
    text: str
    redraws: tuple[str, ...] = ()
    extra: Mapping[str, float | str] = field(default_factory=dict)
    seconds: float | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that are scored."""
        return (self.text, *self.redraws)


class System(Protocol):
    """One way to summarise."""

    @property
    def signature(self) -> str:
        """The name under which its summaries are stored."""

    @property
    def kind(self) -> SystemKind:
        """Its kind, which is stored with the run."""

    @property
    def has_uncut(self) -> bool:
        """Whether it also has an uncut summary, whose length it chooses."""

    @property
    def encoders(self) -> tuple[str, ...]:
        """The names of the encoders whose vectors it uses. The objects of plugins may lack this attribute."""

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        """Write a draft of each length, in their order: exactly that many words, or all if the article has fewer.

        If `document.length_unit` is characters, a draft has at most that many, in whole words. A system that
        `has_uncut` returns its uncut draft first.
        """


class UsualSystem:
    """Base of systems, with the attributes that most of them share."""

    __slots__ = ()
    kind: ClassVar[SystemKind] = "system"
    has_uncut: ClassVar[bool] = False

    @property
    def encoders(self) -> tuple[str, ...]:
        """Return (), since most systems use no encoder."""
        return ()


@dataclass(frozen=True, slots=True)
class SummarizedArticle(Article):
    """An article with existing summaries: the signature of the system and the draft of each.

    If there is an `error`, the article has no summaries because of it.
    """

    drafts: tuple[tuple[str, Draft], ...] = field(compare=False, repr=False)
    error: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Stored(UsualSystem):
    """A system that returns the stored summaries of the system `signature` for a `SummarizedArticle`."""

    signature: str

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        """Return the stored drafts, whatever the `lengths`; none for an article without stored summaries."""
        return known_drafts(document.segmented.article, self.signature)


def known_drafts(article: Article, signature: str) -> list[Draft]:
    """Return the stored drafts of an article by a system."""
    drafts = article.drafts if isinstance(article, SummarizedArticle) else ()
    return [draft for system, draft in drafts if system == signature]


def require_name(name: str) -> None:
    """Refuse a name for a plugin's system or predictions that looks like a signature, or is too long for tables.

    Raises:
        RecipeError: no system can have this name.
    """
    if not _NAME.fullmatch(name):
        raise RecipeError(
            f"a system cannot be called {name!r}. A name has at most 100 characters: letters, digits and . _ + -."
        )


def uncut_and_cut(
    text: str, lengths: Iterable[int], unit: LengthUnit = "words", extra: Mapping[str, float | str] | None = None
) -> list[Draft]:
    """Return drafts of an uncut text, and of its first words that fit into each length. The first has the raw text."""
    extra = extra or {}
    of_cut = {name: value for name, value in extra.items() if name != RAW}
    return [Draft(UNCUT, text, extra=extra), *(Draft(n, kept_to(text, n, unit), extra=of_cut) for n in lengths)]


def cut_to_asked(text: str, n: int, extra: Mapping[str, float | str], unit: LengthUnit = "words") -> Draft:
    """Return a draft of at most `n` words of a text that was written for `n`. The text's length is stored with it."""
    counts = {f"{unit}_asked": n, f"{unit}_written": length_of(text, unit)}
    return Draft(n, kept_to(text, n, unit), extra={**extra, **counts})


def as_drafts(
    text: str, n: int, lengths: Iterable[int], extra: Mapping[str, float | str], unit: LengthUnit = "words"
) -> list[Draft]:
    """Return the drafts of a text that was written for `n`; for an uncut text (`UNCUT`), those of `uncut_and_cut`."""
    return uncut_and_cut(text, lengths, unit, extra) if n == UNCUT else [cut_to_asked(text, n, extra, unit)]
