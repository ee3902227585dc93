"""The unit of work of a sweep: a bundle of articles in, every system's summary at every length with scores out."""

import functools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import torch
from threadpoolctl import threadpool_limits

from core.arithmetic import multiply_exactly
from core.metrics.bertscore import AnchorScorer, BertScorer
from core.metrics.standard import StandardMetrics
from core.models.encoders import FloatArray, load_encoder
from core.models.endpoint import Endpoint
from core.models.generators import Generator
from core.plugins.adapters import Judged, PluginMetric
from core.stage import Stage
from core.systems.importance import unit_rows
from core.systems.system import (
    AnchoredF1,
    Document,
    Draft,
    Embeddings,
    FluencyOf,
    cut_to_asked,
    known_drafts,
    no_fluency,
    no_other,
    uncut_and_cut,
)
from core.text.length import UNCUT, LengthUnit
from core.text.words import count_words
from core.types import DRAWS, Article, Score, SegmentedArticle, Summary

if TYPE_CHECKING:
    from core.metrics.model_metric import ModelScorer
    from core.models.endpoint import EndpointAnswer
    from core.models.endpoint_requests import LoadedEndpoint
    from core.models.generation import GeneratedText, LoadedGenerator

# From texts to one vector each, (texts, dimensions).
Encode = Callable[[Sequence[str]], FloatArray]
# From texts to the function that waits for their vectors: it is called once all encoders have begun.
BeginEncode = Callable[[Sequence[str]], Callable[[], FloatArray]]
# From texts, a number each that seeds what is drawn for it, and how many words each prompt asks for, to summaries.
Generate: TypeAlias = (
    "Callable[[Sequence[str], Sequence[int], Sequence[int]], Sequence[GeneratedText | EndpointAnswer]]"
)
# An article, the signature of the system, and what it wrote.
Written = tuple[Article, str, Draft]


class Sweeper:
    """Holds the models and the metrics of a stage, loaded once, and sweeps bundles."""

    def __init__(self, stage: Stage, device: torch.device) -> None:
        self._stage = stage
        self._loaded = [load_encoder(ref, device, stage.precision) for ref in stage.encoders]
        self._encoders: dict[str, BeginEncode] = {encoder.name: encoder.begin for encoder in self._loaded}
        self._generate = None if stage.generator is None else load_generator_of(stage, stage.generator, device)
        self._metrics = StandardMetrics(stage.metrics, device, stage.panels)
        self._by_models = {metric.name: metric.load(device) for metric in stage.metrics.by_models}

    @property
    def tokens(self) -> int:
        """How many tokens the models have read and written, without padding."""
        generated = 0 if self._generate is None else self._generate.tokens
        measured = sum(scorer.tokens for scorer in self._by_models.values())
        return sum(encoder.tokens for encoder in self._loaded) + generated + self._metrics.tokens + measured

    def __call__(self, bundle: Sequence[SegmentedArticle]) -> list[Summary]:
        """Summaries of every article by every system at every length, by article, then system, then n.

        Each text is embedded once per encoder, whatever number of importances and lengths use it, and all
        candidates are scored together.
        """
        started = time.perf_counter()
        known: dict[tuple[Article, str], Score] = {}
        anchored = self._metrics.anchor_scorer()
        nearest = self._metrics.content_kept.nearest_reference
        fluency = _fluency_of(self._by_models)
        asked = _objective(anchored, known), anchored, nearest, fluency
        documents = embed(bundle, self._encoders, *asked, length_unit=self._stage.length_unit)
        written = write(documents, self._stage)
        if self._stage.generator is not None and self._generate is not None:
            of_stage = self._stage.generator, self._stage.lengths, self._stage.length_unit
            written += generated(bundle, self._generate, *of_stage)
        pairs = [(article, text) for article, _, draft in written for text in draft.texts]
        scores = iter(self._metrics.score(pairs, known))
        averaged = [_mean([next(scores) for _ in draft.texts]) for _, _, draft in written]
        by_models = _model_scores(written, self._by_models)
        by_plugins = _plugin_scores(written, self._stage.metrics.plugins, self._stage.language)
        seconds = (time.perf_counter() - started) / max(len(written), 1)
        return [
            Summary(
                *(article.id, system, draft.n, draft.text, count_words(draft.text)),
                *(seconds if draft.seconds is None else draft.seconds, score, _extra(draft)),
                chosen_scores=chosen | own,
            )
            for (article, system, draft), score, chosen, own in zip(
                written, averaged, by_models, by_plugins, strict=True
            )
        ]


