"""What each actor pins, and how many actors fit: decided before the first one is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import ClusterError

# Ray counts the nodes that have an accelerator of type X as a resource of this name with X behind it.
_TYPE_PREFIX = "accelerator_type:"


@dataclass(frozen=True, slots=True)
class ActorResources:
    """What one actor pins, in Ray's units. `accelerator_type` is None for the CPU and for a GPU of any type."""

    num_gpus: float
    num_cpus: float
    accelerator_type: str | None

    def describe(self) -> str:
        """The device as people read it and runs record it, e.g. `1 T4 GPU` or `1 CPU`."""
        if self.num_gpus:
            return f"{self.num_gpus:g} {self.accelerator_type + ' ' if self.accelerator_type else ''}GPU"
        return f"{self.num_cpus:g} CPU"


def plan_actors(
    cluster_resources: Mapping[str, float], accelerator: str | None, actors: int | None
) -> tuple[ActorResources, int]:
    """Choose what each actor pins and how many there are.

    Ray itself would wait for ever for what a cluster does not have, so this looks first.

    Args:
        cluster_resources: Totals by Ray's names, as in `Session.resources`.
        accelerator: None for a GPU each where the cluster has one, else a CPU each; `"cpu"`; or Ray's name of an
            accelerator type, e.g. `"T4"`. Where GPUs of several types are mixed, Ray does not tell how many there
            are of each, so the actors of a type are then only bounded by all GPUs.
        actors: How many, or None for as many as fit.

    Raises:
        ClusterError: the cluster has not what is asked for.
    """
    cpus, gpus = int(cluster_resources.get("CPU", 0)), int(cluster_resources.get("GPU", 0))
    has = f"the cluster has {gpus} GPU{_types(cluster_resources)} and {cpus} CPU"
    if cpus < 1:
        raise ClusterError(f"Segmenting articles needs at least 1 CPU, but {has}.")
    if accelerator == "cpu" or (accelerator is None and gpus < 1):
        resources, fit = ActorResources(num_gpus=0, num_cpus=1, accelerator_type=None), cpus
    else:
        if gpus < 1 or (accelerator is not None and _TYPE_PREFIX + accelerator not in cluster_resources):
            raise ClusterError(
                f"The run asks for {accelerator} GPUs, but {has}. Use a machine that has them, or another "
                "accelerator: `--accelerator cpu`, or one of the types that are there."
            )
        # No CPU for these: the CPUs are left to the segmenting tasks.
        resources, fit = ActorResources(num_gpus=1, num_cpus=0, accelerator_type=accelerator), gpus
    if actors is None:
        actors = fit
    if not 1 <= actors <= fit:
        raise ClusterError(
            f"The run asks for {actors} actors with {resources.describe()} each, but {has}. "
            f"Ask for 1 to {fit} (`--actors`)."
        )
    return resources, actors


def _types(cluster_resources: Mapping[str, float]) -> str:
    types = sorted(key.removeprefix(_TYPE_PREFIX) for key in cluster_resources if key.startswith(_TYPE_PREFIX))
    return f" (of type {', '.join(types)})" if types else ""
