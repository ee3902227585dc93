"""The pair of policies as the study wrote it: an embedding and a TextRank score in, a logit out.

What was chosen before is not among the inputs, so each chunk is scored once.
"""

from collections.abc import Callable

import torch
from torch import nn

from core.learning.environment import PreparedArticle
from core.summarizers.importance import FloatArray
from core.tokenization import IntArray

# From chunks (rows,) int64 and their dynamic features (rows, 6) to a logit for each, (rows,).
ChunkScorer = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
# The same in arrays, without gradients.
DrawingScorer = Callable[[IntArray, FloatArray], FloatArray]


class SentencePolicyModel(nn.Module):
    """[embedding ⊕ TextRank] of each sentence → a logit."""

    def __init__(self, dimensions: int, hidden: int) -> None:
        super().__init__()
        self.network = _network(dimensions + 1, hidden)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """From (sentences, dimensions + 1) to (sentences,)."""
        logits: torch.Tensor = self.network(inputs)
        return logits.squeeze(-1)


class ChunkPolicyModel(nn.Module):
    """[embedding ⊕ TextRank of its sentence] of each chunk → a logit."""

    def __init__(self, dimensions: int, hidden: int) -> None:
        super().__init__()
        self.network = _network(dimensions + 1, hidden)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """From (chunks, dimensions + 1) to (chunks,)."""
        logits: torch.Tensor = self.network(inputs)
        return logits.squeeze(-1)


class StudyPolicies(nn.Module):
    """Both models, with PyTorch's random initialisation."""

    def __init__(self, dimensions: int, hidden: int) -> None:
        super().__init__()
        self.sentence = SentencePolicyModel(dimensions, hidden)
        self.chunk = ChunkPolicyModel(dimensions, hidden)

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


def _network(inputs: int, hidden: int) -> nn.Sequential:
    first = nn.Linear(inputs, hidden, dtype=torch.float64)
    return nn.Sequential(first, nn.ReLU(), nn.Linear(hidden, 1, dtype=torch.float64))
