import pytest
import torch
from prepared_articles import prepared

from nws.core.errors import ModelError
from nws.core.learning.environment import CHUNK_FEATURES
from nws.core.learning.policies import make_policies, restore_policies
from nws.core.learning.training_config import PolicyConfig
from nws.core.systems.importance import ranking, textrank


def test_the_untrained_pair_is_textrank_and_similarity_to_the_document() -> None:
    article = prepared()
    policies = make_policies(PolicyConfig(), 16, seed=0)
    logits = policies.sentence_logits(article).detach()
    sentences = article.sentence_inputs[:, :-1].double().numpy()
    assert ranking(logits.numpy()) == ranking(textrank(sentences))
    chunks = torch.arange(len(article.chunk_costs))
    dynamic = torch.ones((len(chunks), 6), dtype=torch.float64)
    similarity = article.chunk_features[:, CHUNK_FEATURES.index("centroid similarity")]
    torch.testing.assert_close(policies.chunk_scorer(article)(chunks, dynamic).detach(), similarity)


@pytest.mark.parametrize("inputs", ["features", "embeddings"])
def test_the_same_seed_gives_the_same_parameters_and_leaves_the_generator_alone(inputs: str) -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    first, again, other = (make_policies(PolicyConfig(inputs), 16, seed).state_dict() for seed in (1, 1, 2))
    assert torch.equal(before, torch.random.get_rng_state())
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


def test_restored_policies_have_their_parameters_and_wrong_ones_are_refused() -> None:
    config = PolicyConfig("embeddings", hidden=8)
    study = make_policies(config, 16, seed=3)
    parameters = {name: value.numpy() for name, value in study.state_dict().items()}
    restored = restore_policies(config, parameters)
    assert all(torch.equal(value, study.state_dict()[name]) for name, value in restored.state_dict().items())
    with pytest.raises(ModelError, match="not the parameters of policies"):
        restore_policies(PolicyConfig(), parameters)
    with pytest.raises(ModelError, match="not the parameters of policies"):
        restore_policies(config, {})
