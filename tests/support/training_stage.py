"""What workers hold while policies are trained, with the encoder that BERTScore has in the reward."""

from typing import Any

from core.learning.training_config import RewardConfig
from core.metrics.config import RougeConfig
from core.stage import MetricsConfig, Stage


def training_stage(reward: RewardConfig, **more: Any) -> Stage:
    bertscore = reward.bertscore
    return Stage(
        "en", "blank", (bertscore.model,), (), (), MetricsConfig(bertscore, RougeConfig()), 0, reward=reward, **more
    )
