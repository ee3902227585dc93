from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from documents import segmented
from korean_tokenizers import korean_tokenizer
from rouge_score.rouge_scorer import RougeScorer
from threadpoolctl import threadpool_info, threadpool_limits

from nws.core.article import Article
from nws.core.errors import EmptyArticleError, LanguageError
from nws.core.metrics.config import BertScoreConfig, RougeConfig
from nws.core.metrics.fluency import Fluency, FluencyScorer
from nws.core.models import parse_model, resolve_model
from nws.core.models.generation import LoadedGenerator
from nws.core.models.generators import KNOWN_GENERATORS, parse_generator
from nws.core.stage import MetricsConfig, Stage
from nws.core.sweep import Sweeper, configure_worker_process, generated
from nws.core.systems.chunk_systems import ChunkSystem
from nws.core.systems.extractive_baselines import Lead, Random
from nws.core.systems.system import Document, Draft, UsualSystem
from nws.core.text.dataset import Dataset, open_dataset
from nws.core.text.length import UNCUT, count_words, first_words
from nws.core.text.segmentation import unsegmented
from nws.core.worker_factories import make_segmenter, make_sweeper

LENGTHS = (1, 7, 21)


def stage() -> Stage:
    minilm = resolve_model(parse_model("all-MiniLM-L6-v2"))
    metrics = MetricsConfig(BertScoreConfig(minilm, 6), RougeConfig())
    systems = (*(ChunkSystem(minilm.name, name) for name in ("textrank", "centroid")), Lead(), Random(0))
    return Stage("en", "blank", (minilm,), systems, LENGTHS, metrics, seed=0)


