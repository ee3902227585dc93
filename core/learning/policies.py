"""The pairs of policies: which sentences, and which chunk next.

In the feature-based pair, each scores with a linear layer beside a small network (a residual one: He et al. 2016),
starting from the order that TextRank and the document's centroid give. It is a pointer network (Vinyals et al. 2015)
over the article's own chunks. The other pair is the study's.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
import torch
from torch import nn

from nws.core.errors import ModelError
from nws.core.learning.environment import CHUNK_FEATURES, DYNAMIC_FEATURES, SENTENCE_FEATURES, PreparedArticle
from nws.core.learning.training_config import PolicyConfig
from nws.core.models.tokens import IntArray
from nws.core.systems.importance import FloatArray

# From chunks (rows,) int64 and their dynamic features (rows, 6) to a logit for each, (rows,).
ChunkScorer = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
# The same in arrays, without gradients.
DrawingScorer = Callable[[IntArray, FloatArray], FloatArray]


class FeatureScorer(nn.Module):
    """From features to logits: linear + tanh network (+ one of the features). At first only that feature counts."""

    def __init__(self, features: int, hidden: int, residual: int | None) -> None:
        super().__init__()
        # A bias would shift all logits alike, which a softmax does not see.
        self.linear = nn.Linear(features, 1, bias=False, dtype=torch.float64)
        self.hidden = nn.Linear(features, hidden, dtype=torch.float64)
        self.output = nn.Linear(hidden, 1, bias=False, dtype=torch.float64)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.output.weight)
        self._residual = residual

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """From (rows, features) to (rows,)."""
        logits: torch.Tensor = self.linear(features) + self.output(torch.tanh(self.hidden(features)))
        logits = logits.squeeze(-1)
        return logits if self._residual is None else logits + features[:, self._residual]

    @torch.no_grad()
    def given(self, shared: torch.Tensor) -> Callable[[IntArray, FloatArray], FloatArray]:
        """`forward` in NumPy where the first features of a row are a row of `shared`, which is multiplied only once.

        Args:
            shared: (items, shared features) float64; the residual, if any, is among them.

        Returns:
            From the items (rows,) int64 and the other features (rows, others) to (rows,).
        """
        width = shared.shape[1]
        linear, weight, output = (layer.weight.numpy() for layer in (self.linear, self.hidden, self.output))
        residual = 0.0 if self._residual is None else shared.numpy()[:, self._residual]
        item_logits = shared.numpy() @ linear[0, :width] + residual
        item_hidden = shared.numpy() @ weight[:, :width].T + self.hidden.bias.numpy()

        def score(items: IntArray, others: FloatArray) -> FloatArray:
            hidden = others @ weight[:, width:].T
            hidden += item_hidden[items]
            np.tanh(hidden, out=hidden)
            logits: FloatArray = item_logits[items] + others @ linear[0, width:] + hidden @ output[0]
            return logits

        return score


class FeaturePolicies(nn.Module):
    """The pair that reads 9 features of a sentence, and 15 + 6 of a chunk: 1,118 parameters with 32 hidden units."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        by_textrank = SENTENCE_FEATURES.index("textrank") if config.residual else None
        by_centroid = CHUNK_FEATURES.index("centroid similarity") if config.residual else None
        self.sentence = FeatureScorer(len(SENTENCE_FEATURES), config.hidden, by_textrank)
        self.chunk = FeatureScorer(len(CHUNK_FEATURES) + len(DYNAMIC_FEATURES), config.hidden, by_centroid)

    def sentence_logits(self, article: PreparedArticle) -> torch.Tensor:
        """One logit per sentence, (sentences,) float64."""
        logits: torch.Tensor = self.sentence(article.sentence_features)
        return logits

    def chunk_scorer(self, article: PreparedArticle) -> ChunkScorer:
        """What scores chunks of one article, any number of times, with the parameters of now."""
        return lambda chunks, dynamic: self.chunk(torch.cat([article.chunk_features[chunks], dynamic], dim=1))

    def drawing_scorer(self, article: PreparedArticle) -> DrawingScorer:
        """As `chunk_scorer`, to rounding, in NumPy and without gradients: for the many small steps of drawing."""
        return self.chunk.given(article.chunk_features)


class StudyScorer(nn.Module):
    """[embedding ⊕ TextRank of the sentence] of each sentence or chunk → a logit."""

    def __init__(self, dimensions: int, hidden: int) -> None:
        super().__init__()
        first = nn.Linear(dimensions + 1, hidden, dtype=torch.float64)
        self.network = nn.Sequential(first, nn.ReLU(), nn.Linear(hidden, 1, dtype=torch.float64))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """From (rows, dimensions + 1) to (rows,)."""
        logits: torch.Tensor = self.network(inputs)
        return logits.squeeze(-1)


class StudyPolicies(nn.Module):
    """The pair as the study wrote it: an embedding and a TextRank score in, a logit out, at first a random one.

    It has the methods of `FeaturePolicies`. What was chosen before is not among the inputs: each chunk is scored once.
    """

    def __init__(self, dimensions: int, hidden: int) -> None:
        super().__init__()
        self.sentence = StudyScorer(dimensions, hidden)
        self.chunk = StudyScorer(dimensions, hidden)

    def sentence_logits(self, article: PreparedArticle) -> torch.Tensor:
        logits: torch.Tensor = self.sentence(article.sentence_inputs.double())
        return logits

    def chunk_scorer(self, article: PreparedArticle) -> ChunkScorer:
        logits: torch.Tensor = self.chunk(article.chunk_inputs.double())
        return lambda chunks, dynamic: logits.index_select(0, chunks)

    @torch.no_grad()
    def drawing_scorer(self, article: PreparedArticle) -> DrawingScorer:
        logits: FloatArray = self.chunk(article.chunk_inputs.double()).numpy()
        return lambda chunks, dynamic: logits[chunks]


Policies: TypeAlias = FeaturePolicies | StudyPolicies
"""A sentence policy and a chunk policy as one torch module."""


def make_policies(config: PolicyConfig, dimensions: int, seed: int) -> Policies:
    """A new pair, the same for the same seed.

    Args:
        config: which pair.
        dimensions: of the embeddings; only the study's pair asks.
        seed: of the first weights. The generator of the process is left as it is.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        is_study = config.inputs == "embeddings"
        return StudyPolicies(dimensions, config.hidden) if is_study else FeaturePolicies(config)


def restore_policies(config: PolicyConfig, parameters: Mapping[str, FloatArray]) -> Policies:
    """The pair with these parameters, in float64.

    Raises:
        ModelError: they are not the parameters of such a pair.
    """
    try:
        # Embeddings are as wide as the study's first layer, less the TextRank score.
        wide = parameters["sentence.network.0.weight"].shape[1] if config.inputs == "embeddings" else 1
        policies = make_policies(config, wide - 1, seed=0)
        policies.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in parameters.items()})
    except (KeyError, IndexError, RuntimeError) as error:
        raise ModelError(f"These are not the parameters of policies with {config}: {error}") from error
    return policies
