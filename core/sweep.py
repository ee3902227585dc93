"""The unit of work of a sweep: a bundle of articles in, every system's summary at every length with scores out."""

import functools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

from core.arithmetic import warn_if_rows_depend
from core.errors import EmptyArticleError
from core.metrics.anchor import AnchorScorer
from core.metrics.standard import MetricsConfig, StandardMetrics
from core.models import ModelRef
from core.summarizers.encoders import FloatArray, load_encoder
from core.summarizers.generation import Generated, load_generator
from core.summarizers.generators import Generator
from core.summarizers.importance import unit_rows
from core.summarizers.systems import AnchoredF1, Document, Draft, Embeddings, System, uncut_and_cut
from core.text.language import Language, require_language
from core.text.limits import require_summary_length
from core.text.segmentation import Segmenter, unsegmented
from core.text.words import count_words
from core.transformer import Precision
from core.types import Article, Score, Scores, SegmentedArticle, Summary, SystemKind

# From texts to one vector each, (texts, dimensions).
Encode = Callable[[Sequence[str]], FloatArray]
# From texts and a number each that seeds what is drawn for it, to summaries.
Generate = Callable[[Sequence[str], Sequence[int]], list[Generated]]
# An article, the signature of the system, and what it wrote.
Written = tuple[Article, str, Draft]


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """Everything that decides the numbers of a sweep: extractive systems, or one generator.

    Attributes:
        language: of all articles and references.
        pipeline: the resolved segmentation: a spaCy pipeline, `blank` or `kiwi`.
        encoders: resolved models, by whose names the systems ask for embeddings.
        systems: what summarises segments. A plan with a generator has none.
        generator: a generator with its model resolved.
        lengths: the values of n.
        metrics: options of the standard metrics.
        seed: of whatever is drawn at random.
        precision: what encoders compute in. The BERTScore backbone has its own in `metrics`; generators choose theirs.
    """

    language: Language
    pipeline: str
    encoders: tuple[ModelRef, ...]
    systems: tuple[System, ...]
    lengths: tuple[int, ...]
    metrics: MetricsConfig
    seed: int
    generator: Generator | None = None
    precision: Precision = "float32"

    @property
    def kinds(self) -> dict[str, SystemKind]:
        """What each system is, by its signature, the generator last."""
        generated: dict[str, SystemKind] = {} if self.generator is None else {self.generator.signature: "system"}
        return {system.signature: system.kind for system in self.systems} | generated

    @property
    def signatures(self) -> tuple[str, ...]:
        """Of every system, the generator's last."""
        return tuple(self.kinds)

    @property
    def summaries_per_article(self) -> int:
        """How many there are: one of each length by every system, and one of its own length by some."""
        uncut = sum(system.has_uncut for system in self.systems) + (self.generator is not None)
        return len(self.signatures) * len(self.lengths) + uncut

    @property
    def models(self) -> tuple[ModelRef, ...]:
        """Every model that a worker loads."""
        generated = () if self.generator is None else (self.generator.model,)
        return (*self.encoders, *generated, self.metrics.bertscore.model)


def make_segmenter(plan: SweepPlan) -> Callable[[Article], SegmentedArticle]:
    """What cuts an article for the sweep, see `checked`.

    A generator reads the text itself: for it alone, an article is only checked.
    """
    return checked(plan.language, Segmenter(plan.pipeline) if plan.systems else unsegmented)


def checked(
    language: Language, segment: Callable[[Article], SegmentedArticle]
) -> Callable[[Article], SegmentedArticle]:
    """`segment`, refusing an article that cannot be summarised or scored in `language`.

    Raises (when called): EmptyArticleError, LanguageError, SegmentationError.
    """

    def check_and_segment(article: Article) -> SegmentedArticle:
        if not article.references:
            raise EmptyArticleError(f"Article {article.key!r} of {article.dataset} has no reference summary.")
        for reference in article.references:
            require_summary_length(reference)
        require_language(article, language)
        return segment(article)

    return check_and_segment


