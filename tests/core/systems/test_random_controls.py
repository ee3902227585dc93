from collections import Counter

from documents import document, segmented
from hypothesis import given
from hypothesis import strategies as st

from core.systems.extractive_baselines import DRAWS, RandomWords, make_baseline
from core.text.alignment import align, bare_words

TEXT = "The mayor of Alder said that the bridge, which is old, will open in May. Nobody spoke against it."


@given(st.integers(0, 99), st.integers(1, 30))
def test_the_words_are_the_articles_in_its_order(seed: int, n: int) -> None:
    article = segmented(TEXT)
    (draft,) = RandomWords(seed).summarize(document(article), [n])
    assert len(draft.texts) == DRAWS
    for text in draft.texts:
        assert len(text.split()) == min(n, len(article.words))
        assert None not in align(bare_words(text), bare_words(TEXT))


def test_every_place_is_as_likely_as_any_other_and_drawn_once() -> None:
    article = segmented(" ".join(f"w{i}" for i in range(10)))
    drawn = [
        text
        for seed in range(400)
        for draft in RandomWords(seed).summarize(document(article), [3])
        for text in draft.texts
    ]
    assert all(len(set(text.split())) == 3 for text in drawn)
    counts = Counter(word for text in drawn for word in text.split())
    expected = len(drawn) * 3 / 10
    # Chi-squared, 9 degrees of freedom: .001 of fair draws are above it, and fewer where places of a draw differ.
    assert sum((counts[word] - expected) ** 2 / expected for word in article.words) < 27.9


def test_stop_words_are_drawn_too_unlike_by_random() -> None:
    assert "the" in {word.casefold() for word in segmented(TEXT).words}
    texts = {
        name: {
            word.casefold()
            for seed in range(50)
            for draft in make_baseline(name, "enc", seed).summarize(document(segmented(TEXT)), [2])
            for text in draft.texts
            for word in text.split()
        }
        for name in ("random", "random-words")
    }
    assert "the" in texts["random-words"] - texts["random"]


def test_draws_are_seeded_by_run_and_content_and_a_longer_text_holds_the_shorter() -> None:
    drafts = RandomWords(3).summarize(document(segmented(TEXT)), [2, 5])
    assert drafts == RandomWords(3).summarize(document(segmented(TEXT, key="other")), [2, 5])
    assert drafts[0] != RandomWords(4).summarize(document(segmented(TEXT)), [2])[0]
    assert drafts[0] != RandomWords(3).summarize(document(segmented(f"{TEXT}..")), [2])[0]
    for short, long in zip(drafts[0].texts, drafts[1].texts, strict=True):
        assert Counter(short.split()) <= Counter(long.split())
