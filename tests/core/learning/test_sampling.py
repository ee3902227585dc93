import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from prepared_articles import TINY, embeddings_of, prepared

from nws.core.article import Article, SegmentedArticle
from nws.core.learning.environment import PreparedArticle, Writing, content_word, prepare
from nws.core.learning.policies import FeaturePolicies, StudyPolicies, make_policies
from nws.core.learning.reward import advantage_baselines, advantages, policy_loss
from nws.core.learning.sampling import Draw, Episodes, Greedy, Rollouts, episodes, rollouts, sentences_log_probability
from nws.core.learning.training_config import PolicyConfig, ReinforceConfig
from nws.core.models.tokens import IntArray
from nws.core.systems.importance import FloatArray, ranking, textrank
from nws.core.text.cutting import CutText, Subtree
from nws.core.text.length import count_words
from nws.core.text.segmentation import assemble

NOTHING = Episodes(np.empty((0, 0), np.int64), [], [], [])


class Told:
    """The episodes given: to ask for the log-probability of actions that were taken before."""

    def __init__(self, sentences: IntArray, chunks: Sequence[Sequence[int]]) -> None:
        self._sentences = sentences
        self._rest = [list(reversed(of_episode)) for of_episode in chunks]

    def sentences(self, logits: FloatArray, count: int) -> IntArray:
        return self._sentences

    def chunk(self, logits: FloatArray, rows: IntArray) -> IntArray:
        return np.array([self._rest[row].pop() for row in rows.tolist()], dtype=np.int64)


def perturbed(inputs: str = "features", residual: bool = True) -> FeaturePolicies | StudyPolicies:
    """Policies that prefer something, in every parameter."""
    policies = make_policies(PolicyConfig(inputs, hidden=4, residual=residual), 16, seed=0)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in policies.parameters():
            parameter += 0.5 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return policies


def all_episodes(article: PreparedArticle, n: int, count: int) -> tuple[IntArray, list[list[int]]]:
    """Every order of `count` sentences with every sequence of chunks that can follow it."""

    def continued(sentences: tuple[int, ...], taken: list[int]) -> Iterator[list[int]]:
        writing = Writing(article, np.array([sentences]), n)
        available = writing.available()
        for chunk in taken:
            writing.take(np.array([0]), np.array([chunk]))
            available = writing.available()
        options = np.flatnonzero(available[0]).tolist()
        if not options:
            yield taken
        for option in options:
            yield from continued(sentences, [*taken, option])

    orders = itertools.permutations(range(len(article.sentence_features)), count)
    episodes = [(order, chunks) for order in orders for chunks in continued(order, [])]
    return np.array([order for order, _ in episodes]), [chunks for _, chunks in episodes]


def enumerated(policies: FeaturePolicies | StudyPolicies, article: PreparedArticle, n: int, count: int) -> Rollouts:
    return rollouts(policies, article, n, count, Told(*all_episodes(article, n, count)))


@pytest.mark.parametrize("inputs", ["features", "embeddings"])
@pytest.mark.parametrize(("n", "count"), [(1, 1), (3, 2), (4, 3), (6, 2)])
def test_the_probabilities_of_all_episodes_add_up_to_one(inputs: str, n: int, count: int) -> None:
    found = enumerated(perturbed(inputs), prepared(TINY), n, count)
    assert len(found.episodes.texts) > 4
    assert math.isclose(float(found.log_probability.detach().exp().sum()), 1.0, rel_tol=1e-12)


def test_reinforce_expects_the_gradient_of_the_expected_reward() -> None:
    """Over all pairs of episodes, with the leave-one-out baseline; every parameter's gradient, to rounding."""
    policies, article = perturbed(), prepared(TINY)
    rewards = torch.from_numpy(np.random.default_rng(0).random(len(enumerated(policies, article, 3, 2).episodes.texts)))
    (enumerated(policies, article, 3, 2).log_probability.exp() * rewards).sum().backward()
    expected = [parameter.grad.clone() for parameter in policies.parameters()]
    policies.zero_grad()
    found = enumerated(policies, article, 3, 2)
    probability = found.log_probability.detach().exp()
    config = ReinforceConfig(2, normalise=False)
    loss = torch.zeros((), dtype=torch.float64)
    for pair in itertools.product(range(len(rewards)), repeat=2):
        chosen = list(pair)
        values = rewards[chosen].numpy()
        advantage = advantages(values, advantage_baselines(values, config), config.normalise)
        of_pair = Rollouts(NOTHING, found.log_probability[chosen], torch.empty(0))
        loss = loss + probability[chosen].prod() * policy_loss(of_pair, advantage)
    loss.backward()
    assert max(float(gradient.abs().max()) for gradient in expected) > 1e-3
    for parameter, gradient in zip(policies.parameters(), expected, strict=True):
        torch.testing.assert_close(-parameter.grad, gradient, rtol=1e-9, atol=1e-12)


