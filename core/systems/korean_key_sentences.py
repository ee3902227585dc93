"""Keywords and key sentences of Korean texts, by KR-WordRank and by TextRank, and the recall of keywords in sentences.

TextRank uses morphemes and a sparse graph (Mihalcea & Tarau 2004, "TextRank: Bringing Order into Texts", sections 4 and
3). KR-WordRank (Kim, Cho & Kang 2014) needs no morpheme analyser. The package krwordrank computes it:

* `KRWordRank(min_count=5, max_length=10).extract(documents, beta=0.85, max_iter=10)` ranks the keywords. They are the
  left parts of words, without their endings.
* `make_vocab_score` (without the stop words, square roots of ranks), `MaxScoreTokenizer` and `keysentence` choose the
  sentences whose keywords are nearest to the vector of the 100 best keywords. `summarize_with_sentences` does the same
  with its defaults, except for `diversity` and `penalty`. Here the keywords are ranked only once.
"""

import hashlib
import importlib.metadata
import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set

import numpy as np
import scipy.sparse.linalg
from scipy import sparse

from nws.core.errors import CorpusError, NwsError
from nws.core.systems.importance import DAMPING, pagerank
from nws.core.text.korean import NOUNS_AND_ADJECTIVES, nouns_and_adjectives
from nws.core.text.tokenizers import Tokenizer

# The least and the most characters of a suitable sentence, from the example in krwordrank's documentation.
SHORTEST, LONGEST = 25, 80
# Cosines that should be equal differ by about 1e-16.
_ROUNDING = 1e-9


def length_penalty(sentence: str) -> int:
    """Return 0 for a sentence of 25 to 80 characters, with spaces, and 1 for any other, which comes after all these."""
    return 0 if SHORTEST <= len(sentence) <= LONGEST else 1


def distinct(documents: Iterable[str]) -> list[str]:
    """Return the distinct documents in their order. Of documents that differ only in white space, the first is kept."""
    return list({" ".join(document.split()): document for document in reversed(list(documents))}.values())[::-1]


def spread(vectors: sparse.csr_matrix, order: Iterable[int], count: int, diversity: float) -> list[int]:
    """Return the rows in `order`, without rows whose cosine distance to an earlier one is below `diversity`.

    Args:
        vectors: the vectors of the sentences, (sentences, terms); those in `order` are not zero.
        order: the rows, the best first, each once.
        count: the number of rows; fewer are returned if no more are far enough apart.
        diversity: the least distance, in [0, 1]; 0 leaves no row out.
    """
    lengths = scipy.sparse.linalg.norm(vectors.astype(np.float64), axis=1)
    unit = (sparse.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ vectors).tocsr()
    nearest = np.zeros(unit.shape[0])
    taken: list[int] = []
    for row in order:
        if len(taken) == count:
            break
        if 1 - nearest[row] < diversity - _ROUNDING:
            continue
        taken.append(row)
        nearest = np.maximum(nearest, (unit @ unit[row].T).toarray().ravel())
    return taken


def share_found(keywords: Set[str], present: Set[str]) -> float:
    """Return keyword recall: the share of the keywords that are in the key sentences, in [0, 1]; 0 without keywords.

    It is ROUGE-1 recall with the set of keywords as the reference. It grows with the number of sentences, so compare
    methods at equal numbers.
    """
    return len(keywords & present) / len(keywords) if keywords else 0.0


MIN_DOCUMENTS = 2
MIN_SIMILARITY = 0.3
# A morpheme in a larger share of the documents would connect all of them, and ranks would hardly differ.
MAX_SHARE = 0.1
# A morpheme in no more documents than this is never too frequent.
ALWAYS_ALLOWED = 50
_ROWS = 512
# Ranks (times the number of sentences) count as equal if they agree to this many decimals.
RANK_DECIMALS = 9

TEXTRANK_KEYWORDS = f"keywords:{','.join(NOUNS_AND_ADJECTIVES)};window:2;edges:unweighted;damping:{DAMPING}"
"""All options of the keywords, except the version of Kiwi."""


