"""TextRank of Korean texts, on morphemes and a sparse graph: key sentences, and keywords to compare them with.

Mihalcea & Tarau 2004, "TextRank: Bringing Order into Texts", sections 4 and 3.
"""

import itertools
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
from scipy import sparse

from core.systems.importance import DAMPING, FloatArray, stationary
from core.systems.korean_key_sentences import LONGEST, SHORTEST, distinct, length_penalty, spread
from core.text.korean import NOUNS_AND_ADJECTIVES, nouns_and_adjectives
from core.text.tokenizers import Tokenizer

MIN_COUNT = 2
MIN_SIMILARITY = 0.3
# A morpheme of a larger share of the documents would join all of them, and hardly any rank would differ.
MAX_SHARE = 0.1
# A morpheme of no more documents than this is never too frequent.
ALWAYS_ALLOWED = 50
_ROWS = 512
# Ranks (times the number of sentences) are equal if they are so to this many decimals.
RANK_DECIMALS = 9

KEYWORD_SIGNATURE = f"keywords:{','.join(NOUNS_AND_ADJECTIVES)};window:2;edges:unweighted;damping:{DAMPING}"
"""All options of the keywords, besides the version of Kiwi."""


def signature(tokenizer: Tokenizer, diversity: float) -> str:
    """The method and every option that changes its sentences."""
    return (
        f"textrank|{tokenizer.signature}|min_count:{MIN_COUNT}|max_share:{MAX_SHARE}"
        f"|min_sim:{MIN_SIMILARITY}|damping:{DAMPING}|diversity:{diversity}|length:{SHORTEST}-{LONGEST}"
        "|recall:left-parts"
    )


def key_sentences(documents: Sequence[str], tokenizer: Tokenizer, count: int, diversity: float) -> list[str]:
    """The documents of the highest rank in the graph of all distinct documents, the best first.

    A document is taken only if it has an edge, and its cosine distance (of sets of morphemes) to all earlier ones is at
    least `diversity`. Those that are too long or too short come last. Of equal ones the first comes first.

    Args:
        documents: sentences or short texts.
        tokenizer: splits them into morphemes.
        count: the number of sentences; fewer where there are no more.
        diversity: in [0, 1].
    """
    candidates = distinct(documents)
    if not candidates:
        return []
    vectors = term_vectors([tokenizer.tokenize(document) for document in candidates])
    graph = similarity_graph(vectors)
    ranks = np.round(pagerank(graph) * len(candidates), RANK_DECIMALS)
    penalties = np.array([length_penalty(document) for document in candidates])
    has_edge = graph.getnnz(axis=1) > 0
    # lexsort is stable, so of equal documents the first comes first.
    order = [row for row in np.lexsort((-ranks, penalties)).tolist() if has_edge[row]]
    return [candidates[row] for row in spread(vectors, order, count, diversity)]


def term_vectors(documents: Sequence[Sequence[str]]) -> sparse.csr_matrix:
    """The tokens that occur in each document, (documents, tokens) of 0 and 1 in float64.

    Tokens of one document are left out, which join none, and so are those of more than 50 documents and more than a
    tenth of all.
    """
    occurs_in = Counter(token for document in documents for token in set(document))
    most = max(ALWAYS_ALLOWED, MAX_SHARE * len(documents))
    tokens = (token for token in sorted(occurs_in) if MIN_COUNT <= occurs_in[token] <= most)
    index = {token: column for column, token in enumerate(tokens)}
    rows = [sorted({index[token] for token in document if token in index}) for document in documents]
    starts = np.cumsum([0, *map(len, rows)])
    token_columns = np.array([column for row in rows for column in row], dtype=np.int64)
    return sparse.csr_matrix((np.ones(len(token_columns)), token_columns, starts), shape=(len(rows), len(index)))


def similarity_graph(vectors: sparse.csr_matrix) -> sparse.csr_matrix:
    """The number of tokens that two documents share, over the sum of the logs of theirs: (documents, documents).

    There are no loops, and no edges below 0.3. A document with one token has no edge (its log is 0).
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


def pagerank(graph: sparse.csr_matrix) -> FloatArray:
    """The rank of each node of a symmetric weighted graph, (nodes,), summing to 1; damping 0.85.

    A node without edges spreads its rank evenly.
    """
    count = graph.shape[0]
    strength = np.asarray(graph.sum(axis=1)).ravel()
    inverse = np.divide(1.0, strength, out=np.zeros(count), where=strength > 0)

    def step(ranks: FloatArray) -> FloatArray:
        spare = ranks[strength == 0].sum()
        updated: FloatArray = (1.0 - DAMPING + DAMPING * spare) / count + DAMPING * (graph @ (ranks * inverse))
        return updated

    return stationary(count, step)


def rank_keywords(documents: Sequence[str], stopwords: Collection[str] = frozenset()) -> dict[str, float]:
    """Morphemes and their ranks, the highest first, without the stop words. All ranks sum to the number of morphemes.

    The nodes are nouns and adjectives, which were best in the paper. Two have an edge if they are neighbours in a
    document without the other morphemes: between two Korean nouns there is nearly always a particle. Of equal morphemes
    the one that occurs first comes first.

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