class Sweeper:
    """Holds the models and the metrics of a plan, loaded once, and sweeps bundles."""

    def __init__(self, plan: SweepPlan, device: torch.device) -> None:
        self._plan = plan
        self._loaded = [load_encoder(ref, device, plan.precision) for ref in plan.encoders]
        self._encoders: dict[str, Encode] = {encoder.name: encoder.encode for encoder in self._loaded}
        self._generate = None if plan.generator is None else load_generator(plan.generator, device, plan.seed)
        self._metrics = StandardMetrics(plan.metrics, device)

    @property
    def tokens(self) -> int:
        """How many tokens the models have read and written, without padding."""
        generated = 0 if self._generate is None else self._generate.tokens
        return sum(encoder.tokens for encoder in self._loaded) + generated + self._metrics.tokens

    def __call__(self, bundle: Sequence[SegmentedArticle]) -> list[Summary]:
        """Summaries of every article by every system at every length, by article, then system, then n.

        Each text is embedded once per encoder, whatever number of importances and lengths use it, and all
        candidates are scored together.
        """
        started = time.perf_counter()
        known: dict[tuple[Article, str], Score] = {}
        anchored = self._metrics.anchor_scorer()
        documents = embed(bundle, self._encoders, _objective(anchored, known), anchored)
        written = write(documents, self._plan)
        if self._plan.generator is not None and self._generate is not None:
            written += generated(bundle, self._generate, self._plan.generator.signature, self._plan.lengths)
        pairs = [(article, text) for article, _, draft in written for text in draft.texts]
        scores = iter(self._metrics.score(pairs, known))
        averaged = [_mean([next(scores) for _ in draft.texts]) for _, _, draft in written]
        seconds = (time.perf_counter() - started) / max(len(written), 1)
        return [
            Summary(article.id, system, draft.n, draft.text, count_words(draft.text), seconds, score, _extra(draft))
            for (article, system, draft), score in zip(written, averaged, strict=True)
        ]


def _objective(
    scorer: AnchorScorer, known: dict[tuple[Article, str], Score]
) -> Callable[[Article, Sequence[str]], list[float]]:
    """What oracles maximise. It fills `known`: a text is stored with the very score that it was chosen for."""

    def f1(article: Article, texts: Sequence[str]) -> list[float]:
        scores = scorer.scores(article.references, texts)
        known.update(((article, text), score) for text, score in zip(texts, scores, strict=True))
        return [score.f1 for score in scores]

    return f1


def make_sweeper(plan: SweepPlan, device: str, memory_fraction: float | None = None) -> Sweeper:
    """A sweeper on `device`, see `take_share`."""
    take_share(device, memory_fraction)
    return Sweeper(plan, torch.device(device))


def take_share(device: str, memory_fraction: float | None) -> None:
    """Make this process a worker: `device` is `cuda`, the accelerator it pins, or `cpu`, one thread of it.

    One thread, because sums split over several threads round differently, and the numbers must not depend on how
    many cores a worker has: more cores are used by more workers.

    `memory_fraction` is how much of the accelerator's memory this process may take at most, in (0, 1]: beyond it, it is
    out of memory, and not the others on the same accelerator.
    """
    torch.set_num_threads(1)
    if device == "cpu":
        warn_if_rows_depend()
    if device == "cuda" and memory_fraction is not None:
        torch.cuda.set_per_process_memory_fraction(memory_fraction)


def embed(
    bundle: Sequence[SegmentedArticle],
    encoders: Mapping[str, Encode],
    f1: Callable[[Article, Sequence[str]], list[float]],
    anchored_f1: AnchoredF1,
) -> list[Document]:
    """Each article with its sentence and chunk vectors; every encoder sees all texts of the bundle in one call."""
    texts = [segment.text for article in bundle for segment in (*article.sentences, *article.chunks)]
    vectors = {name: unit_rows(encode(texts)) for name, encode in encoders.items()} if texts else {}
    documents = []
    start = 0
    for article in bundle:
        middle = start + len(article.sentences)
        end = middle + len(article.chunks)
        embeddings = {name: Embeddings(v[start:middle], v[middle:end]) for name, v in vectors.items()}
        documents.append(Document(article, embeddings, functools.partial(f1, article.article), anchored_f1))
        start = end
    return documents


def write(documents: Sequence[Document], plan: SweepPlan) -> list[Written]:
    """What every system of the plan writes for each document, by document, then system, then n."""
    return [
        (document.segmented.article, system.signature, draft)
        for document in documents
        for system in plan.systems
        for draft in system.summarize(document, plan.lengths)
    ]


def generated(
    bundle: Sequence[SegmentedArticle], generate: Generate, signature: str, lengths: Sequence[int]
) -> list[Written]:
    """What the generator writes for each article, once, uncut and cut to every length."""
    articles = [segmented.article for segmented in bundle]
    found = generate([article.text for article in articles], [int(article.content_hash, 16) for article in articles])
    return [
        (article, signature, draft)
        for article, output in zip(articles, found, strict=True)
        for draft in uncut_and_cut(output.text, lengths, output.extra)
    ]


def _extra(draft: Draft) -> Mapping[str, float | str | tuple[str, ...]]:
    """What is stored beside the text: of several draws all, so that their mean can be computed again."""
    return {**draft.extra, "draws": draft.texts} if draft.redraws else draft.extra


def _mean(scores: Sequence[Scores]) -> Scores:
    """Every metric's mean; of one score itself."""
    if len(scores) == 1:
        return scores[0]
    columns = [score.columns() for score in scores]
    mean = {name: math.fsum(column[name] for column in columns) / len(columns) for name in columns[0]}
    return Scores.from_columns(mean)
