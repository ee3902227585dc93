import hashlib

from hypothesis import given
from hypothesis import strategies as st

from nws.core.article import Article
from nws.core.article_id_sets import ArticleIds, id_numbers


def test_an_article_has_an_id_of_its_place_and_a_hash_of_its_content() -> None:
    article = Article("news", "test", "7", "ab", ("c",))
    assert article.content_hash == hashlib.sha256(b"2:ab1:c").hexdigest()
    assert article.id == hashlib.sha256(f"4:news4:test1:764:{article.content_hash}".encode()).hexdigest()[:16]
    assert Article("news", "test", "7", "a", ("bc",)).id != article.id


# Few of them, so that sets overlap, and the first and last that there are.
IDS = st.sampled_from(["0" * 16, "f" * 16, "8" + "0" * 15, "7" + "f" * 15, *(f"{n << 59 | n:016x}" for n in range(20))])


@given(st.lists(IDS), st.lists(IDS))
def test_it_is_as_a_set_of_strings(one: list[str], other: list[str]) -> None:
    first, second = ArticleIds.of(one), ArticleIds.of(other)
    assert list(first) == sorted(set(one))
    assert len(first) == len(set(one))
    assert list(first | second) == sorted({*one, *other})
    assert list(first - second) == sorted(set(one) - set(other))
    assert first.holds(id_numbers(other)).tolist() == [one_id in one for one_id in other]
    assert all((one_id in first) == (one_id in one) for one_id in other)
