import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import corpus_bleu

from nws.core.metrics.bleu import Bleu, precisions
from nws.core.metrics.metric import Row


def bleu(order: int, *rows: Row) -> float:
    metric = Bleu(order=order)
    return float(metric.score(metric.statistics(rows))[0])


@pytest.mark.parametrize(
    ("order", "expected"),
    [(1, 0.8888888888888888), (2, 0.8064778385455118), (3, 0.7394412300996971), (4, 0.6755562126364556)],
)
def test_equals_evaluate(order: int, expected: float) -> None:
    """Goldens of Hugging Face evaluate's own code (its tokenizer_13a and TensorFlow NMT's compute_bleu)."""
    rows = [
        Row(
            "It's a well-known fact: in 2021, 3.5% of people (i.e. 12,000) left.",
            (
                "It is well known: in 2021, 3.5% of the people left (12,000).",
                "In 2021 some 12,000 people, i.e. 3.5%, left.",
            ),
        ),
        Row("the cat sat", ("the cat sat on the mat", "a cat sat down")),
        Row(
            "Prices &amp; wages rose 1-2 points",
            ("Prices and wages rose by 1-2 points", "wages rose 1-2 points", "Prices & wages rose"),
        ),
        Row("U.S. and E.U. officials met - again", ("U.S. and E.U. officials met again", "officials met")),
    ]
    assert bleu(order, *rows) == pytest.approx(expected, abs=1e-12)


words = st.lists(st.sampled_from("abc"), min_size=4, max_size=9).map(" ".join)


@given(st.lists(st.tuples(words, words), min_size=1, max_size=4), st.integers(1, 4))
def test_equals_nltk_with_one_reference(pairs: list[tuple[str, str]], order: int) -> None:
    metric = Bleu(order=order)
    statistics = metric.statistics([Row(text, (reference,)) for text, reference in pairs])
    expected = 0.0  # NLTK replaces precisions of 0 by the smallest float
    if precisions(metric, statistics).all():
        references, texts = [[r.split()] for _, r in pairs], [t.split() for t, _ in pairs]
        expected = corpus_bleu(references, texts, weights=[1 / order] * order)
    assert float(metric.score(statistics)[0]) == pytest.approx(expected, abs=1e-12)


def test_the_signature_names_every_option() -> None:
    assert Bleu().signature.startswith("bleu|order:4|case:mixed|tok:13a,sacrebleu-")
    assert Bleu().signature != Bleu(order=2).signature