def test_plackett_luce_of_three_by_hand() -> None:
    logits = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)
    a, b, c = logits.exp().tolist()
    chosen = torch.tensor([[2, 0], [1, 2]])
    exact = [c / (a + b + c) * a / (a + b), b / (a + b + c) * c / (a + c)]
    np.testing.assert_allclose(sentences_log_probability(logits, chosen).exp(), exact)
    summed = [c * a / (a + b + c) ** 2, b * c / (a + b + c) ** 2]
    np.testing.assert_allclose(sentences_log_probability(logits, chosen, exact=False).exp(), summed)


def test_the_sum_of_log_softmax_forgets_what_was_taken() -> None:
    policies, article = perturbed("embeddings"), prepared("Cats saw dogs, birds left.", mask_repeats=False)
    told = Told(np.array([[0]]), [[1, 0]])
    found = rollouts(policies, article, 4, 1, told, "softmax-sum").log_probability
    logits = policies.chunk(article.chunk_inputs.double())
    torch.testing.assert_close(found[0], torch.log_softmax(logits, dim=0).sum())


def test_the_greedy_summary_takes_the_best_and_of_equals_the_first() -> None:
    article = prepared()
    found = episodes(make_policies(PolicyConfig(), 16, seed=0), article, 7, 3, Greedy())
    best = ranking(textrank(article.sentence_inputs[:, :-1].double().numpy()))[:3]
    assert found.sentences.tolist() == [best]
    equal = episodes(make_policies(PolicyConfig(residual=False), 16, seed=0), article, 7, 3, Greedy())
    assert equal.sentences.tolist() == [[0, 1, 2]]
    assert equal.chunks[0] == sorted(equal.chunks[0])


WORDS = st.sampled_from(["Snow", "snow", "rain", "the", "it", "12", "Alder's", "Alder", "fell", "—", "won,", "end."])


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 14), st.integers(1, 3), st.integers(0, 2**32))
def test_subtrees_are_whole_and_hang_on_what_was_taken_before(
    data: st.DataObject, n: int, count: int, seed: int
) -> None:
    article = data.draw(parsed_articles())
    prepared_article = prepare(article, embeddings_of(article), mask_repeats=False)
    found = rollouts(
        perturbed(), prepared_article, n, count, Draw(np.random.default_rng(seed), 4, temperature=2)
    ).episodes
    for sentences, taken, text in zip(found.sentences.tolist(), found.chunks, found.texts, strict=True):
        own = [article.subtrees[i] for i in taken]
        for k, subtree in enumerate(own):
            beside = [other for other in own[:k] if other.sentence == subtree.sentence]
            assert article.subtrees[subtree.head] in beside if beside else subtree.begins
        positions = sorted(position for subtree in own for position in subtree.positions)
        # Where nothing fits that a summary may begin with, the article's first words are left.
        assert text == " ".join(article.words[i] for i in positions or range(min(n, len(article.words))))
        assert len(positions) <= n
        fitting = {subtree.sentence for subtree in article.subtrees if subtree.begins and len(subtree.positions) <= n}
        assert bool(taken) == bool(fitting)
        # Other sentences are opened where nothing fits of those that were chosen.
        assert {subtree.sentence for subtree in own} <= set(sentences) or fitting.isdisjoint(sentences)


@st.composite
def parsed_articles(draw: st.DrawFn) -> SegmentedArticle:
    """One to three sentences, each cut into subtrees that hang on each other in any way."""
    words: list[str] = []
    sentences, trees = [], []
    for _ in range(draw(st.integers(1, 3))):
        start, count = len(words), draw(st.integers(1, 7))
        words += [f"w{i}" for i in range(start, start + count)]
        sentences.append((start, len(words)))
        owner = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
        parts = [tuple(start + i for i in range(count) if owner[i] == k) for k in dict.fromkeys(owner)]
        heads = [draw(st.integers(0, max(0, k - 1))) for k in range(len(parts))]
        begins = [k == 0 or draw(st.booleans()) for k in range(len(parts))]
        trees.append(tuple(map(Subtree, parts, heads, begins)))
    cut = CutText(tuple(words), tuple(sentences), ((),) * len(sentences), tuple(trees))
    return assemble(Article("d", "all", "k", " ".join(words), ()), cut)


