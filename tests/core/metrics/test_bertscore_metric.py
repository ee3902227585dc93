import numpy as np
import pytest
import torch

from core.metrics import bertscore_metric
from core.metrics.bertscore import BertScorer
from core.metrics.bertscore_metric import BertScore
from core.metrics.config import BertScoreConfig
from core.metrics.metric import Row
from core.models import parse_model, resolve_model

CONFIG = BertScoreConfig(resolve_model(parse_model("all-MiniLM-L6-v2")), 6)
CPU = torch.device("cpu")
ROWS = [
    Row("A cat sat.", ("The cat sat down.", "Shares fell.")),
    Row("", ("Nothing.",)),
    Row("Rain in Seoul.", ("It rains in Seoul.",)),
    Row("No reference.", ()),
]


@pytest.fixture(scope="module")
def scorer() -> BertScorer:
    return BertScorer(CONFIG, CPU)


def test_best_reference(scorer: BertScorer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bertscore_metric, "_ROWS_AT_ONCE", 2)
    metric = BertScore(CONFIG, CPU)
    found = metric.statistics(ROWS)
    for values, row in zip(found, ROWS, strict=True):
        (score,) = scorer.score([(row.prediction, row.references)])
        assert values.tolist() == pytest.approx([score.precision, score.recall, score.f1], abs=1e-6)
    assert metric.score(found).tolist() == pytest.approx(found.mean(axis=0).tolist())
    assert metric.signature == CONFIG.signature


def test_mean_over_references(scorer: BertScorer) -> None:
    metric = BertScore(CONFIG, CPU, "mean")
    each = [scorer.score([(ROWS[0].prediction, (text,))])[0] for text in ROWS[0].references]
    expected = np.mean([[s.precision, s.recall, s.f1] for s in each], axis=0)
    assert metric.statistics(ROWS)[0].tolist() == pytest.approx(expected.tolist(), abs=1e-6)
    assert "|refs:mean|" in metric.signature
