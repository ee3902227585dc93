import torch

from nws.core.article import Article
from nws.core.metrics.config import BertScoreConfig, RougeConfig
from nws.core.metrics.kept import draw_panel
from nws.core.metrics.specs import BY_COLUMN, METRICS, OF_OTHERS, PARTS, SPECS
from nws.core.metrics.standard import StandardMetrics
from nws.core.models import parse_model, resolve_model
from nws.core.stage import MetricsConfig


def test_every_column_of_every_summary_whatever_is_scored_beside_it() -> None:
    model = resolve_model(parse_model("all-MiniLM-L6-v2"))
    config = MetricsConfig(BertScoreConfig(model, 6), RougeConfig())
    cat = Article("d", "all", "1", "The cat sat on the mat today.", ("A cat sat.",))
    dog = Article("d", "all", "2", "A dog barked.", ("The dog.", "Barking dogs."))
    metrics = StandardMetrics(config, torch.device("cpu"), [draw_panel("d", [cat, dog])])
    summaries = [(cat, "cat sat"), (dog, "dog"), (cat, "cat sat"), (dog, "")]
    together = metrics.score(summaries)
    assert together[0] == together[2]
    for summary, scores in zip(summaries, together, strict=True):
        (alone,) = metrics.score([summary])
        for name, value in scores.items():
            assert abs(value - alone[name]) < 1e-6, name
    assert together[0]["rouge2_recall"] == 0.5
    assert together[0]["density"] == together[0]["coverage"] == 1.0
    assert together[0]["efficiency"] == together[0]["bertscore_f1"] / 2
    assert set(together[3].values()) == {0.0}
    assert set(config.signatures) == {name for spec in (*SPECS, *OF_OTHERS) for name in spec.signatures}
    alone = StandardMetrics(config, torch.device("cpu"), [draw_panel("d", [cat])]).score([(cat, "cat sat"), (dog, "")])
    assert sorted(alone[0]) == sorted((*METRICS, *PARTS))  # no other articles, no floor
    assert alone[1]["kept"] == 0.0
    for scores in together:
        assert list(scores) == list(BY_COLUMN)
        assert all(-1 <= value <= 1 for value in scores.values())
        assert all(value >= 0 for column, value in scores.items() if not column.startswith(("bert", "eff", "kept")))
