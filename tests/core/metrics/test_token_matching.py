import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nws.core.metrics.token_matching import (
    Crossing,
    Matching,
    TokenVectors,
    begin_copy,
    begin_recalls,
    on_cpu,
    on_device,
    recalls_on_device,
)
from nws.core.text.word_kinds import KINDS

VOCABULARY = 6


def text(generator: np.random.Generator, tokens: int) -> TokenVectors:
    layers = (torch.from_numpy(generator.standard_normal((tokens, 8)).astype(np.float32)) for _ in range(2))
    vectors, embeddings = (layer / layer.norm(dim=1, keepdim=True) for layer in layers)
    weights = generator.integers(0, 2, tokens).astype(np.float64)
    weights[generator.integers(tokens)] = 1  # one that counts
    return TokenVectors(vectors, weights, embeddings, generator.integers(0, VOCABULARY, tokens))


def matching(seed: int, sizes: list[int]) -> Matching:
    generator = np.random.default_rng(seed)
    return Matching(text(generator, 5), [text(generator, size) for size in sizes])


def one_by_one(matching: Matching) -> list[tuple[float, float]]:
    """As the paper has it."""
    found = []
    for candidate in matching.candidates:
        similarity = (candidate.vectors @ matching.reference.vectors.T).numpy().astype(np.float64)
        precision = np.average(similarity.max(axis=1), weights=candidate.weights)
        recall = np.average(similarity.max(axis=0), weights=matching.reference.weights)
        found.append((precision, recall))
    return found


@settings(deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(1, 9), min_size=1, max_size=7))
def test_the_paths_of_cpu_and_gpu_agree_with_one_candidate_at_a_time(seed: int, sizes: list[int]) -> None:
    both = [matching(seed, sizes), matching(seed + 1, sizes[::-1])]
    of_gpu = begin_copy(list(map(on_device, both)))()  # the same operations as on a GPU, on the CPU
    for one, of_one in zip(both, of_gpu, strict=True):
        np.testing.assert_allclose(on_cpu(one), one_by_one(one), atol=1e-6)
        np.testing.assert_allclose(of_one, on_cpu(one), atol=1e-6)


def recall(candidate: TokenVectors, reference: TokenVectors, idf: list[float]) -> float:
    """By the mean of both layers' cosines, each token by its idf, or all alike where none weighs anything."""
    cosines = [
        (a @ b.T).numpy().astype(np.float64) for a, b in zip(*map(layers_of, (candidate, reference)), strict=True)
    ]
    weights = [weight * idf[token] for weight, token in zip(reference.weights, reference.ids, strict=True)]
    best = ((cosines[0] + cosines[1]) / 2).max(axis=0)
    return float(np.average(best, weights=weights if sum(weights) else reference.weights))


def layers_of(text: TokenVectors) -> tuple[torch.Tensor, torch.Tensor]:
    return text.vectors, text.embeddings


@settings(deadline=None)
@given(
    st.integers(0, 10**6),
    st.lists(st.integers(1, 9), min_size=1, max_size=7),
    st.integers(1, 4),
    st.lists(st.sampled_from([0.0, 0.4, 2.5]), min_size=VOCABULARY, max_size=VOCABULARY),
)
def test_recalls_of_all_with_all_are_those_of_each_pair(
    seed: int, sizes: list[int], count: int, idf: list[float]
) -> None:
    references = [matching(seed + i, sizes).reference for i in range(count)]
    candidates = matching(seed, sizes).candidates
    by_pair = [[recall(candidate, reference, idf) for reference in references] for candidate in candidates]
    crossing = Crossing(references, candidates, np.array(idf))
    alone = Crossing(references, candidates[:1], np.array(idf))
    kinds = np.arange(sum(len(one.ids) for one in references)) % (2 * len(KINDS))
    told = Crossing(references, candidates, np.array(idf), kinds)
    for begun in (
        begin_recalls([crossing, alone, told]),
        begin_copy([*map(recalls_on_device, (crossing, alone, told))]),
    ):
        first, second, (*_, of_kinds) = begun()
        np.testing.assert_allclose(of_kinds[:count], by_pair[-1], atol=1e-6)
        np.testing.assert_allclose(of_kinds[count:].sum(), sum(by_pair[-1]), atol=1e-6)
        np.testing.assert_allclose(first, by_pair, atol=1e-6)
        np.testing.assert_allclose(second, by_pair[:1], atol=1e-6)
    assert begin_recalls([])() == []
    one_by_one = [Crossing(references, [candidate], np.array(idf), kinds) for candidate in candidates]
    assert np.vstack(begin_recalls(one_by_one)()).tolist() == begin_recalls([told])()[0].tolist()
    assert told.kind_weights.sum() == pytest.approx(count)
