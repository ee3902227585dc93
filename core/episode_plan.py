"""The plan of a runner of episodes, from which a worker makes the runner. Like `core.sweep_plan`, it imports little."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.models import ModelRef
from core.precision import Precision
from core.text.language import Language
from core.text.language_data import require_same_data
from core.workers import checked

if TYPE_CHECKING:
    from core.episodes import EpisodeRunner
    from core.learning.reward import RewardConfig


@dataclass(frozen=True, slots=True)
class EpisodePlan:
    """Everything that decides an update, besides what the driver sends.

    Attributes:
        language: of all articles and references.
        pipeline: the resolved segmentation.
        encoder: resolved; embeds sentences and chunks.
        reward: what policies are trained on.
        precision: what the encoder computes in. BERTScore, in the reward, has its own.
        language_data: see `core.sweep_plan.SweepPlan`.
    """

    language: Language
    pipeline: str
    encoder: ModelRef
    reward: "RewardConfig"
    precision: Precision = "float32"
    language_data: tuple[tuple[str, str], ...] = ()

    @property
    def models(self) -> tuple[ModelRef, ...]:
        """Every model that a runner loads."""
        return (self.encoder, self.reward.bertscore.model)


def make_episode_runner(plan: EpisodePlan, device: str, memory_fraction: float | None = None) -> "EpisodeRunner":
    """A runner with its models on `device`, see `core.sweep.take_share`. Policies always run on the CPU.

    Raises:
        ModelError: a model cannot be loaded.
        RecipeError: there is no such metric to reward with.
    """
    from core.episodes import EpisodeRunner
    from core.gpu_arithmetic import find_device
    from core.learning.reward import make_reward
    from core.summarizers.encoders import load_encoder
    from core.sweep import take_share
    from core.text.segmentation import Segmenter

    require_same_data(dict(plan.language_data))
    take_share(device, memory_fraction)
    on = find_device(device)
    encoder = load_encoder(plan.encoder, on, plan.precision)
    reward = make_reward(plan.reward, on)
    return EpisodeRunner(checked(plan.language, Segmenter(plan.pipeline)), encoder.encode, reward)
