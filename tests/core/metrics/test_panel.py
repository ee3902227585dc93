"""Which articles an article is held against: drawn by content, and none that tells the same."""

import random

from hypothesis import given
from hypothesis import strategies as st

from nws.core.article import Article
from nws.core.metrics.kept import DISTRACTORS, PANEL, draw_distractors, draw_panel

WORDS = ["harbour", "council", "bridge", "vote", "storm", "river", "mayor", "school", "train", "market", "museum"]


def articles(count: int, seed: int = 0) -> list[Article]:
    """Of 60 words each, in orders of their own."""
    rng = random.Random(seed)
    texts = [" ".join(rng.choices(WORDS, k=60)) for _ in range(count)]
    return [Article("d", "all", str(i), text, (f"{text[:40]} {i}.",)) for i, text in enumerate(texts)]


@given(st.integers(2, 40), st.randoms())
def test_neither_the_panel_nor_the_others_depend_on_the_order_of_articles(count: int, rng: random.Random) -> None:
    some = articles(count)
    shuffled = rng.sample(some, count)
    panel = draw_panel("d", some)
    assert (draw_panel("d", shuffled), draw_panel("d", shuffled).sha256) == (panel, panel.sha256)
    for article in some:
        drawn = draw_distractors(article, panel)
        assert len({other.id for other in drawn} - {article.id}) == min(DISTRACTORS, count - 1)


def test_a_panel_has_the_articles_with_the_smallest_ids_and_a_hash_of_them() -> None:
    some = articles(PANEL + 50)
    panel = draw_panel("d", some)
    assert [article.id for article in panel.articles] == sorted(article.id for article in some)[:PANEL]
    without_last = draw_panel("d", panel.articles[:-1])
    assert len({panel.sha256, without_last.sha256, draw_panel("other", some).sha256}) == 3


def test_nothing_that_tells_the_same_is_an_other() -> None:
    article, stranger = articles(2)
    cut = " ".join(article.text.split()[:-5])
    same = [
        Article("d", "all", "again", article.text, article.references),
        Article("d", "all", "nearly", f"UPDATE: {cut}", ("The council has voted.",)),
        Article("d", "all", "reference", "Quite another text of another town.", article.references),
    ]
    assert draw_distractors(article, draw_panel("d", [article, *same, stranger])) == (stranger,)
    assert draw_distractors(article, draw_panel("d", [article, *same])) == ()
    assert draw_distractors(stranger, draw_panel("d", [article, *same, stranger]))[0] != stranger


def test_an_article_without_a_reference_is_nobody_s_other() -> None:
    articles = [Article("d", "all", str(i), f"Text {i} is here.", (f"Reference {i}.",) if i else ()) for i in range(4)]
    panel = draw_panel("d", articles)
    assert {other.key for other in draw_distractors(articles[1], panel)} == {"2", "3"}
