import pytest
import torch
from bert_score import BERTScorer

from core.metrics.bertscore import AnchorScorer, BertScorer
from core.metrics.config import BertScoreConfig
from core.models import model_folder, parse_model, resolve_model

MODEL = resolve_model(parse_model("all-MiniLM-L6-v2"))
ANCHOR = "Snow fell on Dover. Trains were late, and the bridge was closed for two days."
TEXTS = ["snow Dover", "trains late", "bridge closed two days", "snow Dover", "a cat", "late trains on the bridge"]


@pytest.fixture(scope="module")
def scorer() -> BertScorer:
    return BertScorer(BertScoreConfig(MODEL, 6), torch.device("cpu"))


def test_scores_are_those_of_bert_score_one_pair_at_a_time(scorer: BertScorer) -> None:
    library = BERTScorer(model_type=str(model_folder(MODEL)), num_layers=6)
    for text, found in zip(TEXTS, AnchorScorer(scorer)(ANCHOR, TEXTS), strict=True):
        *_, f1 = library.score([text], [ANCHOR])
        assert found == pytest.approx(f1.item(), abs=1e-6)


def test_a_score_is_the_same_to_the_last_bit_in_any_company(scorer: BertScorer) -> None:
    together = AnchorScorer(scorer)(ANCHOR, TEXTS)
    assert [AnchorScorer(scorer)(ANCHOR, [text])[0] for text in TEXTS] == together
    remembering = AnchorScorer(scorer)
    assert remembering("Another anchor.", TEXTS) != together
    assert remembering(ANCHOR, TEXTS[:2]) == together[:2]
    assert remembering(ANCHOR, TEXTS[::-1]) == together[::-1]


def test_what_is_empty_scores_zero(scorer: BertScorer) -> None:
    assert AnchorScorer(scorer)(ANCHOR, ["", " ", "snow"])[:2] == [0.0, 0.0]
    assert AnchorScorer(scorer)("  ", ["snow"]) == [0.0]
    assert AnchorScorer(scorer)(ANCHOR, []) == []


def test_of_several_anchors_the_best_counts(scorer: BertScorer) -> None:
    other = "A cat sat on the mat."
    both = AnchorScorer(scorer).scores((ANCHOR, "", other), TEXTS)
    alone = [AnchorScorer(scorer).scores((anchor,), TEXTS) for anchor in (ANCHOR, other)]
    assert both == [max(scores, key=lambda score: score.f1) for scores in zip(*alone, strict=True)]
    assert {one.index(found) for found, *one in zip(both, *alone, strict=True)} == {0, 1}
    plain = scorer.score([(text, (ANCHOR, other)) for text in TEXTS])
    for found, expected in zip(both, plain, strict=True):
        assert (found.precision, found.recall, found.f1) == pytest.approx(
            (expected.precision, expected.recall, expected.f1), abs=1e-6
        )
