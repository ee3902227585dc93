"""The pairs of policies: one policy chooses sentences, the other the next chunk.

In the feature-based pair, each policy scores with a linear layer beside a small network (residual: He et al. 2016). At
first, its order is that of TextRank and the document's centroid. It is a pointer network (Vinyals et al. 2015) over the
article's own chunks. The other pair is the study's.
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

# A function from chunks (rows,) int64 and their dynamic features (rows, 6) to a logit for each, (rows,).
ChunkScorer = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
# The same with arrays, without gradients.
DrawingScorer = Callable[[IntArray, FloatArray], FloatArray]


class FeatureScorer(nn.Module):
    """A module from features to logits: linear + tanh network (+ one feature). At first, only that feature counts."""

    def __init__(self, features: int, hidden: int, residual: int | None) -> None:
        super().__init__()
        # Without a bias, which would shift all logits equally and so not change the softmax.
        self.linear = nn.Linear(features, 1, bias=False, dtype=torch.float64)
        self.hidden = nn.Linear(features, hidden, dtype=torch.float64)
        self.output = nn.Linear(hidden, 1, bias=False, dtype=torch.float64)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.output.weight)
        self._residual = residual

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Map features (rows, features) to logits (rows,)."""
        logits: torch.Tensor = self.linear(features) + self.output(torch.tanh(self.hidden(features)))
        logits = logits.squeeze(-1)
        return logits if self._residual is None else logits + features[:, self._residual]

    @torch.no_grad()
    def given(self, shared: torch.Tensor) -> Callable[[IntArray, FloatArray], FloatArray]:
        """Return `forward` in NumPy for rows whose first features are a row of `shared`, which is multiplied only once.

        Args:
            shared: the shared features, (items, shared features) float64, including the residual, if there is one.

        Returns:
            A function from items (rows,) int64 and their other features (rows, others) to logits (rows,).
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
    """The pair that reads 9 features of a sentence and 15 + 6 of a chunk: 1,118 parameters with 32 hidden units."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        by_textrank = SENTENCE_FEATURES.index("textrank") if config.residual else None
        by_centroid = CHUNK_FEATURES.index("centroid similarity") if config.residual else None
        self.sentence = FeatureScorer(len(SENTENCE_FEATURES), config.hidden, by_textrank)
        self.chunk = FeatureScorer(len(CHUNK_FEATURES) + len(DYNAMIC_FEATURES), config.hidden, by_centroid)

    def sentence_logits(self, article: PreparedArticle) -> torch.Tensor:
        """Return a logit for each sentence, (sentences,) float64."""
        logits: torch.Tensor = self.sentence(article.sentence_features)
        return logits

    def chunk_scorer(self, article: PreparedArticle) -> ChunkScorer:
        """Return a function that scores chunks of an article, any number of times, with the present parameters."""
        return lambda chunks, dynamic: self.chunk(torch.cat([article.chunk_features[chunks], dynamic], dim=1))

    def drawing_scorer(self, article: PreparedArticle) -> DrawingScorer:
        """Return `chunk_scorer` in NumPy, without gradients, equal to rounding, for the many small steps of drawing."""
        return self.chunk.given(article.chunk_features)


class StudyScorer(nn.Module):
    """A module from [embedding ⊕ TextRank of the sentence] of each sentence or chunk to a logit."""

    def __init__(self, dimensions: int, hidden: int) -> None:
        super().__init__()
        first = nn.Linear(dimensions + 1, hidden, dtype=torch.float64)
        self.network = nn.Sequential(first, nn.ReLU(), nn.Linear(hidden, 1, dtype=torch.float64))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Map inputs (rows, dimensions + 1) to logits (rows,)."""
        logits: torch.Tensor = self.network(inputs)
        return logits.squeeze(-1)


class StudyPolicies(nn.Module):
    """The pair of the study: from an embedding and a TextRank score to a logit, which is random at first.

    It has the methods of `FeaturePolicies`. Earlier choices are not among its inputs, so each chunk is scored once.
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
    """Make a new pair, which is the same for the same seed.

    Args:
        config: the kind of the pair.
        dimensions: the dimensions of the embeddings, which only the study's pair needs.
        seed: the seed of the first weights. The random generator of the process is not changed.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        is_study = config.inputs == "embeddings"
        return StudyPolicies(dimensions, config.hidden) if is_study else FeaturePolicies(config)


def restore_policies(config: PolicyConfig, parameters: Mapping[str, FloatArray]) -> Policies:
    """Make the pair with these parameters, in float64.

    Raises:
        ModelError: these are not the parameters of such a pair.
    """
    try:
        # The study's first layer is as wide as the embeddings, plus one for the TextRank score.
        wide = parameters["sentence.network.0.weight"].shape[1] if config.inputs == "embeddings" else 1
        policies = make_policies(config, wide - 1, seed=0)
        policies.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in parameters.items()})
    except (KeyError, IndexError, RuntimeError) as error:
        raise ModelError(f"These are not the parameters of policies with {config}: {error}") from error
    return policies
