"""KR-WordRank (Kim, Cho & Kang 2014): keywords and key sentences of Korean texts, without a morpheme analyser.

The package krwordrank computes them. It is called as follows:

* `KRWordRank(min_count=5, max_length=10).extract(documents, beta=0.85, max_iter=10)` ranks the keywords. They are
  left parts of words, without the endings that follow them.
* `make_vocab_score` (without the stop words, square roots of ranks), `MaxScoreTokenizer` and `keysentence` choose the
  sentences whose keywords are nearest to the vector of the 100 best ones. `summarize_with_sentences` does the same with
  its defaults, but for `diversity` and `penalty`. Here the keywords are ranked once for any number of sentences.
"""

import hashlib
import importlib.metadata
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from core.errors import CorpusError, NwsError
from core.systems.korean_key_sentences import LONGEST, SHORTEST, distinct, length_penalty, spread

INSTALL = "pip install krwordrank"
# The defaults of the package.
MIN_COUNT = 5
MAX_LENGTH = 10
BETA = 0.85
MAX_ITER = 10
VECTOR_KEYWORDS = 100


def signature(stopwords: Collection[str], diversity: float) -> str:
    """The method and every option that changes its keywords or sentences.

    Raises:
        NwsError: the package is missing.
    """
    return (
        f"kr-wordrank|krwordrank-{_version()}|min_count:{MIN_COUNT}|max_length:{MAX_LENGTH}|beta:{BETA}"
        f"|max_iter:{MAX_ITER}|stopwords:{shown(stopwords)}|vector:{VECTOR_KEYWORDS}|scaling:sqrt"
        f"|tok:MaxScoreTokenizer|diversity:{diversity}|length:{SHORTEST}-{LONGEST}|recall:left-parts"
    )


def rank_keywords(documents: Sequence[str], stopwords: Collection[str] = frozenset()) -> dict[str, float]:
    """The keywords and their ranks, the highest first, without the stop words.

    A repeated document counts each time.

    Raises:
        CorpusError: no subword occurs often enough, or all keywords are stop words.
        NwsError: the package is missing.
    """
    _version()
    from krwordrank.word import KRWordRank

    ranker = KRWordRank(min_count=MIN_COUNT, max_length=MAX_LENGTH, verbose=False)
    try:
        ranks: dict[str, float] = ranker.extract(documents, beta=BETA, max_iter=MAX_ITER)[0]
    except ValueError:  # a graph of fewer than two subwords
        ranks = {}
    if not ranks:
        raise CorpusError(
            f"KR-WordRank finds no keyword in {len(documents)} documents: a part of a word with two or more characters "
            f"has to occur {MIN_COUNT} times, beside other words. Give it more text."
        )
    keywords = {word: rank for word, rank in sorted(ranks.items(), key=lambda item: -item[1]) if word not in stopwords}
    if not keywords:
        raise CorpusError(f"All {len(ranks)} keywords are stop words: give fewer of them, or more text.")
    return keywords


def key_sentences(keywords: Mapping[str, float], documents: Sequence[str], count: int, diversity: float) -> list[str]:
    """The documents whose keywords are most like the 100 best keywords as a whole, the best first.

    The similarity is the cosine between a document's binary keyword vector and that of the square roots of the ranks. A
    document is taken once, and only if it has a keyword and its cosine distance to all earlier ones is at least
    `diversity`. (The package goes on with other documents where there are no more of these.) Those that are too long or
    too short come last. Of equal ones the first comes first.

    Args:
        keywords: of `rank_keywords`.
        documents: sentences or short texts.
        count: the number of sentences; fewer where there are no more.
        diversity: in [0, 1].

    Raises:
        ImportError: the package is missing.
    """
    from krwordrank.sentence import KeywordVectorizer, MaxScoreTokenizer, keysentence, make_vocab_score

    scores = make_vocab_score(keywords, {}, scaling=np.sqrt, topk=VECTOR_KEYWORDS)
    tokenize = MaxScoreTokenizer(scores=scores).tokenize
    vectorizer = KeywordVectorizer(tokenize, scores)
    candidates = distinct(documents)
    holds_keyword = vectorizer.vectorize(candidates).getnnz(axis=1) > 0
    candidates = [document for document, holds in zip(candidates, holds_keyword, strict=True) if holds]
    if not candidates:  # all keywords are longer than the tokenizer's 10 characters
        return []
    sentences = keysentence(scores, candidates, tokenize, min(count, len(candidates)), diversity, length_penalty)
    return [sentences[row] for row in spread(vectorizer.vectorize(sentences), range(len(sentences)), count, diversity)]


def shown(stopwords: Collection[str]) -> str:
    """The number of stop words, and a hash that identifies them."""
    if not stopwords:
        return "no"
    return f"{len(stopwords)},sha256-{hashlib.sha256(','.join(sorted(stopwords)).encode()).hexdigest()[:12]}"


def _version() -> str:
    try:
        return importlib.metadata.version("krwordrank")
    except importlib.metadata.PackageNotFoundError as error:
        raise NwsError(f"KR-WordRank needs the package krwordrank. Install it with `{INSTALL}`.") from error
