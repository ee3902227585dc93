"""Phase 1's unit of work: a bundle of segmented articles in, every system's summary at every length with scores out."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

from core.errors import EmptyArticleError
from core.metrics.standard import MetricsConfig, StandardMetrics
from core.models import ModelRef
from core.summarizers.encoders import FloatArray, load_encoder
from core.summarizers.importance import unit_rows
from core.summarizers.systems import ChunkSystem, Document, Embeddings, Lead, Random, System
from core.text.language import require_latin_script
from core.text.segmentation import Segmenter
from core.text.words import count_words
from core.types import Article, SegmentedArticle, Summary

# From texts to one vector each, (texts, dimensions).
Encode = Callable[[Sequence[str]], FloatArray]


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """Everything that decides the numbers of a sweep.

    Attributes:
        pipeline: the resolved spaCy pipeline, or `blank`.
        encoders: resolved models.
        importance: names of sentence importances.
        lengths: the values of n.
        metrics: options of the standard metrics.
        seed: of the `random` control.
    """

    pipeline: str
    encoders: tuple[ModelRef, ...]
    importance: tuple[str, ...]
    lengths: tuple[int, ...]
    metrics: MetricsConfig
    seed: int

    @property
    def systems(self) -> tuple[System, ...]:
        """Each encoder with each importance, and the two controls for length."""
        chunk_systems = [ChunkSystem(encoder.name, name) for encoder in self.encoders for name in self.importance]
        return (*chunk_systems, Lead(), Random(self.seed))


def make_segmenter(plan: SweepPlan) -> Callable[[Article], SegmentedArticle]:
    """What cuts an article for the sweep. It refuses one that cannot be summarised or scored in English.

    Raises (when called): EmptyArticleError, LanguageError.
    """
    segment = Segmenter(plan.pipeline)

    def segment_for_sweep(article: Article) -> SegmentedArticle:
        if not article.references:
            raise EmptyArticleError(f"Article {article.key!r} of {article.dataset} has no reference summary.")
        require_latin_script(article)
        return segment(article)

    return segment_for_sweep


class Sweeper:
    """Holds the encoders and the metrics of a plan, loaded once, and sweeps bundles."""

    def __init__(self, plan: SweepPlan, device: torch.device) -> None:
        self._plan = plan
        encoders = [load_encoder(ref, device) for ref in plan.encoders]
        self._encoders: dict[str, Encode] = {encoder.name: encoder.encode for encoder in encoders}
        self._metrics = StandardMetrics(plan.metrics, device)

    def __call__(self, bundle: Sequence[SegmentedArticle]) -> list[Summary]:
        """Summaries of every article by every system at every length, by article, then system, then n.

        Each text is embedded once per encoder, whatever number of importances and lengths use it, and all
        candidates are scored together.
        """
        started = time.perf_counter()
        written = write(embed(bundle, self._encoders), self._plan)
        scores = self._metrics.score([(article, text) for article, _, _, text in written])
        seconds = (time.perf_counter() - started) / max(len(written), 1)
        return [
            Summary(article.id, system, n, text, count_words(text), seconds, score)
            for (article, system, n, text), score in zip(written, scores, strict=True)
        ]


def make_sweeper(plan: SweepPlan, device: str) -> Sweeper:
    """A sweeper on `device` (`cuda`: the accelerator this process pins, or `cpu`: one thread of it).

    One thread, because sums split over several threads round differently, and the numbers must not depend on how
    many cores a worker has: more cores are used by more workers.
    """
    torch.set_num_threads(1)
    return Sweeper(plan, torch.device(device))


def embed(bundle: Sequence[SegmentedArticle], encoders: Mapping[str, Encode]) -> list[Document]:
    """Each article with its sentence and chunk vectors; every encoder sees all texts of the bundle in one call."""
    texts = [segment.text for article in bundle for segment in (*article.sentences, *article.chunks)]
    vectors = {name: unit_rows(encode(texts)) for name, encode in encoders.items()} if texts else {}
    documents = []
    start = 0
    for article in bundle:
        middle = start + len(article.sentences)
        end = middle + len(article.chunks)
        embeddings = {name: Embeddings(v[start:middle], v[middle:end]) for name, v in vectors.items()}
        documents.append(Document(article, embeddings))
        start = end
    return documents


def write(documents: Sequence[Document], plan: SweepPlan) -> list[tuple[Article, str, int, str]]:
    """Each article with every system's signature, every n and the summary, in that order."""
    return [
        (document.segmented.article, system.signature, n, text)
        for document in documents
        for system in plan.systems
        for n, text in zip(plan.lengths, system.summarize(document, plan.lengths), strict=True)
    ]
