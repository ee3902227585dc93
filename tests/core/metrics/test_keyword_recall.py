from hypothesis import given
from hypothesis import strategies as st

from core.metrics.registry import make_metric
from core.systems.korean_key_sentences import keyword_recall
from core.text.tokenizers import CharTokenizer, EnglishTokenizer

ENGLISH = EnglishTokenizer()


def test_the_share_of_keywords_in_the_key_sentences() -> None:
    keywords = {"bridge", "river", "mayor", "budget"}
    sentences = ["The mayor opened the bridge.", "The bridge crosses a river."]
    assert keyword_recall(keywords, sentences, ENGLISH) == 3 / 4
    assert keyword_recall(keywords, [], ENGLISH) == 0
    assert keyword_recall([], sentences, ENGLISH) == 0


def test_korean_with_a_tokenizer_that_keeps_it() -> None:
    assert keyword_recall(["영화", "배우"], ["영화가 좋다"], CharTokenizer()) == 2 / 4


words = st.lists(st.sampled_from(["ab", "cd", "ef", "gh"]), max_size=6)


@given(words, words)
def test_is_rouge_1_recall_of_the_set_of_keywords(keywords: list[str], sentence: list[str]) -> None:
    one = make_metric("rouge1").score_pair(" ".join(sentence), " ".join(sorted(set(keywords))))
    assert keyword_recall(keywords, [" ".join(sentence)], ENGLISH) == one.recall
