import hashlib
import pickle

from core.types import Article


def test_an_article_has_an_id_of_its_place_and_a_hash_of_its_content() -> None:
    article = Article("news", "test", "7", "ab", ("c",))
    assert article.content_hash == hashlib.sha256(b"2:ab1:c").hexdigest()
    assert article.id == hashlib.sha256(f"4:news4:test1:764:{article.content_hash}".encode()).hexdigest()[:16]
    assert Article("news", "test", "7", "a", ("bc",)).id != article.id


def test_id_and_hash_are_made_once() -> None:
    article = Article("news", "test", "7", "text", ("summary",))
    assert article.id is article.id
    assert article.content_hash is article.content_hash
    assert pickle.loads(pickle.dumps(article)) == article
    assert pickle.loads(pickle.dumps(article)).id == article.id