def test_a_low_temperature_draws_the_best_and_a_high_one_anything() -> None:
    logits = np.array([0.0, 1.0, 3.0])
    cold, hot = (Draw(np.random.default_rng(0), 300, temperature).sentences(logits, 1) for temperature in (0.01, 100))
    assert set(cold[:, 0].tolist()) == {2}
    assert (np.bincount(hot[:, 0]) > 70).all()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(WORDS, min_size=1, max_size=40).filter(lambda words: any(w != "—" for w in words)),
    st.integers(1, 45),
    st.integers(1, 4),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_exactly_n_words_or_all_and_no_repeats(words: list[str], n: int, count: int, mask: bool, seed: int) -> None:
    article = prepared(" ".join(words), mask_repeats=mask)
    total = len(article.segmented.words)
    for choice in (Draw(np.random.default_rng(seed), 3), Greedy()):
        found = rollouts(perturbed(), article, n, count, choice)
        assert torch.isfinite(found.log_probability).all()
        assert torch.isfinite(found.entropy).all()
        for text, chunks in zip(found.episodes.texts, found.episodes.chunks, strict=True):
            assert count_words(text) == min(n, total)
            assert is_in_order(text.split(), article.segmented.words)
            contents = [content_word(w) for c in chunks for w in article.segmented.chunks[c].text.split()]
            kept = [word for word in contents if word is not None]
            assert not mask or len(set(kept)) == len(kept)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(WORDS, min_size=1, max_size=40).filter(lambda words: any(w != "—" for w in words)),
    st.integers(1, 20),
    st.integers(1, 4),
    st.booleans(),
    st.sampled_from(["features", "embeddings"]),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_episodes_drawn_together_are_those_drawn_one_at_a_time_and_so_are_their_gradients(
    words: list[str], n: int, count: int, mask: bool, inputs: str, residual: bool, seed: int
) -> None:
    article, k = prepared(" ".join(words), mask_repeats=mask), 5
    together, alone = perturbed(inputs, residual), perturbed(inputs, residual)
    found = rollouts(together, article, n, count, Draw(np.random.default_rng(seed), k))
    ((2 * found.log_probability + found.entropy) @ torch.arange(1.0, k + 1, dtype=torch.float64)).backward()
    for row in range(k):
        generator = np.random.default_rng(seed)
        sentences, chunks, log_probability, entropy = one_at_a_time(alone, article, n, count, generator, k, row)
        assert (found.episodes.sentences[row].tolist(), found.episodes.chunks[row]) == (sentences, chunks)
        torch.testing.assert_close(found.log_probability[row], log_probability, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(found.entropy[row], entropy, rtol=1e-5, atol=1e-5)
        ((row + 1) * (2 * log_probability + entropy)).backward()
    for first, second in zip(together.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(gradient(first), gradient(second), rtol=1e-5, atol=1e-5)


def one_at_a_time(
    policies: FeaturePolicies | StudyPolicies,
    article: PreparedArticle,
    n: int,
    count: int,
    generator: np.random.Generator,
    k: int,
    row: int,
) -> tuple[list[int], list[int], torch.Tensor, torch.Tensor]:
    """Episode `row` of k by the definition, with gradients through every choice: what it takes, and two scalars."""
    logits = policies.sentence_logits(article)
    noise = torch.from_numpy(generator.gumbel(size=(k, len(logits))))[row]
    sentences = (logits + noise).topk(min(count, len(logits))).indices.tolist()
    left = list(range(len(logits)))
    total, entropies = torch.zeros((), dtype=torch.float64), []
    for sentence in sentences:
        total = total + torch.log_softmax(logits[left], dim=0)[left.index(sentence)]
        left.remove(sentence)
    vectors, parent = article.chunk_inputs[:, :-1], article.sentence_of_chunk.tolist()
    score, taken, words_left = policies.chunk_scorer(article), [], min(n, len(article.segmented.words))
    inside = set(sentences)
    while words_left > 0:
        free = [c for c in range(len(parent)) if not any(article.excludes[t, c] or t == c for t in taken)]
        free = [c for c in free if not article.excludes[c, c]]
        if not any(parent[c] in inside for c in free):
            inside = set(parent)
        options = [c for c in free if parent[c] in inside]
        if not options:
            break
        features = []
        for c in options:
            overflow = max(0, int(article.chunk_costs[c]) - words_left)
            nearest = max([0.0, *(float(vectors[t] @ vectors[c]) for t in taken)])
            siblings = [t for t in taken if parent[t] == parent[c]]
            adjacent = any(abs(t - c) == 1 for t in siblings)
            features.append([nearest, adjacent, bool(siblings), overflow, overflow > 0, words_left / n])
        of_options = score(torch.tensor(options), torch.tensor(features, dtype=torch.float64))
        noise = torch.from_numpy(generator.gumbel(size=(k, len(parent))))[row]
        best = int((of_options + noise[options]).argmax())
        log_softmax = torch.log_softmax(of_options, dim=0)
        total = total + log_softmax[best]
        entropies.append(-(log_softmax * log_softmax.exp()).sum())
        taken.append(options[best])
        words_left -= int(article.chunk_costs[options[best]])
    first = torch.log_softmax(logits, dim=0)
    entropy = -(first * first.exp()).sum()
    return sentences, taken, total, entropy + torch.stack(entropies).mean() if entropies else entropy


def gradient(parameter: torch.nn.Parameter) -> torch.Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad


def is_in_order(part: list[str], whole: tuple[str, ...]) -> bool:
    rest = iter(whole)
    return all(word in rest for word in part)
