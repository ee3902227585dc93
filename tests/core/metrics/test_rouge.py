import importlib.metadata
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from korean_tokenizers import korean_tokenizer
from rouge_score.rouge_scorer import RougeScorer

from core.errors import RecipeError
from core.metrics.config import RougeConfig
from core.metrics.metric import Row
from core.metrics.rouge import VARIANTS, Rouge, rouge
from core.text.corpus import DatasetSpec, open_corpus
from core.text.tokenizers import CharTokenizer, EnglishTokenizer
from core.text.words import first_words
from core.types import Score

ALL = ("rouge1", "rouge2", "rouge3", "rouge9", "rouge10", "rougeL", "rougeLsum")
# Rouge-Lsum is not symmetric.
SYMMETRIC = tuple(name for name in ALL if name != "rougeLsum")
METRICS = {variant: rouge(variant) for variant in ALL}
# Texts with much in common, and any others.
SIMILAR = st.lists(st.sampled_from(["the", "cat", "cats", "bed", "\n", "."]), max_size=15).map(" ".join)
TEXTS = st.one_of(SIMILAR, st.text())


def pair(variant: str, prediction: str, reference: str) -> Score:
    return METRICS[variant].score_row(Row(prediction, (reference,)))


@pytest.mark.parametrize("stemmer", [False, True])
def test_equals_rouge_score(sample_rows: list[dict[str, str]], stemmer: bool) -> None:
    library, mine = RougeScorer(list(VARIANTS), use_stemmer=stemmer), Rouge(RougeConfig(stemmer))
    for row in sample_rows[:8]:
        for n in (1, 9, 50):
            candidate = " ".join(row["article"].split()[:n])
            expected = library.score(row["highlights"], candidate)
            found = mine.score(candidate, [row["highlights"]])
            assert found == {k: Score(v.precision, v.recall, v.fmeasure) for k, v in expected.items()}


@pytest.mark.parametrize("stemmer", [False, True])
@pytest.mark.parametrize("variant", ["rouge1", "rouge2", "rouge4", "rouge9", "rougeL", "rougeLsum"])
def test_every_variant_equals_rouge_score(sample_rows: list[dict[str, str]], variant: str, stemmer: bool) -> None:
    library, mine = RougeScorer([variant], use_stemmer=stemmer), rouge(variant, EnglishTokenizer(stemmer))
    for row in sample_rows[:4]:
        words = row["article"].split()[:60]
        candidate = "\n".join(" ".join(words[i : i + 12]) for i in range(0, 60, 12))
        reference = row["highlights"].replace(". ", ".\n")
        expected = library.score(reference, candidate)[variant]
        assert mine.score_row(Row(candidate, (reference,))) == Score(*expected)


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


@given(TEXTS, TEXTS)
def test_long_ngrams_count_as_the_library_counts_short_ones(prediction: str, reference: str) -> None:
    # Every token ten times over: the 10-grams of the one text are its unigrams' runs.
    tenfold = [" ".join(word for word in text.split() for _ in range(10)) for text in (prediction, reference)]
    tokens = [EnglishTokenizer().tokenize(text) for text in tenfold]
    grams = [[" ".join(t[i : i + 10]) for i in range(len(t) - 9)] for t in tokens]
    shared = sum(min(grams[0].count(gram), grams[1].count(gram)) for gram in set(grams[0]))
    found = pair("rouge10", *tenfold)
    assert (found.precision, found.recall) == (shared / max(len(grams[0]), 1), shared / max(len(grams[1]), 1))


def test_a_worked_example() -> None:
    found = Rouge(RougeConfig()).score("under the bed there was the cat", ["the cat was under the bed"])
    assert (found["rouge1"].recall, found["rouge1"].precision) == (6 / 6, 6 / 7)
    assert (found["rouge2"].recall, found["rouge2"].precision) == (3 / 5, 3 / 6)
    assert (found["rougeL"].recall, found["rougeL"].precision) == (3 / 6, 3 / 7)


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


def test_a_word_six_times_counts_as_often_as_in_the_reference() -> None:
    assert pair("rouge1", " ".join(["the"] * 6), "the cat is on the mat").f1 == pytest.approx(1 / 3)


def test_the_best_reference_counts_and_none_scores_zero() -> None:
    standard = Rouge(RougeConfig())
    assert standard.score("a cat", ["dogs", "a cat"])["rouge2"].f1 == 1
    assert standard.score("a cat", [])["rougeL"] == Score(0, 0, 0)
    assert standard.score("", ["a cat"])["rouge1"] == Score(0, 0, 0)


def test_the_best_reference_is_that_of_rouge_score() -> None:
    references = ["a cat sat", "the cat sat on a mat", "cat"]
    expected = RougeScorer(["rouge1"]).score_multi(references, "a cat sat on the mat")["rouge1"]
    assert rouge("rouge1").score_row(Row("a cat sat on the mat", tuple(references))) == Score(*expected)


def test_mean_over_references() -> None:
    found = rouge("rouge1", references="mean").score_row(Row("a b", ("a b", "a c d e")))
    assert (found.precision, found.recall, found.f1) == pytest.approx((0.75, 0.625, (1 + 1 / 3) / 2))


