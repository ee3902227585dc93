import importlib.metadata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from korean_tokenizers import korean_tokenizer
from rouge_score.rouge_scorer import RougeScorer

from nws.core.errors import RecipeError
from nws.core.metrics.config import Options, RougeConfig
from nws.core.metrics.metric import Row
from nws.core.metrics.registry import make_metric
from nws.core.metrics.rouge import VARIANTS, Rouge
from nws.core.text.dataset import Dataset, open_dataset
from nws.core.text.length import first_words
from nws.core.types import Score

ALL = ("rouge1", "rouge2", "rouge3", "rouge9", "rougeL", "rougeLsum")
METRICS = {variant: make_metric(variant) for variant in ALL}
# Texts with much in common, and any others.
SIMILAR = st.lists(st.sampled_from(["the", "cat", "cats", "bed", "\n", "."]), max_size=15).map(" ".join)
FEW_WORDS = ["the", "cat", "sat", "on", "a", "mat", "near", "cats", "sitting"]
TEXTS = st.one_of(SIMILAR, st.lists(st.sampled_from(FEW_WORDS), max_size=150).map(" ".join), st.text())


def pair(variant: str, prediction: str, reference: str) -> Score:
    return Score(*METRICS[variant].statistics([Row(prediction, (reference,))])[0].tolist())


@given(TEXTS, TEXTS, st.booleans())
def test_every_variant_and_the_standard_metrics_equal_rouge_score(
    prediction: str, reference: str, stemmer: bool
) -> None:
    library = {is_on: RougeScorer(["rouge3", "rougeLsum", *VARIANTS], is_on) for is_on in (False, stemmer)}
    for variant, score in library[False].score(reference, prediction).items():
        assert pair(variant, prediction, reference) == Score(*score)
    expected = library[stemmer].score(reference, prediction)
    found = Rouge(RougeConfig(stemmer)).score(prediction, [reference])
    assert found == {name: Score(*expected[name]) for name in VARIANTS}


def test_the_best_reference_is_that_of_rouge_score() -> None:
    references = ["a cat sat", "the cat sat on a mat", "cat"]
    expected = RougeScorer(["rouge1"]).score_multi(references, "a cat sat on the mat")["rouge1"]
    row = Row("a cat sat on the mat", tuple(references))
    assert METRICS["rouge1"].statistics([row]).tolist() == [list(expected)]
    assert Rouge(RougeConfig()).score("a cat sat on the mat", references)["rouge1"] == Score(*expected)
    assert Rouge(RougeConfig()).score("a cat", [])["rougeL"] == Score(0, 0, 0)


def test_signatures_name_every_option() -> None:
    version, nltk = importlib.metadata.version("rouge_score"), importlib.metadata.version("nltk")
    assert RougeConfig(True).signature == (
        f"rouge|stem:porter|tok:rouge_score|refs:best-f1|version:rouge_score-{version}"
    )
    assert make_metric("rougeL", Options(stemmer=True, references="mean")).signature == (
        f"rougeL|tok:rouge_score-{version}|stem:porter-nltk-{nltk}|version:rouge_score-{version}|refs:mean"
    )
    assert make_metric("rouge9", Options(lang="ko", tokenizer="char")).signature == (
        f"rouge9|tok:char,nfc|stem:no|version:rouge_score-{version}|refs:best-f1"
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
    korean_tokenizer("kiwi")
    standard = Rouge(RougeConfig(tokenizer="kiwi"))
    metrics = {name: make_metric(name, Options(lang="ko")) for name in VARIANTS}
    for article in open_dataset(Dataset("sample-ko")):
        summary = first_words(article.text, 30)
        found = standard.score(summary, article.references)
        rows = [Row(summary, article.references)]
        assert {name: list(score.values) for name, score in found.items()} == {
            name: metric.statistics(rows)[0].tolist() for name, metric in metrics.items()
        }
    # Other particles on the same nouns, so no word in common: 버스 + 가, 정류장 + 을 and 버스 + 는, 정류장 + 이.
    assert standard.score("버스가 정류장을", ["버스는 정류장이"])["rouge1"] == Score(0.5, 0.5, 0.5)


def dialogsum(prediction: str, *references: str, **options: object) -> float:
    metric = make_metric("dialogsum", Options(**options))  # type: ignore[arg-type]
    return float(metric.score(metric.statistics([Row(prediction, references)]))[0])


def test_each_maximum_is_taken_separately() -> None:
    # ROUGE-1 is best against the first reference, ROUGE-2 and ROUGE-L against the second.
    references = ("d c b a", "x a b c y z u v w")
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"])
    each = [scorer.score(text, "a b c d") for text in references]
    best = {name: max(scores[name].fmeasure for scores in each) for name in ("rouge1", "rouge2", "rougeL")}
    assert best["rouge1"] == each[0]["rouge1"].fmeasure == 1
    assert best["rouge2"] == each[1]["rouge2"].fmeasure > each[0]["rouge2"].fmeasure
    assert dialogsum("a b c d", *references) == pytest.approx(sum(best.values()))
    # The mean over references is no option of the competition.
    assert dialogsum("a b c d", *references, references="mean") == pytest.approx(sum(best.values()))
