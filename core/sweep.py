"""The unit of work of a sweep: a bundle of articles in, every system's summary at every length with scores out."""

import functools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import torch
from threadpoolctl import threadpool_limits

from nws.core.arithmetic import multiply_exactly
from nws.core.article import Article, SegmentedArticle
from nws.core.metrics.bertscore import AnchorScorer, BertScorer
from nws.core.metrics.metric import remembered
from nws.core.metrics.standard import StandardMetrics
from nws.core.models.encoders import FloatArray, load_encoder
from nws.core.models.generators import Generator
from nws.core.stage import Stage
from nws.core.systems.importance import unit_rows
from nws.core.systems.system import (
    AnchoredF1,
    Document,
    Draft,
    FluencyOf,
    as_drafts,
    known_drafts,
    no_fluency,
    no_other,
    split_vectors,
)
from nws.core.text.length import UNCUT, LengthUnit, count_words
from nws.core.types import DRAWN_TEXTS, REFERENCE_READ, TEXT_READ, Score, Summary

if TYPE_CHECKING:
    from nws.core.metrics.model_metric import ModelScorer
    from nws.core.models.generation import GeneratedText, LoadedGenerator

# From texts to one vector each, (texts, dimensions).
Encode = Callable[[Sequence[str]], FloatArray]
# From texts to the function that waits for their vectors: it is called once all encoders have begun.
BeginEncode = Callable[[Sequence[str]], Callable[[], FloatArray]]
# From texts, a number each that seeds what is drawn for it, and how many words each prompt asks for, to summaries.
Generate: TypeAlias = "Callable[[Sequence[str], Sequence[int], Sequence[int]], Sequence[GeneratedText]]"
# An article, the signature of the system, and what it wrote.
Written = tuple[Article, str, Draft]


class Sweeper:
    """Holds the models and the metrics of a stage, loaded once, and sweeps bundles."""

    def __init__(self, stage: Stage, device: torch.device) -> None:
        self._stage = stage
        self._encoders = {ref.name: load_encoder(ref, device, stage.precision).begin for ref in stage.encoders}
        self._generate = load_generator_of(stage, device)
        self._metrics = StandardMetrics(stage.metrics, device, stage.panels, stage.word_kinds)
        self._by_models = {metric.name: metric.load(device) for metric in stage.metrics.by_models}

    def __call__(self, bundle: Sequence[SegmentedArticle]) -> list[Summary]:
        """Summaries of every article by every system at every length, by article, then system, then n.

        Each text is embedded once per encoder, whatever number of importances and lengths use it, and all
        candidates are scored together.
        """
        started = time.perf_counter()
        known: dict[tuple[Article, str], Score] = {}
        anchored = AnchorScorer(self._metrics.bertscore)
        documents = embed(
            *(bundle, self._encoders, _objective(anchored, known), anchored),
            *(self._metrics.content_kept.nearest_reference, _fluency_of(self._by_models), self._stage.length_unit),
        )
        written = write(documents, self._stage)
        if self._generate is not None:
            written += generated(bundle, self._generate, self._stage)
        pairs = [(article, text) for article, _, draft in written for text in draft.texts]
        scores = iter(self._metrics.score(pairs, known))
        texts = (text for article, written in pairs for text in (written, *article.references))
        read = self._metrics.bertscore.read_shares(texts)
        averaged = [_mean([next(scores) for _ in draft.texts]) for _, _, draft in written]
        chosen_scores = _chosen_scores(written, self._by_models, self._stage)
        seconds = (time.perf_counter() - started) / max(len(written), 1)
        return [
            Summary(
                *(article.id, system, draft.n, draft.text, count_words(draft.text)),
                *(seconds if draft.seconds is None else draft.seconds, score, _extra(article, draft, read)),
                chosen_scores=chosen,
            )
            for (article, system, draft), score, chosen in zip(written, averaged, chosen_scores, strict=True)
        ]


def load_generator_of(stage: Stage, device: torch.device) -> "LoadedGenerator | None":
    """The generator of a stage, ready to write; None if the stage has none.

    Its libraries take seconds, which most sweeps need not wait for.
    """
    if stage.generator is None:
        return None
    assert isinstance(stage.generator, Generator), "an endpoint is asked by the driver"
    from nws.core.models.generation import load_generator

    return load_generator(stage.generator, device, stage.seed)


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
    """The fluency of texts under the run's language model, each read once; an error for who asks without one."""
    scorer = scorers.get("fluency")
    if scorer is None:
        return no_fluency
    return remembered(lambda texts: scorer.score([("", text) for text in texts]))


