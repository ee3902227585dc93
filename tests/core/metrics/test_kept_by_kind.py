"""What is kept of each kind of word: against its formula, with the ends of its scale, and whatever is scored beside."""

import itertools
import json
import random
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transformers import AutoModel, AutoTokenizer

from nws.core.analysis.kept_by_kind import shares_of
from nws.core.arithmetic import one_thread
from nws.core.article import Article
from nws.core.metrics.bertscore import BertScorer
from nws.core.metrics.config import BertScoreConfig, RougeConfig
from nws.core.metrics.kept import draw_distractors, draw_panel
from nws.core.metrics.standard import StandardMetrics
from nws.core.models import ModelRef, model_folder, parse_model, resolve_model
from nws.core.stage import MetricsConfig
from nws.core.text.length import idf_of
from nws.core.text.word_kinds import KIND_TERMS, KINDS, load_tagger

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def minilm() -> ModelRef:
    return resolve_model(parse_model("all-MiniLM-L6-v2"))


@pytest.fixture(scope="module")
def articles(sample_rows: list[dict[str, str]]) -> list[Article]:
    return [Article("d", "all", row["id"], row["article"], (row["highlights"],)) for row in sample_rows]


def metrics_of(model: ModelRef, articles: list[Article], kinds: str, layer: int = 6) -> StandardMetrics:
    config = MetricsConfig(BertScoreConfig(model, layer), RougeConfig())
    return StandardMetrics(config, CPU, [draw_panel("d", articles)], kinds)


@pytest.fixture(scope="module")
def metrics(minilm: ModelRef, articles: list[Article], word_kinds: str) -> StandardMetrics:
    return metrics_of(minilm, articles, word_kinds)


def terms(scores: dict[str, float]) -> dict[str, float]:
    return {name: scores[name] for name in KIND_TERMS if name in scores}


def test_the_terms_are_those_of_the_formula(
    metrics: StandardMetrics, minilm: ModelRef, articles: list[Article], word_kinds: str
) -> None:
    folder = model_folder(minilm)
    tokenizer, model, tag = (
        AutoTokenizer.from_pretrained(folder),
        AutoModel.from_pretrained(folder),
        load_tagger(word_kinds),
    )
    panel = draw_panel("d", articles)
    idf = idf_of([set(tokenizer(article.references[0])["input_ids"]) for article in panel.articles])

    def layers(text: str) -> list[torch.Tensor]:
        with torch.inference_mode():
            hidden = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states
        return [torch.nn.functional.normalize(hidden[i][0], dim=-1) for i in (0, 6)]

    for article in articles[:3]:
        text = " ".join(article.text.split()[:15])
        # The weight of each kind and its weighed recall, of the own reference and of the others together.
        share, recalled = (defaultdict[tuple[bool, str], float](float) for _ in range(2))
        for one in (article, *draw_distractors(article, panel)):
            reference = one.references[0]
            encoded = tokenizer(reference, return_offsets_mapping=True)
            best = (sum(a @ b.T for a, b in zip(layers(text), layers(reference), strict=True)) / 2).max(dim=0).values
            rows = list(zip(encoded["input_ids"], encoded["offset_mapping"], best.tolist(), strict=True))[1:-1]
            whole = sum(idf[token] for token, _, _ in rows)
            for token, (_, end), cosine in rows:
                place = one == article, KINDS[tag(reference)[end - 1]]
                share[place] += idf[token] / whole
                recalled[place] += idf[token] / whole * cosine
        expected = {}
        for kind in KINDS:
            s, of_others = share[True, kind], share[False, kind]
            if s and of_others:
                floor = recalled[False, kind] / of_others
                expected |= {f"{kind}_kept": recalled[True, kind] - s * floor, f"{kind}_whole": s * (1 - floor)}
        (scores,) = metrics.score([(article, text)])
        assert len(expected) >= 10
        assert terms(scores) == pytest.approx(expected, abs=1e-6)


@settings(deadline=None, max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**6))
def test_a_reference_keeps_all_of_every_kind_and_nothing_none(
    minilm: ModelRef, articles: list[Article], word_kinds: str, seed: int
) -> None:
    draw = random.Random(seed)
    some = [
        Article(
            "d", "all", article.key, article.text, (" ".join(draw.sample(article.text.split(), draw.randint(1, 30))),)
        )
        for article in draw.sample(articles, 5)
    ]
    texts = [(article, text) for article in some for text in (article.references[0], "")]
    for (_, text), scores in zip(texts, metrics_of(minilm, some, word_kinds).score(texts), strict=True):
        found = terms(scores)
        for kind in {name.split("_")[0] for name in found}:
            kept, whole = found[f"{kind}_kept"], found[f"{kind}_whole"]
            assert kept == (pytest.approx(whole, abs=1e-5) if text else 0.0)
            assert whole > 0 or not text


def test_no_order_changes_a_bit(
    metrics: StandardMetrics, minilm: ModelRef, articles: list[Article], word_kinds: str
) -> None:
    texts = [(article, " ".join(article.text.split()[:n])) for article in articles[:6] for n in (3, 20)]
    with one_thread():
        found = metrics.score(texts)
        behind = metrics_of(minilm, articles[::-1], word_kinds).score(texts[::-1])[::-1]
    assert [*map(terms, found)] == [*map(terms, behind)]
    assert all(map(terms, found))


def test_references_of_other_articles_keep_nothing_on_average(
    minilm: ModelRef, shared_data: Path, word_kinds: str
) -> None:
    read = [json.loads(line) for line in (shared_data / "frank_cnn.jsonl").read_text(encoding="utf-8").splitlines()]
    articles = [Article("d", "all", row["id"], row["article"], (row["highlights"],)) for row in read]
    panel, draw = draw_panel("d", articles), random.Random(0)
    strange = []
    for article in articles:
        known = {article, *draw_distractors(article, panel)}
        strange += [(article, other.references[0]) for other in draw.sample([a for a in articles if a not in known], 3)]
    scores = metrics_of(minilm, articles, word_kinds).score(strange)
    values = np.array([[of.get(name, np.nan) for name in KIND_TERMS] for of in scores])
    for kind, share in shares_of(values.reshape(len(articles), 3, -1).mean(axis=1)).items():
        assert share.articles > 30
        error = (share.interval.high - share.interval.low) / 4
        assert abs(share.interval.mean) < 3 * error, kind
        assert error < 0.03, kind


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_tokens_of_bytes_and_of_pieces_have_the_kind_of_their_word(
    tiny_models: dict[str, Path], word_kinds: str, name: str
) -> None:
    scorer = BertScorer(BertScoreConfig(resolve_model(parse_model(str(tiny_models[name]))), 2), CPU)
    text = "Zoë met 3 men in Köln, 東京 ."
    found = scorer.token_kinds(f" {text} ", load_tagger(word_kinds))
    (tokens,) = scorer.embed([text])
    assert tokens is not None
    assert len(found) == len(tokens.ids)
    told = [KINDS[kind] for kind, _ in itertools.groupby(found.tolist()) if KINDS[kind] != "other"]
    assert told == ["who", "action", "number", "thing", "where", "thing"]
