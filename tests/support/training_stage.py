"""What workers hold while policies are trained, with the encoder that BERTScore has in the reward."""

from typing import Any

from nws.core.learning.training_config import RewardConfig
from nws.core.metrics.config import RougeConfig
from nws.core.stage import MetricsConfig, Stage


def training_stage(reward: RewardConfig, **more: Any) -> Stage:
    bertscore = reward.bertscore
    return Stage(
        "en", "blank", (bertscore.model,), (), (), MetricsConfig(bertscore, RougeConfig()), 0, reward=reward, **more
    )
