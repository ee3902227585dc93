from pathlib import Path

import pytest
from documents import article
from prepared_articles import TEXT, parameters_of
from training_stage import training_stage

from nws.core.errors import EmptyArticleError, LanguageError, RecipeError
from nws.core.learning.checkpoint import Checkpoint, Reading
from nws.core.learning.exchange import Broadcast
from nws.core.learning.policies import make_policies
from nws.core.learning.policy_system import policy_system
from nws.core.learning.training_config import Decoding, PolicyConfig, RewardConfig, TrainingConfig
from nws.core.learning.writer import PolicyWriter, load_writer, save_policies
from nws.core.metrics.config import BertScoreConfig, RougeConfig
from nws.core.models import parse_model, resolve_model
from nws.core.stage import MetricsConfig, Stage
from nws.core.text.length import count_words
from nws.core.text.segmentation import Segmenter
from nws.core.worker_factories import make_episode_runner, make_sweeper

MODEL = resolve_model(parse_model("all-MiniLM-L6-v2"))


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    parameters = parameters_of(make_policies(PolicyConfig(), 384, seed=1))
    reading = Reading("en", "blank", MODEL, BertScoreConfig(MODEL, 6))
    return Checkpoint("mine", PolicyConfig(), (7, 9), reading, parameters, seed=1)


def test_it_writes_what_a_runner_decodes(checkpoint: Checkpoint, tmp_path: Path) -> None:
    save_policies(policy_system([checkpoint]), tmp_path)
    writer = load_writer(tmp_path)
    texts = writer.write(TEXT, [7, 9])
    runner = make_episode_runner(training_stage(RewardConfig(BertScoreConfig(MODEL, 6))), "cpu")
    sent = Broadcast(TrainingConfig("mine"), 0, dict(checkpoint.parameters))
    (decoded,) = runner.decode([(sent, [(article(TEXT), 7), (article(TEXT), 9)])])
    assert texts == [one.text for one in decoded]
    assert [count_words(text) for text in texts] == [7, 9]


def test_a_folder_says_to_rerank_and_a_writer_does_as_a_sweep(checkpoint: Checkpoint, tmp_path: Path) -> None:
    system = policy_system([checkpoint], Decoding("rerank", k=12, anchor_sentences=2))
    save_policies(system, tmp_path)
    config = MetricsConfig(BertScoreConfig(MODEL, 6), RougeConfig())
    stage = Stage("en", "blank", (MODEL,), (system,), (7, 9), config, seed=0)
    swept = make_sweeper(stage, "cpu")([Segmenter("blank")(article(TEXT))])
    written = load_writer(tmp_path).write(TEXT, [7, 9])
    assert written == [summary.text for summary in swept]
    assert written != PolicyWriter(policy_system([checkpoint])).write(TEXT, [7, 9])


def test_what_cannot_be_summarised_is_refused(checkpoint: Checkpoint) -> None:
    writer = PolicyWriter(policy_system([checkpoint]))
    with pytest.raises(EmptyArticleError):
        writer.write(" ... ", [7])
    with pytest.raises(RecipeError, match="not 0"):
        writer.write(TEXT, [7, 0])
    with pytest.raises(LanguageError):
        writer.write("서울에 눈이 내렸다. 시장은 학교를 닫았다.", [7])
