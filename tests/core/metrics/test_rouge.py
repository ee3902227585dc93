import importlib.metadata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from korean_tokenizers import korean_tokenizer
from rouge_score.rouge_scorer import RougeScorer

from core.errors import RecipeError
from core.metrics.config import RougeConfig
from core.metrics.metric import Row
from core.metrics.rouge import VARIANTS, Rouge, rouge
from core.text.dataset import Dataset, open_dataset
from core.text.tokenizers import CharTokenizer, EnglishTokenizer
from core.text.words import first_words
from core.types import Score

ALL = ("rouge1", "rouge2", "rouge3", "rouge9", "rougeL", "rougeLsum")
METRICS = {variant: rouge(variant) for variant in ALL}
# Texts with much in common, and any others.
SIMILAR = st.lists(st.sampled_from(["the", "cat", "cats", "bed", "\n", "."]), max_size=15).map(" ".join)
TEXTS = st.one_of(SIMILAR, st.text())


def pair(variant: str, prediction: str, reference: str) -> Score:
    return METRICS[variant].score_row(Row(prediction, (reference,)))


@given(TEXTS, TEXTS)
def test_every_variant_equals_rouge_score_on_any_text(prediction: str, reference: str) -> None:
    library = RougeScorer(["rouge1", "rouge2", "rouge3", "rougeL", "rougeLsum"])
    for variant, expected in library.score(reference, prediction).items():
        assert pair(variant, prediction, reference) == Score(*expected)


FEW_WORDS = ["the", "cat", "sat", "on", "a", "mat", "near", "cats", "sitting"]
WORDS = st.lists(st.sampled_from(FEW_WORDS), max_size=150).map(" ".join)


@given(WORDS, WORDS, st.booleans())
def test_the_standard_metrics_equal_rouge_score_on_texts_with_much_in_common(
    prediction: str, reference: str, stemmer: bool
) -> None:
    expected = RougeScorer(list(VARIANTS), use_stemmer=stemmer).score(reference, prediction)
    found = Rouge(RougeConfig(stemmer)).score(prediction, [reference])
    assert found == {name: Score(*score) for name, score in expected.items()}


@pytest.mark.parametrize(
    ("variant", "prediction", "reference", "precision", "recall"),
    [
        ("rouge1", "under the bed there was the cat", "the cat was under the bed", 6 / 7, 6 / 6),
        ("rouge2", "under the bed there was the cat", "the cat was under the bed", 3 / 6, 3 / 5),
        ("rougeL", "under the bed there was the cat", "the cat was under the bed", 3 / 7, 3 / 6),
        ("rouge1", "the cat was found under the bed", "the cat was under the bed", 6 / 7, 1),
        ("rouge2", "the cat was found under the bed", "the cat was under the bed", 4 / 6, 4 / 5),
        ("rouge1", "court opened investigation", "the international court opened investigation", 1, 3 / 5),
        ("rouge2", "court opened investigation", "the international court opened investigation", 1, 2 / 4),
        ("rouge3", "a b c d", "b c d e f", 1 / 2, 1 / 3),
        ("rougeLsum", "a b\nc d", "c d\na b", 1, 1),
        ("rougeLsum", "a b c d", "c d a b", 2 / 4, 2 / 4),
    ],
)
def test_worked_examples(variant: str, prediction: str, reference: str, precision: float, recall: float) -> None:
    found = pair(variant, prediction, reference)
    assert (found.precision, found.recall) == (precision, recall)


def test_the_best_reference_counts_and_none_scores_zero() -> None:
    standard = Rouge(RougeConfig())
    assert standard.score("a cat", ["dogs", "a cat"])["rouge2"].f1 == 1
    assert standard.score("a cat", [])["rougeL"] == Score(0, 0, 0)
    assert standard.score("", ["a cat"])["rouge1"] == Score(0, 0, 0)


def test_the_best_reference_is_that_of_rouge_score() -> None:
    references = ["a cat sat", "the cat sat on a mat", "cat"]
    expected = RougeScorer(["rouge1"]).score_multi(references, "a cat sat on the mat")["rouge1"]
    assert rouge("rouge1").score_row(Row("a cat sat on the mat", tuple(references))) == Score(*expected)


def test_the_stemmer_matches_other_forms_of_a_word() -> None:
    row = Row("investigations opened", ("investigation opening",))
    assert rouge("rouge1", EnglishTokenizer()).score_row(row).f1 == 0
    assert rouge("rouge1", EnglishTokenizer(stemmer=True)).score_row(row).f1 == 1


def test_signatures_name_every_option() -> None:
    version, nltk = importlib.metadata.version("rouge_score"), importlib.metadata.version("nltk")
    assert RougeConfig(True).signature == (
        f"rouge|stem:porter|tok:rouge_score|refs:best-f1|version:rouge_score-{version}"
    )
    assert rouge("rougeL", EnglishTokenizer(stemmer=True), "mean").signature == (
        f"rougeL|tok:rouge_score-{version}|stem:porter-nltk-{nltk}|version:rouge_score-{version}|refs:mean"
    )
    assert rouge("rouge9", CharTokenizer()).signature == (
        f"rouge9|tok:char,nfc|stem:no|version:rouge_score-{version}|refs:best-f1"
    )


def test_the_signature_of_the_studys_rouge_names_its_tokenizer() -> None:
    version = importlib.metadata.version("rouge_score")
    assert RougeConfig(tokenizer="rouge_score").signature == (
        f"rouge|stem:no|tok:rouge_score|refs:best-f1|version:rouge_score-{version}"
    )
    assert RougeConfig(tokenizer="char").signature == (
        f"rouge|tok:char,nfc|stem:no|refs:best-f1|version:rouge_score-{version}"
    )
    kiwi = korean_tokenizer("kiwi")
    assert f"|{kiwi.signature}|" in RougeConfig(tokenizer="kiwi").signature


@pytest.mark.parametrize(("config", "why"), [(RougeConfig(True, "char"), "stemmer"), (RougeConfig(False, "x"), "'x'")])
def test_a_config_that_does_not_work_is_refused(config: RougeConfig, why: str) -> None:
    with pytest.raises(RecipeError, match=why):
        Rouge(config)
    with pytest.raises(RecipeError, match=why):
        _ = config.signature


def test_korean_articles_by_morphemes() -> None:
    kiwi = korean_tokenizer("kiwi")
    standard = Rouge(RougeConfig(tokenizer="kiwi"))
    for article in open_dataset(Dataset("sample-ko")):
        summary = first_words(article.text, 30)
        found = standard.score(summary, article.references)
        assert found == {name: rouge(name, kiwi).score_row(Row(summary, article.references)) for name in VARIANTS}
    # Other particles on the same nouns, so no word in common: 버스 + 가, 정류장 + 을 and 버스 + 는, 정류장 + 이.
    assert standard.score("버스가 정류장을", ["버스는 정류장이"])["rouge1"] == Score(0.5, 0.5, 0.5)


@pytest.mark.parametrize("variant", ["rouge0", "rouge", "rougel", "rouge-1", "rougeW", "rouge10", "rouge1\n"])
def test_another_variant_is_refused(variant: str) -> None:
    with pytest.raises(RecipeError, match="rougeLsum"):
        rouge(variant)