def configure_worker_process(device: str, memory_fraction: float | None) -> None:
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
    """Each article with the vectors of its segments; every encoder sees all texts of the bundle in one call."""
    texts = [segment.text for article in bundle for segment in article.segments]
    begun = {name: begin(texts) for name, begin in encoders.items()} if texts else {}
    vectors = {name: unit_rows(embeddings()) for name, embeddings in begun.items()}
    documents = []
    start = 0
    for article in bundle:
        end = start + len(article.segments)
        embeddings = {name: split_vectors(article, v[start:end]) for name, v in vectors.items()}
        reference_f1 = functools.partial(f1, article.article)
        nearest_reference = functools.partial(nearest, article.article)
        documents.append(
            Document(article, embeddings, reference_f1, anchored_f1, nearest_reference, fluency, length_unit)
        )
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


def generated(bundle: Sequence[SegmentedArticle], generate: Generate, stage: Stage) -> list[Written]:
    """The drafts of a stage's generator: of each article one text, uncut and cut to every length, or a text each.

    A draft that an article brings along (`SummarizedArticle`) is not asked for again.
    """
    (name,), unit = stage.signatures[-1:], stage.length_unit
    articles = [segmented.article for segmented in bundle]
    known = [(article, name, draft) for article in articles for draft in known_drafts(article, name)]
    known_places = {(article.id, draft.n) for article, _, draft in known}
    lengths = [UNCUT] if stage.writers[-1].has_uncut else stage.lengths
    missing = [(article, n) for article in articles for n in lengths if (article.id, n) not in known_places]
    texts = [article.text for article, _ in missing]
    seeds = [int(article.content_hash, 16) for article, _ in missing]
    outputs = generate(texts, seeds, [n for _, n in missing]) if missing else ()
    return known + [
        (article, name, draft)
        for (article, n), output in zip(missing, outputs, strict=True)
        for draft in as_drafts(output.text, n, stage.lengths, output.extra, unit)
    ]


def _extra(article: Article, draft: Draft, read: Mapping[str, float]) -> dict[str, float | str | tuple[str, ...]]:
    """What is stored with the text: all draws, if there are several, so that their mean can be computed again.

    `read` is the share that BERTScore has read of each text that is too long for it.
    """
    extra: dict[str, float | str | tuple[str, ...]] = {**draft.extra}
    if draft.redraws:
        extra[DRAWN_TEXTS] = draft.texts
    for name, texts in ((REFERENCE_READ, article.references), (TEXT_READ, draft.texts)):
        if shares := [read[text] for text in texts if text in read]:
            extra[name] = min(shares)
    return extra


def _chosen_scores(
    written: Sequence[Written], scorers: "Mapping[str, ModelScorer]", stage: Stage
) -> list[dict[str, float]]:
    """The values of each draft by metrics of models and of plugins: means over its texts. Equal texts are read once.

    Raises:
        PluginError: a metric raised, or returned no finite number.
    """
    pairs = list(dict.fromkeys((article.text, text) for article, _, draft in written for text in draft.texts))
    read = {name: dict(zip(pairs, scorer.score(pairs), strict=True)) for name, scorer in scorers.items()}
    judges = [(metric, functools.cache(metric.judge)) for metric in stage.metrics.plugins]
    chosen = []
    for article, _, draft in written:
        values = {name: [scores[article.text, text] for text in draft.texts] for name, scores in read.items()}
        for metric, judge in judges:
            known: dict[str, str | int] = {"article": article.text, "language": stage.language, "key": article.key}
            if "n" in metric.extra_arguments:  # otherwise, equal texts of several n are judged once
                known["n"] = draft.n
            about = article.references, f"article {article.key!r}"
            values[metric.name] = [judge(text, *about, **known) for text in draft.texts]
        chosen.append({name: math.fsum(scores) / len(scores) for name, scores in values.items()})
    return chosen


def _mean(scores: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    """The mean of each score over the texts of a draft."""
    if len(scores) == 1:
        return scores[0]
    return {name: math.fsum(text_scores[name] for text_scores in scores) / len(scores) for name in scores[0]}


class ArticleWriter:
    """Writes summaries of articles that have no reference; nothing is scored. Holds the models of a stage, loaded once.

    Args:
        stage: of systems none of which reads references, or of a generator.
        device: where models compute.

    Raises:
        ModelError: a model cannot be loaded.
    """

    def __init__(self, stage: Stage, device: torch.device) -> None:
        self._stage = stage
        self._encoders = {ref.name: load_encoder(ref, device, stage.precision).begin for ref in stage.encoders}
        self._generate = load_generator_of(stage, device)
        # Few systems compare with the article's first sentences.
        self._bertscore = functools.cache(lambda: BertScorer(stage.metrics.bertscore, device))

    def write(self, bundle: Sequence[SegmentedArticle]) -> list[Written]:
        """A draft of each article at each n, by article, then n."""
        if self._generate is not None:
            return generated(bundle, self._generate, self._stage)
        scorer = functools.cache(lambda: AnchorScorer(self._bertscore()))
        unit = self._stage.length_unit
        documents = embed(bundle, self._encoders, _no_reference, lambda *asked: scorer()(*asked), length_unit=unit)
        return write(documents, self._stage)


def _no_reference(article: Article, texts: Sequence[str]) -> list[float]:
    raise AssertionError(f"a system asked for the references of {article.key!r}, which has none")
