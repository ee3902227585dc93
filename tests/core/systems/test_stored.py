"""Systems that write what a run has stored."""

from core.systems.system import Document, Draft, Stored, SummarizedArticle
from core.text.segmentation import unsegmented
from core.types import Article

DRAFTS = (("lead", Draft(3, "the first words")), ("random", Draft(3, "a b c", ("d e f",))), ("lead", Draft(0, "all")))


def document(article: Article) -> Document:
    return Document(unsegmented(article), {}, lambda texts: [], lambda anchor, texts: [])


def test_each_system_writes_its_drafts_again_with_all_draws() -> None:
    article = SummarizedArticle("d", "all", "1", "The first words of it.", ("Words.",), DRAFTS)
    assert Stored("lead").summarize(document(article), [7]) == [DRAFTS[0][1], DRAFTS[2][1]]
    assert Stored("random").summarize(document(article), [7])[0].texts == ("a b c", "d e f")
    plain = Article("d", "all", "1", "The first words of it.", ("Words.",))
    assert (article.id, article.content_hash) == (plain.id, plain.content_hash)
    assert Stored("lead").summarize(document(plain), [7]) == []
