"""Matches the tokens of many candidates with those of a reference at once (Zhang et al. 2020, "BERTScore", section 3).

Nothing is padded in the product of vectors. A GPU also takes the maxima and means, so only two numbers for each
candidate are copied from it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch

from nws.core.arithmetic import multiply_rows
from nws.core.models.batching import to_device
from nws.core.text.word_kinds import KINDS

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """The token vectors of one text, each of length 1. Special tokens may be matched with, but do not count.

    Attributes:
        vectors: the vectors of BERTScore's layer, (tokens, dimensions) float32.
        weights: 1 for tokens that count, 0 for special tokens; (tokens,) float64.
        embeddings: the vectors of layer 0, before any token has seen another one; of the same shape as `vectors`.
        ids: the id of each token in the vocabulary, (tokens,) int64.
    """

    vectors: torch.Tensor
    weights: FloatArray
    embeddings: torch.Tensor
    ids: IntArray


@dataclass(frozen=True, slots=True)
class Matching:
    """A reference and its candidates, of which there is at least one."""

    reference: TokenVectors
    candidates: Sequence[TokenVectors]


def begin_matching(matchings: Sequence[Matching]) -> Callable[[], list[FloatArray]]:
    """Begin to compute precision and recall of each candidate of each matching, without waiting for a GPU.

    They are means of the best cosines of the candidate's and of the reference's tokens.

    Returns:
        A function that waits for the results, and returns an array of shape (candidates, 2) for each matching.
    """
    if not matchings or matchings[0].reference.vectors.device.type == "cpu":
        matched = [on_cpu(matching) for matching in matchings]
        return lambda: matched
    return begin_copy([on_device(matching) for matching in matchings])


def begin_copy(tensors: Sequence[torch.Tensor]) -> Callable[[], list[FloatArray]]:
    """Begin to copy tensors from a GPU, all at once, since each single copy would wait for the GPU.

    Returns:
        A function that waits for the copies, and returns them.
    """
    together = torch.cat([tensor.flatten() for tensor in tensors])

    def arrays() -> list[FloatArray]:
        flat = np.split(together.cpu().numpy(), np.cumsum([tensor.numel() for tensor in tensors])[:-1])
        return [values.reshape(tensor.shape) for values, tensor in zip(flat, tensors, strict=True)]

    return arrays


def on_cpu(matching: Matching) -> FloatArray:
    """Return precision and recall of each candidate, (candidates, 2), computed by NumPy."""
    candidates, reference = matching.candidates, matching.reference
    similarity = _similarities(candidates, [reference]).numpy()
    starts = _starts(candidates)
    weights = np.concatenate([c.weights for c in candidates])
    precision = np.add.reduceat(similarity.max(axis=1) * weights, starts) / np.add.reduceat(weights, starts)
    recall = np.maximum.reduceat(similarity, starts, axis=0) @ reference.weights / reference.weights.sum()
    return np.stack([precision, recall], axis=1)


def on_device(matching: Matching) -> torch.Tensor:
    """Return precision and recall of each candidate, (candidates, 2) float64, computed where the vectors are.

    Sums are taken in a fixed order, unlike those of `index_add_` on a GPU. So the same matching gives the same numbers.
    """
    similarity = _similarities(matching.candidates, [matching.reference])
    places, present = _rows_of(matching.candidates)
    rows = to_device(places, similarity.device)
    weights = np.zeros(present.shape)
    weights[present] = np.concatenate([c.weights for c in matching.candidates])
    token_weights = to_device(weights, similarity.device)
    reference_weights = to_device(matching.reference.weights, similarity.device)
    precision = (similarity.amax(dim=1).double()[rows] * token_weights).sum(dim=1) / token_weights.sum(dim=1)
    recall = similarity[rows].amax(dim=1).double() @ reference_weights / reference_weights.sum()
    return torch.stack([precision, recall], dim=1)


@dataclass(frozen=True, slots=True)
class Crossing:
    """Candidates and references, at least one of each. Each candidate is matched with every reference.

    Attributes:
        references, candidates: the token vectors of these texts.
        idf: the weight of each token of the vocabulary in a reference.
        kinds: the kind of each token of all references, (tokens,). Kinds are numbered from 0 in the first reference,
            and from `len(KINDS)` in the others, which are taken together. Empty if kinds are not asked for.
    """

    references: Sequence[TokenVectors]
    candidates: Sequence[TokenVectors]
    idf: FloatArray
    kinds: IntArray = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def kind_weights(self) -> FloatArray:
        """The total weight of the tokens of each kind, (2 · kinds,) float64; empty if kinds are not asked for."""
        if not len(self.kinds):
            return np.empty(0)
        return np.asarray(np.bincount(self.kinds, _shares(self), 2 * len(KINDS)), np.float64)


def begin_recalls(crossings: Sequence[Crossing]) -> Callable[[], list[FloatArray]]:
    """Begin to compute the recalls of each crossing, without waiting for a GPU.

    Tokens are weighted by their idf, and matched by the mean of two cosines: in BERTScore's layer and in layer 0. All
    references are in one product of each layer. On a CPU a recall depends on no other candidate, to the last bit.

    Returns:
        A function that waits for the results, and returns the recalls of each crossing, (candidates, references). If
        kinds are asked for, 2 · kinds more columns have the recall of each kind times its `kind_weights`.
    """
    if not crossings or crossings[0].candidates[0].vectors.device.type == "cpu":
        recalls_by_crossing = [recalls_on_cpu(crossing) for crossing in crossings]
        return lambda: recalls_by_crossing
    return begin_copy([recalls_on_device(crossing) for crossing in crossings])


def recalls_on_cpu(crossing: Crossing) -> FloatArray:
    """Return the recalls of a crossing as `begin_recalls` has them, computed by NumPy."""
    similarities = _mean_similarities(crossing).numpy()
    weighed = np.maximum.reduceat(similarities, _starts(crossing.candidates), axis=0) * _shares(crossing)
    recalls = np.add.reduceat(weighed, _starts(crossing.references), axis=1)
    if not len(crossing.kinds):
        return recalls
    # Always in the same order of tokens, so that no other candidate changes the last bit of a sum.
    order = np.argsort(crossing.kinds, kind="stable")
    present, starts = np.unique(crossing.kinds[order], return_index=True)
    by_kind = np.zeros((len(weighed), 2 * len(KINDS)))
    by_kind[:, present] = np.add.reduceat(np.take(weighed, order, axis=1), starts, axis=1)
    return np.hstack([recalls, by_kind])


def recalls_on_device(crossing: Crossing) -> torch.Tensor:
    """Return the recalls of a crossing as `begin_recalls` has them, computed in a fixed order where the vectors are."""
    similarities = _mean_similarities(crossing)
    rows, _ = _rows_of(crossing.candidates)
    best = similarities[to_device(rows, similarities.device)].amax(dim=1).double()
    lengths = [len(reference.weights) for reference in crossing.references]
    columns = np.repeat(np.eye(len(lengths)), lengths, axis=0)  # which reference each token belongs to
    if len(crossing.kinds):
        columns = np.hstack([columns, np.eye(2 * len(KINDS))[crossing.kinds]])
    return best @ to_device(_shares(crossing)[:, None] * columns, similarities.device)


def _shares(crossing: Crossing) -> FloatArray:
    """Return the weight of each token in the recall of its reference, (tokens of all references,)."""
    shares = []
    for reference in crossing.references:
        weights = reference.weights * crossing.idf[reference.ids]
        # If every reference has all tokens of this one, the weights are all 0. Then the tokens count alike.
        weights = weights if weights.any() else reference.weights
        shares.append(weights / weights.sum())
    return np.concatenate(shares)


def _mean_similarities(crossing: Crossing) -> torch.Tensor:
    """Return `_similarities`, as the mean of both layers."""
    of_layer = _similarities(crossing.candidates, crossing.references)
    embeddings = ([text.embeddings for text in texts] for texts in (crossing.candidates, crossing.references))
    return of_layer.add_(multiply_rows(*map(torch.cat, embeddings))).div_(2)


def _similarities(candidates: Sequence[TokenVectors], references: Sequence[TokenVectors]) -> torch.Tensor:
    """Return the cosines of (tokens of all candidates, tokens of all references), in one product."""
    return multiply_rows(*(torch.cat([text.vectors for text in texts]) for texts in (candidates, references)))


def _starts(candidates: Sequence[TokenVectors]) -> npt.NDArray[np.int64]:
    """Return the row of each candidate's first token."""
    return np.cumsum([0, *(len(candidate.weights) for candidate in candidates[:-1])])


def _rows_of(candidates: Sequence[TokenVectors]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return the rows of each candidate's tokens. Gaps hold its first row again, which changes no maximum.

    Returns:
        The rows, (candidates, tokens of the longest), and which of them are no gaps.
    """
    lengths = np.array([len(candidate.weights) for candidate in candidates])
    starts = np.cumsum(lengths) - lengths
    places = np.arange(lengths.max())
    present = places < lengths[:, None]
    return np.where(present, starts[:, None] + places, starts[:, None]), present
