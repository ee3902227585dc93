import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.metrics.token_matching import (
    Crossing,
    Matching,
    TokenVectors,
    begin_on_device,
    begin_recalls,
    begin_recalls_on_device,
    on_cpu,
)


def text(generator: np.random.Generator, tokens: int) -> TokenVectors:
    vectors = torch.from_numpy(generator.standard_normal((tokens, 8)).astype(np.float32))
    weights = generator.integers(0, 2, tokens).astype(np.float64)
    weights[generator.integers(tokens)] = 1  # one that counts
    return TokenVectors(vectors / vectors.norm(dim=1, keepdim=True), weights)


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
    of_gpu = begin_on_device(both)()  # the same operations as on a GPU, on the CPU
    for one, of_one in zip(both, of_gpu, strict=True):
        np.testing.assert_allclose(on_cpu(one), one_by_one(one), atol=1e-6)
        np.testing.assert_allclose(of_one, on_cpu(one), atol=1e-6)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(1, 9), min_size=1, max_size=7), st.integers(1, 4))
def test_recalls_of_all_with_all_are_those_of_each_pair(seed: int, sizes: list[int], references: int) -> None:
    alike = [matching(seed + i, sizes) for i in range(references)]
    crossing = Crossing([one.reference for one in alike], alike[0].candidates)
    by_pair = [[recall for _, recall in on_cpu(Matching(one.reference, alike[0].candidates))] for one in alike]
    other = Crossing(crossing.references[:1], crossing.candidates[:1])
    for begin in (begin_recalls, begin_recalls_on_device):
        first, second = begin([crossing, other])()
        np.testing.assert_allclose(first, np.transpose(by_pair), atol=1e-6)
        np.testing.assert_allclose(second, [[by_pair[0][0]]], atol=1e-6)
    assert begin_recalls([])() == []
