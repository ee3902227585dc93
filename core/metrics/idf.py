"""How rare tokens are among texts."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

Token = TypeVar("Token", bound=Hashable)


def idf_of(texts: Sequence[AbstractSet[Token]]) -> dict[Token, float]:
    """How rare each token is that occurs: of one in c of N texts, ln((N + 1) / (c + 1))."""
    counts = Counter(token for tokens in texts for token in tokens)
    return {token: math.log((len(texts) + 1) / (count + 1)) for token, count in counts.items()}
