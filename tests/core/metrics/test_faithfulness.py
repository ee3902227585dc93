from pathlib import Path

import numpy as np
import pytest
import tiny_checkpoints
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from nws.core.errors import ModelError
from nws.core.metrics.faithfulness import Faithfulness
from nws.core.models import parse_model, resolve_model
from nws.core.text.segmentation import sentences_of

CPU = torch.device("cpu")
ARTICLE = "The city said in 1999 that news was of the cat. The cat said no. In the city, the news is the cat."
SUMMARIES = ["The cat said no.", "News of the city. The cat was in the city.", "cat"]


def of_folder(folder: Path) -> Faithfulness:
    return Faithfulness(resolve_model(parse_model(str(folder))))


def probabilities(folder: Path, premise: str, hypothesis: str) -> tuple[float, float]:
    """Of entailment and contradiction, the last and the first class of the tiny model, for one pair alone."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.inference_mode():
        logits = model(**tokenizer(premise, hypothesis, return_tensors="pt")).logits[0]
    found = torch.softmax(logits, dim=-1).tolist()
    return found[2], found[0]


def test_it_is_summac_zs(tiny_models: dict[str, Path]) -> None:
    """The formula of Laban et al. by hand: column maxima of entailment and of contradiction, and their mean."""
    folder = tiny_models["nli"]
    expected = []
    for summary in SUMMARIES:
        by_sentence = []
        for hypothesis in sentences_of(summary, "blank"):
            pairs = [probabilities(folder, premise, hypothesis) for premise in sentences_of(ARTICLE, "blank")]
            by_sentence.append(max(e for e, _ in pairs) - max(c for _, c in pairs))
        expected.append(np.mean(by_sentence))
    found = of_folder(folder).load(CPU).score([(ARTICLE, summary) for summary in SUMMARIES])
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert np.ptp(found) > 0.01


def test_the_classes_are_found_by_their_names(tmp_path: Path) -> None:
    """The weights of the two checkpoints are equal, so that entailment and contradiction change places."""
    one = tiny_checkpoints.make_nli(tmp_path / "one", ("contradiction", "neutral", "entailment"))
    other = tiny_checkpoints.make_nli(tmp_path / "other", ("ENTAILMENT", "NEUTRAL", "CONTRADICTION"))
    (first,), (second,) = (of_folder(folder).load(CPU).score([(ARTICLE, "The cat.")]) for folder in (one, other))
    assert first == pytest.approx(-second, abs=1e-7)
    nameless = tiny_checkpoints.make_nli(tmp_path / "nameless", ("LABEL_0", "LABEL_1", "LABEL_2"))
    with pytest.raises(
        ModelError, match=r"`id2label` of its config\.json has label_0, label_1, label_2\. Write them there"
    ):
        of_folder(nameless).load(CPU)


def test_a_model_that_classifies_nothing_is_refused(tiny_models: dict[str, Path]) -> None:
    with pytest.raises(ModelError, match=r"lacks .*weights.*Faithfulness needs an NLI model"):
        of_folder(tiny_models["bert"]).load(CPU)


def test_without_a_word_it_is_0_and_only_100_sentences_are_read(tiny_models: dict[str, Path]) -> None:
    scorer = of_folder(tiny_models["nli"]).load(CPU)
    assert scorer.score([(ARTICLE, ""), ("", "cat"), (ARTICLE, "...")]) == [0.0, 0.0, 0.0]
    many = [f"The city said {i} to the cat." for i in range(101)]
    first, all_of_them = scorer.score([(" ".join(many[:100]), "The cat."), (" ".join(many), "The cat.")])
    assert first == all_of_them


def test_the_premise_is_cut_and_the_hypothesis_is_not(tiny_models: dict[str, Path]) -> None:
    scorer = of_folder(tiny_models["nli"]).load(CPU)
    long = "the city said " * 200
    one, other = scorer.score([(long + "news", "The cat."), (long + "cat", "The cat.")])
    assert one == other