def load_generator_of(
    stage: Stage, generator: Generator | Endpoint, device: torch.device
) -> "LoadedGenerator | LoadedEndpoint":
    """What writes for a generator. Its libraries take seconds, which most sweeps need not wait for."""
    if isinstance(generator, Endpoint):
        from core.models.endpoint_requests import LoadedEndpoint

        return LoadedEndpoint(generator, stage.seed)
    from core.models.generation import load_generator

    return load_generator(generator, device, stage.seed)


def _objective(
    scorer: AnchorScorer, known: dict[tuple[Article, str], Score]
) -> Callable[[Article, Sequence[str]], list[float]]:
    """The objective of oracles. It fills `known`, so that a text is stored with exactly the score it was chosen for."""

    def f1(article: Article, texts: Sequence[str]) -> list[float]:
        scores = scorer.scores(article.references, texts)
        known.update(((article, text), score) for text, score in zip(texts, scores, strict=True))
        return [score.f1 for score in scores]

    return f1


def _fluency_of(scorers: "Mapping[str, ModelScorer]") -> FluencyOf:
    """Of texts, under the run's model, if it has one."""
    scorer = scorers.get("fluency")
    return no_fluency if scorer is None else lambda texts: scorer.score([("", text) for text in texts])


def take_share(device: str, memory_fraction: float | None) -> None:
    """Make this process a worker: `device` is `cuda`, the accelerator it pins, or `cpu`, one thread of it.

    One thread, because sums split over several threads round differently, and the numbers must not depend on how
    many cores a worker has: more cores are used by more workers.

    `memory_fraction` is how much of the accelerator's memory this process may take at most, in (0, 1]: beyond it, it is
    out of memory, and not the others on the same accelerator.
    """
    torch.set_num_threads(1)
    threadpool_limits(1, user_api="blas")  # NumPy's: OpenBLAS takes all cores for a product of two hundred rows
    if device != "cuda":
        return
    multiply_exactly()
    # cuDNN's attention builds a stage for every new shape of a batch: a generator's first batch took 12.8 s on an H100,
    # and the same batch again 2.9 s. Without it, attention is FlashAttention or PyTorch's own: not seen on a GPU since.
    torch.backends.cuda.enable_cudnn_sdp(False)
    if memory_fraction is not None:
        torch.cuda.set_per_process_memory_fraction(memory_fraction)


def embed(
    bundle: Sequence[SegmentedArticle],
    encoders: Mapping[str, BeginEncode],
    f1: Callable[[Article, Sequence[str]], list[float]],
    anchored_f1: AnchoredF1,
    nearest: Callable[[Article], str] = lambda article: no_other(),
    fluency: FluencyOf = no_fluency,
    length_unit: LengthUnit = "words",
) -> list[Document]:
    """Each article with its sentence and chunk vectors; every encoder sees all texts of the bundle in one call."""
    texts = [segment.text for article in bundle for segment in (*article.sentences, *article.chunks)]
    begun = {name: begin(texts) for name, begin in encoders.items()} if texts else {}
    vectors = {name: unit_rows(embeddings()) for name, embeddings in begun.items()}
    documents = []
    start = 0
    for article in bundle:
        middle = start + len(article.sentences)
        end = middle + len(article.chunks)
        embeddings = {name: Embeddings(v[start:middle], v[middle:end]) for name, v in vectors.items()}
        of_article = functools.partial(f1, article.article), anchored_f1, functools.partial(nearest, article.article)
        documents.append(Document(article, embeddings, *of_article, fluency, length_unit))
        start = end
    return documents


def write(documents: Sequence[Document], stage: Stage) -> list[Written]:
    """What every system of the stage writes for each document, by document, then system, then n."""
    return [
        (document.segmented.article, system.signature, draft)
        for document in documents
        for system in stage.systems
        for draft in system.summarize(document, stage.lengths)
    ]