def textrank_signature(tokenizer: Tokenizer, diversity: float) -> str:
    """Return the signature: the method, and every option that changes its sentences."""
    return (
        f"textrank|{tokenizer.signature}|min_count:{MIN_DOCUMENTS}|max_share:{MAX_SHARE}"
        f"|min_sim:{MIN_SIMILARITY}|damping:{DAMPING}|diversity:{diversity}|length:{SHORTEST}-{LONGEST}"
        "|recall:left-parts"
    )


def textrank_sentences(documents: Sequence[str], tokenizer: Tokenizer, count: int, diversity: float) -> list[str]:
    """Return the documents with the highest ranks in the graph of all distinct documents, the best first.

    A document is chosen only if it has an edge, and if its cosine distance (of sets of morphemes) to all earlier ones
    is at least `diversity`. Documents that are too long or too short come last. The first of equals comes first.

    Args:
        documents: sentences or short texts.
        tokenizer: the tokenizer that splits them into morphemes.
        count: the number of sentences; fewer are returned if there are no more.
        diversity: the least distance, in [0, 1].
    """
    candidates = distinct(documents)
    if not candidates:
        return []
    vectors = term_vectors([tokenizer.tokenize(document) for document in candidates])
    graph = similarity_graph(vectors)
    ranks = np.round(pagerank(graph) * len(candidates), RANK_DECIMALS)
    penalties = np.array([length_penalty(document) for document in candidates])
    has_edge = graph.getnnz(axis=1) > 0
    # lexsort is stable, so the first of equal documents comes first.
    order = [row for row in np.lexsort((-ranks, penalties)).tolist() if has_edge[row]]
    return [candidates[row] for row in spread(vectors, order, count, diversity)]


def term_vectors(documents: Sequence[Sequence[str]]) -> sparse.csr_matrix:
    """Return which tokens occur in each document, (documents, tokens), as 0 and 1 in float64.

    Tokens in only one document are left out, since they connect none, and so are tokens in more than 50 documents and
    more than a tenth of all.
    """
    occurs_in = Counter(token for document in documents for token in set(document))
    most = max(ALWAYS_ALLOWED, MAX_SHARE * len(documents))
    tokens = (token for token in sorted(occurs_in) if MIN_DOCUMENTS <= occurs_in[token] <= most)
    index = {token: column for column, token in enumerate(tokens)}
    rows = [sorted({index[token] for token in document if token in index}) for document in documents]
    starts = np.cumsum([0, *map(len, rows)])
    token_columns = np.array([column for row in rows for column in row], dtype=np.int64)
    return sparse.csr_matrix((np.ones(len(token_columns)), token_columns, starts), shape=(len(rows), len(index)))


