"""The resources of each actor, and how many actors fit and share a GPU, decided before actors are requested."""

import importlib
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from nws.cluster.session import Session
from nws.core.errors import ClusterError

# Ray counts the nodes with an accelerator of type X as a resource of this name, followed by X.
TYPE_PREFIX = "accelerator_type:"
_QUERY = ("nvidia-smi", "--query-gpu=name,memory.free,compute_cap,mig.mode.current", "--format=csv,noheader,nounits")
_MIB = 2**20
# Ray divides only the count of GPUs, and other counts would leave a part of each GPU unused.
_COUNTS = (4, 2, 1)
# An actor needs a core, and the tasks that segment for it half a core: on an H100 with 16 cores, 4 actors took 184 s of
# CPU time, and their segmenting 98 s.
CORES_PER_ACTOR = 1.5
# The rest is for other processes on the card, and for memory that the estimate of an actor's bytes misses.
_SHARE_OF_FREE = 0.9
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Card:
    """A GPU: its name, the bytes of its memory that are free, and its compute capability."""

    name: str
    free: int
    capability: tuple[int, int]


@dataclass(frozen=True, slots=True)
class GpuNode:
    """A machine with GPUs: its CPU cores and GPUs, as Ray counts them, and its cards, if they are known."""

    cores: int
    gpus: int
    cards: tuple[Card, ...]


def has_no_gpu() -> bool:
    """Return at once whether this machine surely has no GPU: no device file of NVIDIA, AMD or WSL is there."""
    devices = Path("/dev")
    has_device = any(devices.glob("nvidia[0-9]*")) or (devices / "kfd").exists() or (devices / "dxg").exists()
    return sys.platform == "linux" and not has_device


