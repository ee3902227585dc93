"""TextRank keywords (Mihalcea & Tarau 2004, "TextRank: Bringing Order into Texts", section 3) of Korean texts."""

import itertools
from collections.abc import Collection, Sequence

import numpy as np
from scipy import sparse

from core.summarizers.importance import DAMPING
from core.summarizers.korean_key_sentences import distinct
from core.summarizers.textrank_sentences import RANK_DECIMALS, pagerank
from core.text.korean import NOUNS_AND_ADJECTIVES, nouns_and_adjectives

SIGNATURE = f"keywords:{','.join(NOUNS_AND_ADJECTIVES)};window:2;edges:unweighted;damping:{DAMPING}"
"""What decides the keywords, besides Kiwi."""


def rank_keywords(documents: Sequence[str], stopwords: Collection[str] = frozenset()) -> dict[str, float]:
    """Morphemes with their ranks, the highest first, without the stop words. All ranks sum to their number.

    The nodes are nouns and adjectives, which the paper found best. Two have an edge if they are neighbours in a
    document once the other morphemes are left out: between two Korean nouns there is nearly always a particle. Ties go
    to the morpheme that occurs first.

    Raises:
        TokenizerError: kiwipiepy is not installed.
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
