"""What each actor pins, and how many actors fit: decided before the first one is asked for."""

import importlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from cluster.gpus import TYPE_PREFIX
from cluster.session import Session
from core.errors import ClusterError

# What Ray takes of that resource for each actor that names X.
_TYPE_SHARE = 0.001

# Parts of a GPU that divide it: others would strand what is left of each.
_PARTS = {1.0: "1", 0.5: "1/2", 0.25: "1/4"}

_POLL_SECONDS = 1.0
_TELL_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class ActorResources:
    """What one actor pins, in Ray's units. `accelerator_type` is None for the CPU and for a GPU of any type."""

    num_gpus: float
    num_cpus: float
    accelerator_type: str | None

    def describe(self) -> str:
        """The device as people read it and runs record it, e.g. `1/2 T4 GPU` or `1 CPU`."""
        if self.num_gpus:
            return f"{_PARTS[self.num_gpus]} {self.accelerator_type + ' ' if self.accelerator_type else ''}GPU"
        return f"{self.num_cpus:g} CPU"


# What each actor pins, and how many there are.
ActorPlan: TypeAlias = tuple[ActorResources, int]


def is_any_gpu(accelerator: str | None) -> bool:
    """Whether an accelerator is a GPU, whatever its type."""
    return accelerator is not None and accelerator.lower() in ("gpu", "cuda")


def plan_actors(
    cluster_resources: Mapping[str, float], accelerator: str | None, actors: int | None, gpus_per_actor: float = 1.0
) -> ActorPlan:
    """Choose what each actor pins and how many there are.

    Ray itself would wait for ever for what a cluster does not have, so this looks first.

    Args:
        cluster_resources: Totals by Ray's names, as in `Session.resources`.
        accelerator: None for a GPU each where the cluster has one, else a CPU each; `"cpu"`; `"gpu"` or `"cuda"` for a
            GPU of any type; or Ray's name of an accelerator type, e.g. `"T4"`. Where GPUs of several types are mixed,
            Ray does not tell how many there are of each, so the actors of a type are then only bounded by all GPUs.
        actors: How many, or None for as many as fit.
        gpus_per_actor: 1, 0.5 or 0.25: how much of a GPU each actor has, if it has one. Ray divides only the count;
            memory is the actors' own affair.

    Raises:
        ClusterError: the cluster does not have what is asked for, or no cluster could have it.
    """
    _require_possible(actors, gpus_per_actor)
    any_gpu, accelerator = is_any_gpu(accelerator), None if is_any_gpu(accelerator) else accelerator
    cpus, gpus = int(cluster_resources.get("CPU", 0)), int(cluster_resources.get("GPU", 0))
    has = f"the cluster has {_counted(gpus, 'GPU')}{_types(cluster_resources)} and {_counted(cpus, 'CPU')}"
    if cpus < 1:
        raise ClusterError(f"Segmenting articles needs at least 1 CPU, but {has}.")
    if accelerator == "cpu" or (accelerator is None and gpus < 1 and not any_gpu):
        resources, fit = ActorResources(num_gpus=0, num_cpus=1, accelerator_type=None), cpus
    else:
        if gpus < 1 or (accelerator is not None and TYPE_PREFIX + accelerator not in cluster_resources):
            if accelerator is not None and accelerator not in _types_of_ray():
                raise ClusterError(
                    f"`{accelerator}` is no type of accelerator: use `auto`, `cpu`, `gpu` or, for example, `T4`. Here, "
                    f"{has}."
                )
            raise ClusterError(
                f"The run asks for {accelerator or 'any'} GPUs, but {has}. Use a machine that has them, or another "
                "accelerator: `--accelerator cpu`, or one of the types that are there."
            )
        # No CPU for these: the CPUs are left to the segmenting tasks.
        resources, fit = (
            ActorResources(gpus_per_actor, num_cpus=0, accelerator_type=accelerator),
            int(gpus / gpus_per_actor),
        )
    if actors is None:
        actors = fit
    if actors > fit:
        raise ClusterError(
            f"The run asks for {actors} actors with {resources.describe()} each, but {has}. "
            f"Ask for 1 to {fit} (`--actors`)."
        )
    return resources, actors


