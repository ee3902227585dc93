"""How well tokens match (Zhang et al. 2020, "BERTScore", section 3), of many candidates with a reference at once.

Nothing is padded in the product of vectors. On a GPU maxima and means are taken there, too, and what is copied from it
are two numbers for each candidate.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt
import torch

from core.arithmetic import multiply_rows
from core.batching import to_device

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The token vectors of one text, each of length 1, and which of them count (special tokens only match)."""

    vectors: torch.Tensor  # (tokens, dimensions) float32
    weights: FloatArray  # (tokens,) float64, 0 or 1, or the idf weights


@dataclass(frozen=True, slots=True)
class Matching:
    """A reference and its candidates, at least one."""

    reference: TokenVectors
    candidates: Sequence[TokenVectors]


# Precision and recall of each candidate of each matching.
Matched = list[list[tuple[float, float]]]


def precision_and_recall(matchings: Sequence[Matching]) -> Matched:
    """Of each candidate of each matching: mean best cosine of its tokens, and of the reference's tokens."""
    return begin_matching(matchings)()


def begin_matching(matchings: Sequence[Matching]) -> Callable[[], Matched]:
    """As `precision_and_recall`, but a GPU is not waited for. Returns the function that waits."""
    if not matchings or matchings[0].reference.vectors.device.type == "cpu":
        matched = [on_cpu(matching) for matching in matchings]
        return lambda: matched
    return begin_on_device(matchings)


def on_cpu(matching: Matching) -> list[tuple[float, float]]:
    """Precision and recall of each candidate, by NumPy."""
    similarity = _similarity(matching).numpy()
    candidates, reference = matching.candidates, matching.reference
    starts = np.cumsum([0, *(len(c.weights) for c in candidates[:-1])])
    weights = np.concatenate([c.weights for c in candidates])
    precision = np.add.reduceat(similarity.max(axis=1) * weights, starts) / np.add.reduceat(weights, starts)
    recall = np.maximum.reduceat(similarity, starts, axis=0) @ reference.weights / reference.weights.sum()
    return list(zip(precision.tolist(), recall.tolist(), strict=True))


def begin_on_device(matchings: Sequence[Matching]) -> Callable[[], Matched]:
    """The same, computed where the vectors are. All is copied from there at once: each copy would wait for a GPU."""
    together = torch.cat([on_device(matching) for matching in matchings])

    def matched() -> Matched:
        rows = iter(together.tolist())
        return [[(precision, recall) for precision, recall in islice(rows, len(m.candidates))] for m in matchings]

    return matched


def on_device(matching: Matching) -> torch.Tensor:
    """Precision and recall of each candidate, (candidates, 2) float64, computed where the vectors are.

    In a fixed order, unlike sums by `index_add_` on a GPU: the same matching gives the same numbers.
    """
    similarity = _similarity(matching)
    lengths = np.array([len(c.weights) for c in matching.candidates])
    starts = np.cumsum(lengths) - lengths
    places = np.arange(lengths.max())
    present = places < lengths[:, None]
    # Of each candidate the rows of its tokens, and in the gaps its first one again, which changes no maximum.
    rows = to_device(np.where(present, starts[:, None] + places, starts[:, None]), similarity.device)
    weights = np.zeros(present.shape)
    weights[present] = np.concatenate([c.weights for c in matching.candidates])
    token_weights = to_device(weights, similarity.device)
    reference_weights = to_device(matching.reference.weights, similarity.device)
    precision = (similarity.amax(dim=1).double()[rows] * token_weights).sum(dim=1) / token_weights.sum(dim=1)
    recall = similarity[rows].amax(dim=1).double() @ reference_weights / reference_weights.sum()
    return torch.stack([precision, recall], dim=1)


def _similarity(matching: Matching) -> torch.Tensor:
    """(tokens of all candidates, tokens of the reference), in one product."""
    return multiply_rows(torch.cat([c.vectors for c in matching.candidates]), matching.reference.vectors)