def test_the_stemmer_matches_other_forms_of_a_word() -> None:
    row = Row("investigations opened", ("investigation opening",))
    assert rouge("rouge1", EnglishTokenizer()).score_row(row).f1 == 0
    assert rouge("rouge1", EnglishTokenizer(stemmer=True)).score_row(row).f1 == 1


def test_the_standard_metrics_are_the_same_numbers(sample_rows: list[dict[str, str]]) -> None:
    text, reference = sample_rows[0]["article"][:300], sample_rows[0]["highlights"]
    standard = Rouge(RougeConfig()).score(text, [reference])
    assert standard == {name: pair(name, text, reference) for name in VARIANTS}


def test_signatures_name_every_option() -> None:
    version, nltk = importlib.metadata.version("rouge_score"), importlib.metadata.version("nltk")
    assert RougeConfig(True).signature == (
        f"rouge|stem:porter|tok:rouge_score|refs:best-f1|version:rouge_score-{version}"
    )
    assert rouge("rougeL", EnglishTokenizer(stemmer=True), "mean").signature == (
        f"rougeL|tok:rouge_score-{version}|stem:porter-nltk-{nltk}|version:rouge_score-{version}|refs:mean"
    )
    assert rouge("rouge12", CharTokenizer()).signature == (
        f"rouge12|tok:char,nfc|stem:no|version:rouge_score-{version}|refs:best-f1"
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
    for article in open_corpus(DatasetSpec("sample-ko")):
        summary = first_words(article.text, 30)
        found = standard.score(summary, article.references)
        assert found == {name: rouge(name, kiwi).score_row(Row(summary, article.references)) for name in VARIANTS}
    # Other particles on the same nouns, so no word in common: 버스 + 가, 정류장 + 을 and 버스 + 는, 정류장 + 이.
    assert standard.score("버스가 정류장을", ["버스는 정류장이"])["rouge1"] == Score(0.5, 0.5, 0.5)


def test_no_text_is_cut_into_tokens_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def tokenize(_: CharTokenizer, text: str) -> list[str]:
        texts.append(text)
        return list(text)

    monkeypatch.setattr(CharTokenizer, "tokenize", tokenize)
    standard = Rouge(RougeConfig(tokenizer="char"))
    candidates = [f"요약 {n}" for n in range(100)]
    for candidate in candidates:
        standard.score(candidate, ["참조 하나", "참조 둘"])
    assert sorted(texts) == sorted([*candidates, "참조 하나", "참조 둘"])


@pytest.mark.parametrize("variant", ["rouge0", "rouge", "rougel", "rouge01", "rouge-1", "rougeW", "rouge1\n"])
def test_another_variant_is_refused(variant: str) -> None:
    with pytest.raises(RecipeError, match="rougeLsum"):
        rouge(variant)


def test_korean_with_okt() -> None:
    row = Row(
        prediction="인공지능 기술이 우리 생활을 크게 변화시키고 있어요.",
        references=("인공지능 기술은 우리의 일상 생활을 변화시키고 있습니다.",),
    )
    one, two = (rouge(name, korean_tokenizer("okt")).score_row(row) for name in ("rouge1", "rouge2"))
    assert [round(value, 4) for value in (one.precision, one.recall, one.f1)] == [0.7500, 0.6923, 0.7200]
    assert [round(value, 4) for value in (two.precision, two.recall, two.f1)] == [0.3636, 0.3333, 0.3478]


@given(TEXTS, TEXTS)
def test_any_text_is_scored_within_bounds(prediction: str, reference: str) -> None:
    standard = Rouge(RougeConfig()).score(prediction, [reference])
    for score in [*standard.values(), *(pair(variant, prediction, reference) for variant in ALL)]:
        assert min(score.precision, score.recall, score.f1) >= 0
        assert max(score.precision, score.recall, score.f1) <= 1


@given(TEXTS)
def test_a_text_with_enough_tokens_scores_one_against_itself(text: str) -> None:
    tokens = len(EnglishTokenizer().tokenize(text))
    for variant, needed in {"rouge1": 1, "rouge2": 2, "rouge10": 10, "rougeL": 1, "rougeLsum": 1}.items():
        assert pair(variant, text, text) == (Score(1, 1, 1) if tokens >= needed else Score(0, 0, 0))


@given(TEXTS, TEXTS)
def test_precision_and_recall_swap_with_the_arguments(prediction: str, reference: str) -> None:
    for variant in SYMMETRIC:
        one, other = pair(variant, prediction, reference), pair(variant, reference, prediction)
        assert (one.precision, one.recall) == (other.recall, other.precision)
        assert one.f1 == pytest.approx(other.f1)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5), st.randoms())
def test_the_order_of_rows_does_not_matter(texts: list[tuple[str, str]], order: random.Random) -> None:
    rows = [Row(prediction, (reference,)) for prediction, reference in texts]
    shuffled = order.sample(rows, len(rows))
    scores = [METRICS["rougeL"].score(METRICS["rougeL"].statistics(some)) for some in (rows, shuffled)]
    np.testing.assert_allclose(*scores)
