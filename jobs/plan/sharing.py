"""How actors of a run share GPUs: from what the machines have, and what the run's models need of a GPU's memory."""

from collections.abc import Sequence
from typing import TypeAlias

from cluster.gpus import GpuNode, Sharing, choose_sharing
from core.models import ModelRef, model_folder, parameters
from core.precision import AMPERE, Precision
from core.summarizers.generators import Generator
from core.sweep_plan import SweepPlan
from core.worker_factories import EpisodePlan

_BYTES: dict[Precision, int] = {"float32": 4, "tf32": 4, "float16": 2, "bfloat16": 2}
# CUDA itself, about 0.5 GB, and what the passes take: an actor with four models of BERT-base's size had 3.4 GB on an
# H100 in float32, of which weights 1.8, and 2.1 GB in float16, of which weights 0.9. With some room.
_BESIDE_WEIGHTS = 2_600_000_000
# A batch of a generator is as large as memory lets it be. With less than this it is so small that the GPU waits.
_GENERATING = 8_000_000_000

Plan: TypeAlias = SweepPlan | EpisodePlan


def sharing_on(nodes: Sequence[GpuNode], plans: Sequence[Plan], memory_fraction: float | None) -> Sharing:
    """How many actors share a GPU of these machines, see `choose_sharing`.

    Raises:
        NwsError: a model cannot be had, or is not the one that was recorded.
    """
    has_bfloat16 = all(card.capability >= AMPERE for node in nodes for card in node.cards)
    return choose_sharing(nodes, actor_bytes(plans, has_bfloat16), memory_fraction)


def actor_bytes(plans: Sequence[Plan], has_bfloat16: bool) -> int:
    """About how many bytes of a GPU's memory an actor needs: for the plan that needs the most.

    Args:
        plans: one for each kind of actor; a model that is not on this machine is fetched.
        has_bfloat16: whether the GPU has; if not, generators that would run in it run in float32.
    """
    return max(_plan_bytes(plan, has_bfloat16) for plan in plans)


def _plan_bytes(plan: Plan, has_bfloat16: bool) -> int:
    if isinstance(plan, EpisodePlan):
        encoding, bertscore, generator = _parameters(plan.encoder), plan.reward.bertscore, None
        measuring = [plan.reward.fluency.model] if plan.reward.fluency else []
    else:
        encoding = sum(map(_parameters, plan.encoders))
        bertscore, generator = plan.metrics.bertscore, plan.generator
        measuring = [metric.model for metric in plan.metrics.by_models]
    weights = encoding * _BYTES[plan.precision]
    weights += _parameters(bertscore.model) * _BYTES[bertscore.precision]
    weights += sum(map(_parameters, measuring)) * _BYTES["float32"]
    if isinstance(generator, Generator):
        half = generator.half if generator.half == "float16" or has_bfloat16 else "float32"
        weights += _parameters(generator.model) * _BYTES[half] + _GENERATING
    return weights + _BESIDE_WEIGHTS


def _parameters(ref: ModelRef) -> int:
    return parameters(model_folder(ref))
