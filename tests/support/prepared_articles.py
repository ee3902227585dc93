"""Articles for policies, with vectors that depend on the words alone, and small texts to write summaries of."""

import zlib
from collections.abc import Sequence

import numpy as np
import torch
from documents import segmented

from nws.core.article import SegmentedArticle
from nws.core.learning.environment import PreparedArticle, prepare
from nws.core.learning.exchange import Parameters
from nws.core.systems.importance import unit_rows
from nws.core.systems.system import Embeddings, split_vectors
from nws.core.text.length import LengthUnit

TEXT = (
    "The council met on Monday. A bridge in Alder will open in May, the mayor said. It cost two million. "
    "Trains will cross the bridge every hour. Nobody spoke against it."
)
TINY = "Cats saw dogs. The birds left and rain fell. It was as it is. Snow came."


def encode(texts: Sequence[str]) -> np.ndarray:
    """A bag of words in 16 dimensions, the same for the same text in any company: (texts, 16) float32."""
    return np.array([_vector(text) for text in texts], dtype=np.float32)


def _vector(text: str) -> np.ndarray:
    words = text.casefold().replace(".", "").replace(",", "").split()
    return sum((np.random.default_rng(zlib.crc32(word.encode())).normal(size=16) for word in words), start=np.zeros(16))


def prepared(
    text: str = TEXT, mask_repeats: bool = True, key: str = "k", length_unit: LengthUnit = "words"
) -> PreparedArticle:
    article = segmented(text, key)
    return prepare(article, embeddings_of(article), mask_repeats, length_unit)


def embeddings_of(article: SegmentedArticle) -> Embeddings:
    return split_vectors(article, unit_rows(encode([segment.text for segment in article.segments])))


def parameters_of(policies: torch.nn.Module) -> Parameters:
    """A copy of the parameters of policies."""
    return {name: value.detach().clone().numpy() for name, value in policies.state_dict().items()}
