from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_155 import rouge_155

from core.metrics.metric import Row
from core.metrics.rouge import rouge, skip_bigram
from core.text.tokenizers import EnglishTokenizer
from core.types import Score

GAPS = (0, 2, 4, None)
METRICS = {(gap, unigrams): skip_bigram(gap, unigrams) for gap in GAPS for unigrams in (False, True)}
ROUGE_2 = rouge("rouge2")
SIMILAR = st.lists(st.sampled_from(["the", "cat", "was", "under", "bed", "\n", "."]), max_size=20).map(" ".join)
TEXTS = st.one_of(SIMILAR, st.text())
CATS = ("under the bed there was the cat", "the cat was under the bed")


def pair(gap: int | None, unigrams: bool, prediction: str, reference: str) -> Score:
    return METRICS[gap, unigrams].score_row(Row(prediction, (reference,)))


# What ROUGE-1.5.5 printed (Perl 5.36; `-2 GAP -U`): recall, precision, F1 of S and of SU.
@pytest.mark.parametrize(
    ("gap", "texts", "s", "su"),
    [
        (0, CATS, (0.60000, 0.50000, 0.54545), (0.70000, 0.58333, 0.63636)),
        (2, CATS, (0.50000, 0.40000, 0.44444), (0.58824, 0.47619, 0.52632)),
        (4, CATS, (0.46667, 0.35000, 0.40000), (0.55000, 0.42308, 0.47826)),
        (None, CATS, (0.46667, 0.33333, 0.38889), (0.55000, 0.40741, 0.46809)),
        (2, ("a\nb b", "a b c"), (0.33333, 0.33333, 0.33333), (0.60000, 0.60000, 0.60000)),
        (2, ("x", "x"), (0, 0, 0), (0, 0, 0)),
        (2, ("", "the cat was under the bed"), (0, 0, 0), (0, 0, 0)),
    ],
)
def test_equals_numbers_of_rouge_155(
    gap: int | None, texts: tuple[str, str], s: tuple[float, ...], su: tuple[float, ...]
) -> None:
    for unigrams, expected in ((False, s), (True, su)):
        found = pair(gap, unigrams, *texts)
        assert (found.recall, found.precision, found.f1) == pytest.approx(expected, abs=6e-6)


@pytest.mark.parametrize("gap", GAPS)
def test_equals_rouge_155(tmp_path: Path, sample_rows: list[dict[str, str]], gap: int | None) -> None:
    pairs = [CATS, ("one", "one"), ("", "the cat"), ("the cat", ""), ("It's U.S.-led, 3.5%!", "U.S. led it's 3 5")]
    for row in sample_rows[:6]:
        sentences = row["article"].encode("ascii", "ignore").decode().replace(". ", ".\n")
        reference = row["highlights"].encode("ascii", "ignore").decode()
        pairs += [(sentences[:400], reference), (sentences[:60], reference), (reference, sentences)]
    goldens = rouge_155(tmp_path, pairs, gap)
    shown = "*" if gap is None else str(gap)
    for unigrams, name in ((False, f"ROUGE-S{shown}"), (True, f"ROUGE-SU{shown}")):
        found = [pair(gap, unigrams, *texts) for texts in pairs]
        # Printed with five digits, of which the last is rounded, and F1 from rounded precision and recall.
        np.testing.assert_allclose(_values(found), _values(goldens[name]), rtol=0, atol=1.5e-5)
    for variant, name in (("rouge1", "ROUGE-1"), ("rouge2", "ROUGE-2"), ("rouge4", "ROUGE-4")):
        one = rouge(variant)
        found = [one.score_row(Row(prediction, (reference,))) for prediction, reference in pairs]
        np.testing.assert_allclose(_values(found), _values(goldens[name]), rtol=0, atol=1.5e-5)


@given(TEXTS, TEXTS)
def test_without_a_gap_it_is_rouge_2(prediction: str, reference: str) -> None:
    assert pair(0, False, prediction, reference) == ROUGE_2.score_row(Row(prediction, (reference,)))


def test_names_and_signatures() -> None:
    assert [skip_bigram(gap).name for gap in GAPS] == ["rougeS0", "rougeS2", "rougeS4", "rougeS*"]
    assert skip_bigram().name == "rougeS2"
    found = skip_bigram(4, unigrams=True, tokenizer=EnglishTokenizer(stemmer=True), references="mean")
    assert found.name == "rougeSU4"
    assert found.signature == f"rougeSU4|{EnglishTokenizer(stemmer=True).signature}|like:ROUGE-1.5.5|refs:mean"


def _values(scores: list[Score]) -> list[tuple[float, float, float]]:
    return [(score.precision, score.recall, score.f1) for score in scores]