def test_a_worker_computes_on_one_thread() -> None:
    with threadpool_limits(2, user_api="blas"):  # what there was before comes back at the end
        configure_worker_process("cpu", None)
        assert torch.get_num_threads() == 1
        assert {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"} == {1}


def test_an_article_of_stop_words_alone_has_no_chunks_and_still_a_summary() -> None:
    segmented = make_segmenter(stage())(Article("d", "all", "k", "It was as it is and then they were there.", ("It.",)))
    assert segmented.chunks == ()
    assert {summary.words for summary in make_sweeper(stage(), "cpu")([segmented])} == {1, 7, 10}


def test_what_cannot_be_summarised_or_scored_is_refused() -> None:
    segment = make_segmenter(stage())
    for text, references, said in (
        ("Text.", (), "'k' of d has no reference"),
        ("...", ("Reference.",), "'k' of d has no word"),
        ("한국어 기사", ("한국어 요약",), "'k' of d: its text is not in Latin script"),
    ):
        with pytest.raises((EmptyArticleError, LanguageError), match=said):
            segment(Article("d", "all", "k", text, references))


def test_every_article_gets_every_system_at_every_length_whatever_its_bundle() -> None:
    segment = make_segmenter(stage())
    bundle = [segment(article) for article in open_dataset(Dataset("sample", limit=4))]
    sweep = Sweeper(stage(), torch.device("cpu"))
    together = sweep(bundle)
    systems = ["all-MiniLM-L6-v2|textrank|chunks", "all-MiniLM-L6-v2|centroid|chunks", "lead", "random"]
    keys = [(s.article_id, s.system, s.n) for s in together]
    assert keys == [(found.article.id, system, n) for found in bundle for system in systems for n in LENGTHS]
    for summary in together:
        assert summary.words == summary.n == count_words(summary.text) == len(summary.text.split())
        assert summary.scores["coverage"] == 1.0
    apart = [summary for article in bundle for summary in sweep([article])]
    for one, other in zip(together, apart, strict=True):
        assert (one.article_id, one.system, one.n, one.text) == (other.article_id, other.system, other.n, other.text)
        assert one.scores == pytest.approx(other.scores, abs=1e-6)


@dataclass(frozen=True)
class Fluent(UsualSystem):
    """A system that asks for the fluency of the same texts as any other of its kind."""

    signature: str

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        wanted = ["Rain fell.", "A train left.", "Rain fell."]
        rain, train, again = document.fluency(wanted)
        assert rain == again != train
        return [Draft(n, document.segmented.words[0]) for n in lengths]


def test_the_language_model_reads_a_text_once_for_all_systems(
    tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    score = FluencyScorer.score

    def recorded(self: FluencyScorer, pairs: Sequence[tuple[str, str]]) -> list[float]:
        asked.extend(text for _, text in pairs)
        return score(self, pairs)

    monkeypatch.setattr(FluencyScorer, "score", recorded)
    fluency = Fluency(resolve_model(parse_model(str(tiny_models["llama"]))))
    fluent = replace(stage(), systems=(Fluent("one"), Fluent("other")), lengths=(1,))
    fluent = replace(fluent, metrics=replace(fluent.metrics, by_models=(fluency,)))
    summaries = make_sweeper(fluent, "cpu")([segmented("Some text.")])
    assert asked == ["Rain fell.", "A train left.", *{summary.text for summary in summaries}]


def test_a_renamed_article_is_generated_with_the_same_draws() -> None:
    article = segmented("Some text.").article
    seen: list[Sequence[int]] = []

    def generate(texts: Sequence[str], keys: Sequence[int], asked: Sequence[int]) -> list[Draft]:
        seen.append(keys)
        return [Draft(UNCUT, "Text.") for _ in texts]

    for of in (article, replace(article, dataset="other"), replace(article, text="Some other text.")):
        generated([unsegmented(of)], generate, replace(stage(), generator=KNOWN_GENERATORS["gpt2-xl"], lengths=(1,)))
    assert seen[0] == seen[1] != seen[2]


def test_a_generator_writes_once_and_its_text_is_cut_to_every_length(
    tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    generate = LoadedGenerator.__call__

    def counted(self: LoadedGenerator, texts: Sequence[str], keys: Sequence[int], asked: Sequence[int]) -> list[Draft]:
        calls.append(len(texts))
        return generate(self, texts, keys, asked)

    monkeypatch.setattr(LoadedGenerator, "__call__", counted)
    generator = parse_generator(str(tiny_models["bart"]))
    generator = replace(generator, model=resolve_model(generator.model))
    generative = replace(stage(), systems=(), generator=generator, encoders=())
    segment = make_segmenter(generative)
    bundle = [segment(article) for article in open_dataset(Dataset("sample", limit=3))]
    summaries = make_sweeper(generative, "cpu")(bundle)
    assert calls == [3]
    assert [(s.article_id, s.system, s.n) for s in summaries] == [
        (a.article.id, "tiny-bart", n) for a in bundle for n in (0, *LENGTHS)
    ]
    for start in range(0, len(summaries), 1 + len(LENGTHS)):
        uncut, *cut = summaries[start : start + 1 + len(LENGTHS)]
        assert [s.text for s in cut] == [first_words(uncut.text, n) for n in LENGTHS]
        assert uncut.extra["dtype"] == "float32"
        assert uncut.extra["truncated_tokens"] > 0  # the tiny model's window is short


def test_a_korean_sweep() -> None:
    korean_tokenizer("kiwi")
    korean = replace(stage(), language="ko", pipeline="kiwi")
    korean = replace(korean, metrics=replace(korean.metrics, rouge=RougeConfig(tokenizer="kiwi")))
    segment = make_segmenter(korean)
    bundle = [segment(article) for article in open_dataset(Dataset("sample-ko", limit=2))]
    summaries = make_sweeper(korean, "cpu")(bundle)
    assert all(s.words == s.n and s.scores["coverage"] == 1.0 for s in summaries)
    kiwi = RougeScorer(["rouge1"], tokenizer=korean_tokenizer("kiwi"))
    (lead, *_) = [summary for summary in summaries if summary.system == "lead"]
    expected = kiwi.score(bundle[0].article.references[0], lead.text)["rouge1"]
    assert lead.scores["rouge1_f1"] == expected.fmeasure
