import pytest

from core.errors import SegmentationError
from core.text.length import require_length, require_summary_length
from core.text.segmentation import Segmenter, unsegmented
from core.types import Article
from core.worker_factories import checked


def article(text: str, reference: str = "A bridge.") -> Article:
    return Article("news", "all", "a1", text, (reference,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word " * 10_001, "10001 words; at most 10000"),
        ("word " * 165_000, "825000 characters; at most 100000"),
        ("- " * 50_001, "100002 characters"),
        ("a" * 501, "501 characters without a blank; at most 500"),
        ("(" * 99_999 + "a", "100000 characters without a blank"),
    ],
)
def test_what_would_take_minutes_is_refused_at_once(text: str, message: str) -> None:
    for refusing in (require_length, Segmenter("blank"), unsegmented):
        with pytest.raises(SegmentationError, match=f"Article 'a1' of news has {message}.*Split it"):
            refusing(article(text))


@pytest.mark.parametrize("text", ["word " * 10_000, "a" * 500, "-- " * 5_000 + "a", "( " * 5_000 + "a"])
def test_the_longest_articles_are_cut(text: str) -> None:
    assert len(Segmenter("blank")(article(text)).words) == len([token for token in text.split() if token.isalnum()])


@pytest.mark.parametrize(("text", "message"), [("a " * 3_001, "3001 words"), ("a" * 100_001, "100001 characters")])
def test_references_that_would_take_minutes_are_refused(text: str, message: str) -> None:
    with pytest.raises(SegmentationError, match=f"A summary has {message}; at most"):
        require_summary_length(text)
    with pytest.raises(SegmentationError, match=f"A summary has {message}; at most"):
        checked("en", Segmenter("blank"))(article("A bridge was opened.", text))
