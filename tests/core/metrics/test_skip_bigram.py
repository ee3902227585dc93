from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_155 import rouge_155

from core.metrics.config import Options
from core.metrics.metric import Row
from core.metrics.registry import make_metric
from core.text.tokenizers import EnglishTokenizer
from core.types import Score

GAPS = ("0", "2", "4", "*")
SKIPPING = [f"{family}{gap}" for family in ("rougeS", "rougeSU") for gap in GAPS]
METRICS = {name: make_metric(name) for name in ("rouge1", "rouge2", "rouge4", "rougeL", "rouge-lcsubstr", *SKIPPING)}
SIMILAR = st.lists(st.sampled_from(["the", "cat", "was", "under", "bed", "\n", "."]), max_size=20).map(" ".join)
TEXTS = st.one_of(SIMILAR, st.text())
CATS = ("under the bed there was the cat", "the cat was under the bed")


def pair(name: str, prediction: str, reference: str) -> Score:
    return METRICS[name].score_row(Row(prediction, (reference,)))


# What ROUGE-1.5.5 printed (Perl 5.36; `-2 GAP -U`): recall, precision, F1 of S and of SU.
@pytest.mark.parametrize(
    ("gap", "texts", "s", "su"),
    [
        ("0", CATS, (0.60000, 0.50000, 0.54545), (0.70000, 0.58333, 0.63636)),
        ("2", CATS, (0.50000, 0.40000, 0.44444), (0.58824, 0.47619, 0.52632)),
        ("4", CATS, (0.46667, 0.35000, 0.40000), (0.55000, 0.42308, 0.47826)),
        ("*", CATS, (0.46667, 0.33333, 0.38889), (0.55000, 0.40741, 0.46809)),
        ("2", ("a\nb b", "a b c"), (0.33333, 0.33333, 0.33333), (0.60000, 0.60000, 0.60000)),
        ("2", ("x", "x"), (0, 0, 0), (0, 0, 0)),
        ("2", ("", "the cat was under the bed"), (0, 0, 0), (0, 0, 0)),
    ],
)
def test_equals_numbers_of_rouge_155(
    gap: str, texts: tuple[str, str], s: tuple[float, ...], su: tuple[float, ...]
) -> None:
    for family, expected in (("rougeS", s), ("rougeSU", su)):
        found = pair(f"{family}{gap}", *texts)
        assert (found.recall, found.precision, found.f1) == pytest.approx(expected, abs=6e-6)


@pytest.mark.parametrize("gap", GAPS)
def test_equals_rouge_155(tmp_path: Path, sample_rows: list[dict[str, str]], gap: str) -> None:
    pairs = [CATS, ("one", "one"), ("", "the cat"), ("the cat", ""), ("It's U.S.-led, 3.5%!", "U.S. led it's 3 5")]
    for row in sample_rows[:6]:
        sentences = row["article"].encode("ascii", "ignore").decode().replace(". ", ".\n")
        reference = row["highlights"].encode("ascii", "ignore").decode()
        pairs += [(sentences[:400], reference), (sentences[:60], reference), (reference, sentences)]
    goldens = rouge_155(tmp_path, pairs, None if gap == "*" else int(gap))
    for kind in (f"S{gap}", f"SU{gap}", "1", "2", "4"):
        found = [pair(f"rouge{kind}", *texts) for texts in pairs]
        # Printed with five digits, of which the last is rounded, and F1 from rounded precision and recall.
        np.testing.assert_allclose(_values(found), _values(goldens[f"ROUGE-{kind}"]), rtol=0, atol=1.5e-5)


def test_names_and_signatures() -> None:
    assert [make_metric(name).name for name in ("rougeS", "rougeSU", "rougeSU7")] == ["rougeS2", "rougeSU2", "rougeSU7"]
    found = make_metric("rougeSU4", Options(stemmer=True, references="mean"))
    assert found.signature == f"rougeSU4|{EnglishTokenizer(stemmer=True).signature}|like:ROUGE-1.5.5|refs:mean"
    substring = make_metric("rouge-lcsubstr", Options(lang="ko", tokenizer="char", references="mean"))
    assert substring.signature == "rouge-lcsubstr|tok:char,nfc|stem:no|refs:mean"


@given(TEXTS, TEXTS)
def test_a_common_substring_is_never_above_the_subsequence(prediction: str, reference: str) -> None:
    assert pair("rouge-lcsubstr", prediction, reference).recall <= pair("rougeL", prediction, reference).recall


def _values(scores: list[Score]) -> list[tuple[float, float, float]]:
    return [(score.precision, score.recall, score.f1) for score in scores]