def await_actors(
    session: Session,
    accelerator: str | None,
    actors: int | None,
    gpus_per_actor: float,
    seconds: float,
    tell: Callable[[str], None],
) -> ActorPlan:
    """`plan_actors` on what the cluster has, or will have within `seconds` after it was asked for.

    Args:
        session: the Ray that is joined.
        accelerator: as for `plan_actors`. None takes what there is at once: name the accelerator to wait for it.
        actors: as for `plan_actors`. None asks for one, and takes as many as fit when it is there.
        gpus_per_actor: as for `plan_actors`.
        seconds: how long to wait; 0 for not at all.
        tell: called now and then with a line that says what it waits for.

    Raises:
        ClusterError: as `plan_actors`, after `seconds`; at once for what no cluster could give.
    """
    _require_possible(actors, gpus_per_actor)
    try:
        return plan_actors(session.resources, accelerator, actors, gpus_per_actor)
    except ClusterError:
        if seconds <= 0:
            raise
    ray: Any = importlib.import_module("ray")
    autoscaler: Any = importlib.import_module("ray.autoscaler.sdk")
    started = last_told = time.monotonic()
    try:
        while True:
            # Again each time: a cluster keeps one request, and that of another run replaces or withdraws it.
            autoscaler.request_resources(bundles=_bundles(accelerator, actors or 1, gpus_per_actor))
            try:
                return plan_actors(ray.cluster_resources(), accelerator, actors, gpus_per_actor)
            except ClusterError as error:
                now = time.monotonic()
                if now - started >= seconds:
                    raise ClusterError(f"{error} Waited {seconds:g} s for more machines.") from error
                if now - last_told >= _TELL_SECONDS:
                    last_told = now
                    tell(f"Waiting for machines, for {now - started:.0f} s of at most {seconds:g} s. {error}")
            time.sleep(min(_POLL_SECONDS, max(seconds - (now - started), 0.01)))
    finally:
        # The actors themselves hold the machines from here on.
        autoscaler.request_resources(bundles=[])


def _bundles(accelerator: str | None, actors: int, gpus_per_actor: float) -> list[dict[str, float]]:
    """Everything the run needs, including what is there already, which the autoscaler subtracts. One CPU segments."""
    cpu: dict[str, float] = {"CPU": 1}
    if accelerator is None or accelerator == "cpu":
        return [cpu] * actors
    if is_any_gpu(accelerator):
        return [cpu] + [{"GPU": gpus_per_actor}] * actors
    return [cpu] + [{"GPU": gpus_per_actor, TYPE_PREFIX + accelerator: _TYPE_SHARE}] * actors


def _require_possible(actors: int | None, gpus_per_actor: float) -> None:
    """Refuse a request that no cluster could fulfil, see `plan_actors`.

    Raises:
        ClusterError: it is less than one actor, or another part of a GPU than those that divide it.
    """
    if actors is not None and actors < 1:
        raise ClusterError(f"The run asks for {actors} actors. Ask for 1 or more (`--actors`).")
    if gpus_per_actor not in _PARTS:
        raise ClusterError(f"The run asks for {gpus_per_actor:g} GPU for each actor. Ask for 1, 0.5 or 0.25.")


def _types_of_ray() -> frozenset[str]:
    """The names that Ray has for types of GPUs and other accelerators."""
    accelerators = importlib.import_module("ray.util.accelerators")
    return frozenset(value for name, value in vars(accelerators).items() if name.isupper() and isinstance(value, str))


def _counted(count: int, noun: str) -> str:
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"


def _types(cluster_resources: Mapping[str, float]) -> str:
    types = sorted(key.removeprefix(TYPE_PREFIX) for key in cluster_resources if key.startswith(TYPE_PREFIX))
    return f" (of type {', '.join(types)})" if types else ""
