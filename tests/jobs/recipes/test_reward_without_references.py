"""Training on articles alone: similarity to the article's own text, and fluency."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console
from training_run import small_training

from core.learning.reward import ARTICLE_SIMILARITY, NO_REFERENCE_READ, RewardConfig, make_reward, reward_signature
from core.metrics.bertscore import BertScorer
from core.metrics.config import BertScoreConfig
from core.models import parse_model, resolve_model
from core.text.segmentation import Segmenter
from core.types import Article
from jobs.drive import driver
from jobs.store import Store

TEXT = "The council met. A bridge will open in May. It cost two million. Nobody spoke against it."
ARTICLE = Article("d", "all", "0", TEXT, ("Snow fell on Dover.",))


def test_it_is_f1_against_the_first_three_sentences_whatever_the_reference(tiny_models: dict[str, Path]) -> None:
    bertscore = BertScoreConfig(resolve_model(parse_model(str(tiny_models["bert"]))), 2)
    config, device = RewardConfig(bertscore, ((ARTICLE_SIMILARITY, 1.0),)), torch.device("cpu")
    texts = ["A bridge will open", "Nobody spoke", ""]
    lead = TEXT.removesuffix(" Nobody spoke against it.")
    expected = [score.f1 for score in BertScorer(bertscore, device).score([(text, [lead]) for text in texts])]
    for article in (ARTICLE, replace(ARTICLE, references=())):
        rewards = make_reward(config, device, segment=Segmenter("blank"))([(article, text) for text in texts])
        assert rewards == pytest.approx(expected, abs=1e-6)


def test_a_signature_says_whether_references_are_read(tiny_models: dict[str, Path]) -> None:
    bertscore = BertScoreConfig(resolve_model(parse_model(str(tiny_models["bert"]))), 2)
    alone = RewardConfig(bertscore, ((ARTICLE_SIMILARITY, 1.0), ("coverage", 0.1)))
    with_reference = RewardConfig(bertscore, ((ARTICLE_SIMILARITY, 1.0), ("rouge1", 0.1)))
    assert not alone.reads_references
    assert with_reference.reads_references
    assert reward_signature(alone).endswith(NO_REFERENCE_READ)
    assert NO_REFERENCE_READ not in reward_signature(with_reference)
    assert RewardConfig(bertscore).reads_references


def test_policies_learn_from_articles_that_have_no_reference_and_the_run_says_so(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    small_training(tiny_models, tmp_path, 1)  # writes the articles
    rows = [json.loads(line) for line in (tmp_path / "train.jsonl").read_text(encoding="utf-8").splitlines()]
    plain = tmp_path / "plain.jsonl"
    plain.write_text(
        "\n".join(json.dumps({"article": row["article"], "summaries": []}) for row in rows), encoding="utf-8"
    )
    given = {
        "train_datasets": [{"name": str(plain)}],
        "fluency_model": str(tiny_models["llama"]),
        "reward": {"weights": {ARTICLE_SIMILARITY: 1, "fluency": 0.05}},
        **{"seeds": [0], "decodings": ["greedy"], "units": "words"},
    }
    log = io.StringIO()
    outcome = driver.start(store, small_training(tiny_models, tmp_path, 1, **given), "inline", Console(file=log))
    info = store.run_info(outcome.run_id)
    assert (info.state, info.failures) == ("done", 0)
    assert "The reward reads no reference of the training articles." in log.getvalue()
    assert info.signatures["reward"].endswith(NO_REFERENCE_READ)