def cards_here(seconds: float = 5.0) -> tuple[Card, ...]:
    """List the cards of this machine that CUDA_VISIBLE_DEVICES leaves visible; none if nvidia-smi does not tell.

    nvidia-smi usually answers within tenths of a second.
    """
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    only = ("-i", visible) if visible else ()
    try:
        done = subprocess.run(
            (*_QUERY, *only), capture_output=True, text=True, timeout=seconds, check=True, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return parse_cards(done.stdout)


def parse_cards(answer: str) -> tuple[Card, ...]:
    """Parse the cards in an answer of nvidia-smi; none if the answer lacks something.

    There are none with MIG, either: the memory of a card that is divided into slices is not that of a slice.
    """
    cards = []
    for line in answer.splitlines():
        try:
            name, free, capability, mig = line.split(", ")
            major, minor = capability.split(".")
            cards.append(Card(name, int(free) * _MIB, (int(major), int(minor))))
        except ValueError:
            return ()
        if mig == "Enabled":
            return ()
    return tuple(cards)


def gpu_nodes(accelerator: str | None, seconds: float = 10.0) -> list[GpuNode]:
    """List the machines of the cluster with GPUs; only those with GPUs of type `accelerator`, if it is given.

    A task without a GPU asks each machine, which starts a process for it within 2 s. The cards of a machine that does
    not answer in time are unknown.
    """
    ray: Any = importlib.import_module("ray")
    needed = "GPU" if accelerator is None else TYPE_PREFIX + accelerator
    nodes = [node for node in ray.nodes() if node["Alive"] and {"GPU", needed} <= node["Resources"].keys()]
    no_cards: tuple[Card, ...] = ()
    cards = _ask(ray, cards_here, nodes, no_cards, seconds)
    return [
        GpuNode(int(node["Resources"].get("CPU", 0)), int(node["Resources"]["GPU"]), cards[node["NodeID"]])
        for node in nodes
    ]


def ask_machines(question: Callable[[], str], seconds: float = 30.0) -> list[str]:
    """Return the answer of every machine of the cluster to a picklable question; "" if one does not answer in time."""
    ray: Any = importlib.import_module("ray")
    return list(_ask(ray, question, [node for node in ray.nodes() if node["Alive"]], "", seconds).values())


def _ask(
    ray: Any, question: Callable[[], Answer], nodes: Sequence[Any], none: Answer, seconds: float
) -> dict[str, Answer]:
    """Return the answer of each node, by its id, or `none` if it is gone or late. This node is asked without a task."""
    here = ray.get_runtime_context().get_node_id()
    asked = {node["NodeID"]: _ask_node(ray, question, node["NodeID"]) for node in nodes if node["NodeID"] != here}
    if asked:
        ray.wait(list(asked.values()), num_returns=len(asked), timeout=seconds)
    answers = {here: question()}
    for node_id, ref in asked.items():
        try:
            answers[node_id] = ray.get(ref, timeout=0)
        except ray.exceptions.RayError:
            ray.cancel(ref, force=True)
            answers[node_id] = none
    return answers


def _ask_node(ray: Any, question: Callable[[], Any], node_id: str) -> Any:
    """Ask a node. Returns the ObjectRef of its answer."""
    strategies: Any = importlib.import_module("ray.util.scheduling_strategies")
    on_node = strategies.NodeAffinitySchedulingStrategy(node_id, soft=False)
    task = ray.remote(_answer).options(name="ask", num_cpus=0, max_retries=0, scheduling_strategy=on_node)
    return task.remote(question)


def _answer(question: Callable[[], Any]) -> Any:
    """Answer a question, as a Ray task. The question may be a partial function, which cannot be a Ray task itself."""
    return question()


@dataclass(frozen=True, slots=True)
class Sharing:
    """The most actors that share a GPU, and the reason, as a sentence."""

    actors: int
    reason: str

    def share(self, gpus: int, actors: int | None) -> float:
        """Return the share of a GPU that each actor gets: no smaller than necessary for `actors` on that many GPUs."""
        wanted = self.actors if actors is None else math.ceil(actors / gpus)
        return 1 / min((count for count in _COUNTS if wanted <= count <= self.actors), default=self.actors)


def choose_sharing(nodes: Sequence[GpuNode], actor_bytes: int, memory_fraction: float | None = None) -> Sharing:
    """Choose 4, 2 or 1 actors for each GPU: as many as fit on the smallest card and the fewest cores.

    If the cards are unknown, each GPU has one actor.

    Args:
        nodes: the machines with GPUs that the actors may be on.
        actor_bytes: the bytes of a card's memory that an actor needs.
        memory_fraction: the share of a card's memory that each actor may take, if a recipe sets it.
    """
    if not nodes or not all(node.cards for node in nodes):
        return Sharing(1, "Each GPU has one actor, because nvidia-smi does not tell the GPUs' memory here.")
    card = min((card for node in nodes for card in node.cards), key=lambda card: card.free)
    cores = min(node.cores / node.gpus for node in nodes)
    by_fraction = 1 / memory_fraction if memory_fraction else math.inf
    room = min(cores / CORES_PER_ACTOR, _SHARE_OF_FREE * card.free / actor_bytes, by_fraction)
    actors = next((count for count in _COUNTS if count <= room), 1)
    actors_text = "Each GPU has one actor" if actors == 1 else f"Up to {actors} actors share each GPU"
    return Sharing(
        actors,
        f"{actors_text} ({card.name}, {card.free / 1e9:.1f} GB free, {cores:g} CPU core{'s' * (cores != 1)} each): an "
        f"actor needs about {actor_bytes / 1e9:.1f} GB and {CORES_PER_ACTOR:g} cores.",
    )


# The amount of that resource that Ray takes for each actor with type X.
_TYPE_SHARE = 0.001

_POLL_SECONDS = 1.0
_TELL_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class ActorResources:
    """The resources of one actor, in Ray's units. `accelerator_type` is None for a CPU and for a GPU of any type."""

    num_gpus: float
    num_cpus: float
    accelerator_type: str | None

    def describe(self) -> str:
        """Describe the device for people and for the run's record, such as `1/2 T4 GPU` or `1 CPU`."""
        if self.num_gpus:
            return f"{Fraction(self.num_gpus)} {self.accelerator_type + ' ' if self.accelerator_type else ''}GPU"
        return f"{self.num_cpus:g} CPU"


# The resources of each actor, and the number of actors.
ActorPlan: TypeAlias = tuple[ActorResources, int]


def is_any_gpu(accelerator: str | None) -> bool:
    """Return whether an accelerator is `gpu` or `cuda`: a GPU of any type."""
    return accelerator is not None and accelerator.lower() in ("gpu", "cuda")


def plan_actors(
    cluster_resources: Mapping[str, float], accelerator: str | None, actors: int | None, gpus_per_actor: float = 1.0
) -> ActorPlan:
    """Choose the resources of each actor, and the number of actors.

    Ray itself would wait for ever for resources that a cluster lacks, so they are checked first.

    Args:
        cluster_resources: the totals by Ray's names, as in `Session.resources`.
        accelerator: None for a GPU each if the cluster has one, otherwise a CPU each; `"cpu"`; `"gpu"` or `"cuda"` for
            a GPU of any type; or Ray's name of an accelerator type, such as `"T4"`. If GPUs of several types are mixed,
            Ray does not tell the number of each type, so the actors of a type are limited only by the number of all
            GPUs.
        actors: the number of actors; None for as many as fit.
        gpus_per_actor: the share of a GPU that each actor gets: 1, 0.5 or 0.25. Ray divides only the count. Actors
            have to divide the memory themselves.

    Raises:
        ClusterError: the cluster lacks the requested resources.
    """
    any_gpu, accelerator = is_any_gpu(accelerator), None if is_any_gpu(accelerator) else accelerator
    cpus, gpus = int(cluster_resources.get("CPU", 0)), int(cluster_resources.get("GPU", 0))
    types = ", ".join(sorted(key.removeprefix(TYPE_PREFIX) for key in cluster_resources if TYPE_PREFIX in key))
    has = f"the cluster has {gpus} GPU{f' (of type {types})' if types else ''} and {cpus} CPU"
    if cpus < 1:
        raise ClusterError(f"Segmenting articles needs at least 1 CPU, but {has}.")
    if accelerator == "cpu" or (accelerator is None and gpus < 1 and not any_gpu):
        resources, fit = ActorResources(num_gpus=0, num_cpus=1, accelerator_type=None), cpus
    else:
        if gpus < 1 or (accelerator is not None and TYPE_PREFIX + accelerator not in cluster_resources):
            raise ClusterError(
                f"The run needs {accelerator or 'any'} GPUs, but {has}. Use machines with such GPUs, or another "
                "accelerator: `--accelerator cpu`, or one of the types that the cluster has."
            )
        # These actors take no CPUs, which the segmenting tasks need.
        resources, fit = ActorResources(gpus_per_actor, 0, accelerator), int(gpus / gpus_per_actor)
    actors = fit if actors is None else actors
    if actors > fit:
        raise ClusterError(
            f"The run needs {actors} actors with {resources.describe()} each, but {has}. "
            f"Use 1 to {fit} actors (`--actors`)."
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
    """Plan actors, see `plan_actors`, and wait for the machines of an autoscaled cluster if need be.

    Args:
        session: the session of the cluster.
        accelerator: see `plan_actors`. None takes what is there at once, so name the accelerator to wait for it.
        actors: see `plan_actors`. None requests one actor, and takes as many as fit once its machine is there.
        gpus_per_actor: see `plan_actors`.
        seconds: the most seconds to wait; 0 for no waiting.
        tell: a function that sometimes gets a line which says what is waited for.

    Raises:
        ClusterError: see `plan_actors`, after `seconds`.
    """
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
            # Repeated each time, since a cluster has only one request, which another run may replace or withdraw.
            autoscaler.request_resources(bundles=_bundles(accelerator, actors or 1, gpus_per_actor))
            try:
                return plan_actors(ray.cluster_resources(), accelerator, actors, gpus_per_actor)
            except ClusterError as error:
                now = time.monotonic()
                if now - started >= seconds:
                    raise ClusterError(f"{error} Waited {seconds:g} s for more machines.") from error
                if now - last_told >= _TELL_SECONDS:
                    last_told = now
                    tell(f"Waiting for machines: {now - started:.0f} s of at most {seconds:g} s. {error}")
            time.sleep(min(_POLL_SECONDS, max(seconds - (now - started), 0.01)))
    finally:
        # From here on, the actors themselves keep the machines.
        autoscaler.request_resources(bundles=[])


def _bundles(accelerator: str | None, actors: int, gpus_per_actor: float) -> list[dict[str, float]]:
    """Return all that the run needs, including machines that are there, which the autoscaler subtracts.

    One CPU is for segmenting.
    """
    cpu: dict[str, float] = {"CPU": 1}
    if accelerator is None or accelerator == "cpu":
        return [cpu] * actors
    if is_any_gpu(accelerator):
        return [cpu] + [{"GPU": gpus_per_actor}] * actors
    return [cpu] + [{"GPU": gpus_per_actor, TYPE_PREFIX + accelerator: _TYPE_SHARE}] * actors
