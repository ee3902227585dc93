"""What policies are rewarded with: their articles alone, or fluency under the recipe's own language model."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console
from stored_rows import rows
from training_run import small_training
from undisturbed import QUIET

from nws.core.article import Article
from nws.core.errors import RecipeError
from nws.core.learning.reward import make_reward
from nws.core.learning.training_config import ARTICLE_SIMILARITY, BERTSCORE, FLUENCY, NO_REFERENCE_READ, RewardConfig
from nws.core.learning.writer import PolicyWriter, load_policies, save_policies
from nws.core.metrics.bertscore import BertScorer
from nws.core.metrics.config import BertScoreConfig
from nws.core.models import parse_model, resolve_model
from nws.core.text.dataset import Dataset, open_dataset
from nws.core.text.segmentation import Segmenter
from nws.jobs.drive import driver
from nws.jobs.drive.training import choose_system
from nws.jobs.store import Store

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


@pytest.mark.slow
def test_policies_learn_from_articles_that_have_no_reference_and_the_run_says_so(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    small_training(tiny_models, tmp_path, 1)  # writes the articles
    texts = [json.loads(line)["article"] for line in (tmp_path / "train.jsonl").read_text("utf-8").splitlines()]
    plain = tmp_path / "plain.jsonl"
    plain.write_text("\n".join(json.dumps({"article": text, "summaries": []}) for text in texts), "utf-8")
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
    assert "The reward does not read the references of the training articles." in log.getvalue()
    assert info.signatures["reward"].endswith(NO_REFERENCE_READ)


FLUENT = "rerank-6-lead6-adjacent0.05-fluent0.5"


def settings(tiny_models: dict[str, Path], **more: object) -> dict[str, Any]:
    return {"fluency_model": str(tiny_models["llama"]), "seeds": [0], **more}


def test_it_is_a_part_of_the_reward(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    weights = {"weights": {BERTSCORE: 1, FLUENCY: 0.05}}
    plan = small_training(tiny_models, tmp_path, 1, **settings(tiny_models, reward=weights))
    assert plan.training is not None
    assert plan.training.reward is not None
    assert plan.reward is not None
    assert plan.reward.startswith("1 * bertscore|")
    assert f" + 0.05 * fluency|SLOR|model:{tiny_models['llama']}@sha256:" in plan.reward
    assert plan.training.models[-1].source == str(tiny_models["llama"])
    config, device = plan.training.reward, torch.device("cpu")
    (article, *_) = plan.train_corpora[0]
    pairs = [(article, "the city said"), (article, "cat"), (article, "")]
    alone = (RewardConfig(config.bertscore, ((name, 1.0),), "en", config.fluency) for name in (BERTSCORE, FLUENCY))
    f1, slor = (make_reward(one, device)(pairs) for one in alone)
    expected = [(a + 0.05 * b) / 1.05 for a, b in zip(f1, slor, strict=True)]
    assert make_reward(config, device)(pairs) == pytest.approx(expected)
    assert slor[0] != slor[1] != slor[2] == 0


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"reward": {"weights": {BERTSCORE: 1, FLUENCY: 0.05}}}, "of the reward,"),
        ({"decodings": [{"method": "rerank", "fluency_weight": 0.1}]}, "of the decoding rerank-160-lead6.*fluent0.1,"),
    ],
)
def test_without_its_model_it_is_refused(
    tiny_models: dict[str, Path], tmp_path: Path, changes: dict[str, Any], named: str
) -> None:
    with pytest.raises(RecipeError, match=f"fluency is part {named} .*Set fluency_model, such as fluency_model: smol"):
        small_training(tiny_models, tmp_path, 1, **changes)


@pytest.mark.slow
def test_a_run_reranks_by_it_and_so_does_a_writer_of_its_policies(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    plain, fluent = {"method": "rerank", "k": 6}, {"method": "rerank", "k": 6, "fluency_weight": 0.5}
    given = settings(tiny_models, decodings=[plain, fluent], reward={"weights": {FLUENCY: 1, BERTSCORE: 1}})
    planned = small_training(tiny_models, tmp_path, 1, **given)
    outcome = driver.start(store, planned, "inline", QUIET)
    by_label: dict[str, dict[tuple[str, int], tuple[str, float]]] = {}
    fields = "system, article_id, n, text, extra -> 'scores' ->> 'fluency'"
    for system, article, n, text, value in rows(store, f"select {fields} from summaries where system like '%rerank%'"):
        by_label.setdefault(system, {})[article, n] = text, float(value)
    label = f"policy|mine|{FLUENT}|seed=0"
    assert {name for name in by_label if "mine" in name} == {label, label.replace("-fluent0.5", "")}
    fluencies = {name: sum(value for _, value in found.values()) for name, found in by_label.items()}
    assert fluencies[label] > fluencies[label.replace("-fluent0.5", "")]

    system = choose_system(store, outcome.run_id, label)
    save_policies(system, tmp_path / "exported")
    writer = PolicyWriter(load_policies(tmp_path / "exported"))
    for article in open_dataset(Dataset(str(tmp_path / "test.jsonl"))):
        written = {text for text, _ in by_label[label].values()}
        assert set(writer.write(article.text, [3, 7])) <= written
