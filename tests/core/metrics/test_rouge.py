import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from core.metrics.rouge import VARIANTS, Rouge, RougeConfig
from core.types import Score


@pytest.mark.parametrize("stemmer", [False, True])
def test_equals_rouge_score(sample_rows: list[dict[str, str]], stemmer: bool) -> None:
    library, mine = RougeScorer(list(VARIANTS), use_stemmer=stemmer), Rouge(RougeConfig(stemmer))
    for row in sample_rows[:8]:
        for n in (1, 9, 50):
            candidate = " ".join(row["article"].split()[:n])
            expected = library.score(row["highlights"], candidate)
            found = mine.score(candidate, [row["highlights"]])
            assert found == {k: Score(v.precision, v.recall, v.fmeasure) for k, v in expected.items()}


def test_a_worked_example() -> None:
    found = Rouge(RougeConfig()).score("under the bed there was the cat", ["the cat was under the bed"])
    assert (found["rouge1"].recall, found["rouge1"].precision) == (6 / 6, 6 / 7)
    assert (found["rouge2"].recall, found["rouge2"].precision) == (3 / 5, 3 / 6)
    assert (found["rougeL"].recall, found["rougeL"].precision) == (3 / 6, 3 / 7)


def test_the_best_reference_counts_and_none_scores_zero() -> None:
    rouge = Rouge(RougeConfig())
    assert rouge.score("a cat", ["dogs", "a cat"])["rouge2"].f1 == 1
    assert rouge.score("a cat", [])["rougeL"] == Score(0, 0, 0)
    assert rouge.score("", ["a cat"])["rouge1"] == Score(0, 0, 0)


@given(st.text(), st.text())
def test_any_text_is_scored_within_bounds(candidate: str, reference: str) -> None:
    for score in Rouge(RougeConfig()).score(candidate, [reference]).values():
        assert 0 <= min(score.precision, score.recall, score.f1) <= max(score.precision, score.recall, score.f1) <= 1