def similarity_graph(vectors: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return the number of tokens that two documents share, over the sum of the logs of their numbers of tokens.

    The graph, (documents, documents), has no loops, and no edges below 0.3. A document with one token has no edge,
    since its log is 0.
    """
    sizes = np.diff(vectors.indptr)
    logs = np.log(np.maximum(sizes, 2))
    usable = sparse.diags_array((sizes > 1).astype(np.float64)).tocsr() @ vectors
    blocks = []
    for first in range(0, vectors.shape[0], _ROWS):
        shared = (usable[first : first + _ROWS] @ usable.T).tocoo()
        rows = shared.row + first
        weights = shared.data / (logs[rows] + logs[shared.col])
        is_edge = (weights >= MIN_SIMILARITY) & (rows != shared.col)
        place = (shared.row[is_edge], shared.col[is_edge])
        blocks.append(sparse.csr_matrix((weights[is_edge], place), shape=shared.shape))
    return sparse.vstack(blocks, format="csr")


def textrank_keywords(documents: Sequence[str], stopwords: Collection[str] = frozenset()) -> dict[str, float]:
    """Rank morphemes, the highest first, without the stop words. All ranks sum to the number of morphemes.

    The nodes are nouns and adjectives, which were best in the paper. Two have an edge if they are neighbours once all
    other morphemes are left out, since there is nearly always a particle between two Korean nouns. The first of equals
    comes first.

    Raises:
        NwsError: kiwipiepy is not installed.
    """
    runs = [nouns_and_adjectives(document) for document in distinct(documents)]
    index = {word: i for i, word in enumerate(dict.fromkeys(itertools.chain.from_iterable(runs)))}
    pairs = {(index[a], index[b]) for run in runs for a, b in itertools.pairwise(run) if a != b}
    edges = np.array(sorted(pairs | {(b, a) for a, b in pairs}), dtype=np.int64).reshape(-1, 2)
    graph = sparse.csr_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(len(index), len(index)))
    ranks = np.round(pagerank(graph) * len(index), RANK_DECIMALS) if index else np.zeros(0)
    words = list(index)
    ranked = ((words[i], float(ranks[i])) for i in np.argsort(-ranks, kind="stable").tolist())
    return {word: rank for word, rank in ranked if word not in stopwords}


INSTALL = "pip install krwordrank"
# The defaults of the package.
MIN_COUNT = 5
MAX_LENGTH = 10
BETA = 0.85
MAX_ITER = 10
VECTOR_KEYWORDS = 100


def wordrank_signature(stopwords: Collection[str], diversity: float) -> str:
    """Return the signature: the method, and every option that changes its keywords or sentences.

    Raises:
        NwsError: the package is missing.
    """
    return (
        f"kr-wordrank|krwordrank-{_version()}|min_count:{MIN_COUNT}|max_length:{MAX_LENGTH}|beta:{BETA}"
        f"|max_iter:{MAX_ITER}|stopwords:{stopwords_text(stopwords)}|vector:{VECTOR_KEYWORDS}|scaling:sqrt"
        f"|tok:MaxScoreTokenizer|diversity:{diversity}|length:{SHORTEST}-{LONGEST}|recall:left-parts"
    )


def wordrank_keywords(documents: Sequence[str], stopwords: Collection[str] = frozenset()) -> dict[str, float]:
    """Rank the keywords, the highest first, without the stop words.

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
    keywords = {word: rank for word, rank in sorted(ranks.items(), key=lambda item: -item[1]) if word not in stopwords}
    if not keywords:
        raise CorpusError(
            f"KR-WordRank finds no keyword in {len(documents)} documents, apart from stop words. A keyword is a part "
            f"of a word with two or more characters that occurs {MIN_COUNT} times, beside other words. Give more text."
        )
    return keywords


def wordrank_sentences(
    keywords: Mapping[str, float], documents: Sequence[str], count: int, diversity: float
) -> list[str]:
    """Return the documents whose keywords are most like the 100 best keywords as a whole, the best first.

    The similarity is the cosine between a document's binary keyword vector and that of the square roots of the ranks. A
    document is chosen once, and only if it has a keyword, and if its cosine distance to all earlier ones is at least
    `diversity`. (The package goes on with other documents if there are no more of these.) Documents that are too long
    or too short come last. The first of equals comes first.

    Args:
        keywords: the keywords of `wordrank_keywords`.
        documents: sentences or short texts.
        count: the number of sentences; fewer are returned if there are no more.
        diversity: the least distance, in [0, 1].

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
    if not candidates:  # all keywords have more than the tokenizer's 10 characters
        return []
    sentences = keysentence(scores, candidates, tokenize, min(count, len(candidates)), diversity, length_penalty)
    return [sentences[row] for row in spread(vectorizer.vectorize(sentences), range(len(sentences)), count, diversity)]


def stopwords_text(stopwords: Collection[str]) -> str:
    """Describe stop words by their number and a hash."""
    if not stopwords:
        return "no"
    return f"{len(stopwords)},sha256-{hashlib.sha256(','.join(sorted(stopwords)).encode()).hexdigest()[:12]}"


def _version() -> str:
    try:
        return importlib.metadata.version("krwordrank")
    except importlib.metadata.PackageNotFoundError as error:
        raise NwsError(f"KR-WordRank needs the package krwordrank. Install it with `{INSTALL}`.") from error
