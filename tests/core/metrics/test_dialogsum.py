import json
from pathlib import Path

import pytest
from rouge_score.rouge_scorer import RougeScorer

from core.metrics.config import Options
from core.metrics.metric import Row
from core.metrics.registry import make_metric


def dialogsum(prediction: str, *references: str, **options: object) -> float:
    metric = make_metric("dialogsum", Options(**options))  # type: ignore[arg-type]
    return float(metric.score(metric.statistics([Row(prediction, references)]))[0])


def test_each_maximum_is_taken_separately() -> None:
    # ROUGE-1 is best against the first reference, ROUGE-2 and ROUGE-L against the second.
    references = ("d c b a", "x a b c y z u v w")
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"])
    each = [scorer.score(text, "a b c d") for text in references]
    best = {name: max(scores[name].fmeasure for scores in each) for name in ("rouge1", "rouge2", "rougeL")}
    assert best["rouge1"] == each[0]["rouge1"].fmeasure == 1
    assert best["rouge2"] == each[1]["rouge2"].fmeasure > each[0]["rouge2"].fmeasure
    assert dialogsum("a b c d", *references) == pytest.approx(sum(best.values()))
    # The mean over references is no option of the competition.
    assert dialogsum("a b c d", *references, references="mean") == pytest.approx(sum(best.values()))


def test_real_dialogues(shared_data: Path) -> None:
    lines = (shared_data / "dialogsum.jsonl").read_text(encoding="utf-8").splitlines()[:30]
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    for row in map(json.loads, lines):
        prediction = " ".join(row["dialogue"].split()[:20])
        found = scorer.score_multi(row["summaries"], prediction)
        assert len(row["summaries"]) == 3
        expected = sum(score.fmeasure for score in found.values())
        assert dialogsum(prediction, *row["summaries"], stemmer=True) == pytest.approx(expected, abs=1e-12)


def test_the_signature_names_the_options_of_rouge() -> None:
    signature = make_metric("dialogsum", Options(stemmer=True)).signature
    assert signature.startswith("dialogsum|sum of f1:rouge1,rouge2,rougeL|tok:rouge_score")
    assert "stem:porter" in signature
    assert signature.endswith("refs:best-f1")