def generated(
    bundle: Sequence[SegmentedArticle],
    generate: Generate,
    generator: Generator | Endpoint,
    lengths: Sequence[int],
    length_unit: LengthUnit = "words",
) -> list[Written]:
    """The generator's drafts for each article: one text, uncut and cut to every length, or a text for each length.

    What an article brings along (`SummarizedArticle`) is taken, and not asked for.
    """
    name = generator.signature
    known = [(of.article, name, draft) for of in bundle for draft in known_drafts(of.article, name)]
    there = {(article.id, draft.n) for article, _, draft in known}
    asked = [UNCUT] if generator.has_uncut else lengths
    wanted = [(of.article, n) for of in bundle for n in asked if (of.article.id, n) not in there]
    texts = [article.text for article, _ in wanted]
    keys = [int(article.content_hash, 16) for article, _ in wanted]
    outputs = generate(texts, keys, [n for _, n in wanted]) if wanted else ()
    return known + [
        (article, name, draft)
        for (article, n), output in zip(wanted, outputs, strict=True)
        for draft in (
            uncut_and_cut(output.text, lengths, length_unit, output.extra)
            if n == UNCUT
            else [cut_to_asked(output.text, n, output.extra, length_unit)]
        )
    ]


def _extra(draft: Draft) -> Mapping[str, float | str | tuple[str, ...]]:
    """What is stored with the text: all draws, if there are several, so that their mean can be computed again."""
    return {**draft.extra, DRAWS: draft.texts} if draft.redraws else draft.extra


def _model_scores(written: Sequence[Written], scorers: "Mapping[str, ModelScorer]") -> list[dict[str, float]]:
    """The values of each draft by metrics of models: the means over its texts. Equal texts are read once."""
    pairs = list(dict.fromkeys((article.text, text) for article, _, draft in written for text in draft.texts))
    values = {name: dict(zip(pairs, scorer.score(pairs), strict=True)) for name, scorer in scorers.items()}
    return [
        {
            name: math.fsum(scores[article.text, text] for text in draft.texts) / len(draft.texts)
            for name, scores in values.items()
        }
        for article, _, draft in written
    ]


def _plugin_scores(
    written: Sequence[Written], metrics: Sequence[PluginMetric], language: str
) -> list[dict[str, float]]:
    """The values of plugins' metrics for each draft: the means over its texts. Equal texts are scored once.

    Raises:
        PluginError: a metric raised, or returned no finite number.
    """
    by_draft: list[dict[str, float]] = [{} for _ in written]
    for metric in metrics:
        judge = functools.cache(metric.judge)
        for values, (article, _, draft) in zip(by_draft, written, strict=True):
            n = draft.n if "n" in metric.asks else None
            known = f"article {article.key!r}", article.text, n, language, article.key
            scores = [judge(Judged(text, article.references, *known)) for text in draft.texts]
            values[metric.name] = math.fsum(scores) / len(scores)
    return by_draft


def _mean(scores: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    """Every metric's mean; of one text its scores."""
    if len(scores) == 1:
        return scores[0]
    return {name: math.fsum(of_text[name] for of_text in scores) / len(scores) for name in scores[0]}


class ArticleWriter:
    """Writes summaries of articles that have no reference; nothing is scored. Holds the models of a stage, loaded once.

    Args:
        stage: of systems none of which reads references, or of a generator.
        device: where models compute.

    Raises:
        ModelError: a model cannot be loaded.
    """

    def __init__(self, stage: Stage, device: torch.device) -> None:
        self._stage, self._device = stage, device
        self._encoders = {ref.name: load_encoder(ref, device, stage.precision).begin for ref in stage.encoders}
        self._generate = None if stage.generator is None else load_generator_of(stage, stage.generator, device)

    def write(self, bundle: Sequence[SegmentedArticle]) -> list[Written]:
        """A draft of each article at each n, by article, then n."""
        if self._stage.generator is not None and self._generate is not None:
            of_stage = self._stage.generator, self._stage.lengths, self._stage.length_unit
            return generated(bundle, self._generate, *of_stage)

        @functools.cache
        def scorer() -> AnchorScorer:
            return AnchorScorer(self._bertscore)

        def anchored(anchor: str, texts: Sequence[str]) -> list[float]:
            return scorer()(anchor, texts)

        documents = embed(bundle, self._encoders, _no_reference, anchored, length_unit=self._stage.length_unit)
        return write(documents, self._stage)

    @functools.cached_property
    def _bertscore(self) -> BertScorer:  # few systems compare with the article's first sentences
        return BertScorer(self._stage.metrics.bertscore, self._device)


def _no_reference(article: Article, texts: Sequence[str]) -> list[float]:
    raise AssertionError(f"a system asked for the references of {article.key!r}, which has none")
