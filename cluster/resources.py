"""What each actor pins, how many actors fit and share a GPU: decided before the first one is asked for."""

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

# Ray counts the nodes that have an accelerator of type X as a resource of this name with X behind it.
TYPE_PREFIX = "accelerator_type:"
_QUERY = ("nvidia-smi", "--query-gpu=name,memory.free,compute_cap,mig.mode.current", "--format=csv,noheader,nounits")
_MIB = 2**20
# Ray divides only the count of GPUs, and other parts would strand what is left of each.
_COUNTS = (4, 2, 1)
# An actor has a core to itself, and the tasks that segment for it take half of one: on an H100 with 16 cores, 4 actors
# took 184 s of CPU time and their segmenting 98 s.
CORES_PER_ACTOR = 1.5
# The rest is for other processes on the card, and for what an estimate of an actor's bytes forgets.
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
    """A machine with GPUs: its CPU cores and GPUs, as Ray counts them, and its cards; none where they are not known."""

    cores: int
    gpus: int
    cards: tuple[Card, ...]


def has_no_gpu() -> bool:
    """Whether this machine surely has no GPU: no device of NVIDIA, AMD or Windows' Linux is there. It takes no time."""
    devices = Path("/dev")
    has_device = any(devices.glob("nvidia[0-9]*")) or (devices / "kfd").exists() or (devices / "dxg").exists()
    return sys.platform == "linux" and not has_device


def cards_here(seconds: float = 5.0) -> tuple[Card, ...]:
    """The cards of this machine that CUDA_VISIBLE_DEVICES leaves visible; none where nvidia-smi does not tell.

    It answers within tenths of a second.
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
    """The cards in an answer of nvidia-smi; none if it does not tell everything of each.

    The memory of a card that is cut into MIG slices is not that of a slice.
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
    """The machines of the cluster that have GPUs, those of type `accelerator` if one is named.

    Each is asked by a task that takes no GPU, and starts a process for it within 2 s; one that does not answer in time
    has no known cards.
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
    """The answer of every machine of the cluster to a picklable question; "" of one that does not answer in time."""
    ray: Any = importlib.import_module("ray")
    return list(_ask(ray, question, [node for node in ray.nodes() if node["Alive"]], "", seconds).values())


def _ask(
    ray: Any, question: Callable[[], Answer], nodes: Sequence[Any], none: Answer, seconds: float
) -> dict[str, Answer]:
    """The answer of each node, by its id: `none` of one that is gone or late. This one needs no task."""
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
    """The ObjectRef of a node's answer."""
    strategies: Any = importlib.import_module("ray.util.scheduling_strategies")
    on_node = strategies.NodeAffinitySchedulingStrategy(node_id, soft=False)
    task = ray.remote(_answer).options(name="ask", num_cpus=0, max_retries=0, scheduling_strategy=on_node)
    return task.remote(question)


def _answer(question: Callable[[], Any]) -> Any:
    """The Ray task. A question may be a partial function, which Ray makes no task of."""
    return question()


@dataclass(frozen=True, slots=True)
class Sharing:
    """How many actors share a GPU at most, and why, as a sentence."""

    actors: int
    reason: str

    def share(self, gpus: int, actors: int | None) -> float:
        """The part of a GPU that each actor has: no smaller than `actors` of them on so many GPUs need."""
        wanted = self.actors if actors is None else math.ceil(actors / gpus)
        return 1 / min((count for count in _COUNTS if wanted <= count <= self.actors), default=self.actors)


def choose_sharing(nodes: Sequence[GpuNode], actor_bytes: int, memory_fraction: float | None = None) -> Sharing:
    """4, 2 or 1 actors to a GPU: as many as the smallest card and the fewest cores have room for.

    One where the cards are not known.

    Args:
        nodes: the machines with GPUs that the actors may be on.
        actor_bytes: of a card's memory that an actor needs.
        memory_fraction: of a card's memory that each actor may take, where a recipe sets it.
    """
    if not nodes or not all(node.cards for node in nodes):
        return Sharing(1, "One actor has each GPU: nvidia-smi does not tell here how much memory the GPUs have.")
    card = min((card for node in nodes for card in node.cards), key=lambda card: card.free)
    cores = min(node.cores / node.gpus for node in nodes)
    by_fraction = 1 / memory_fraction if memory_fraction else math.inf
    room = min(cores / CORES_PER_ACTOR, _SHARE_OF_FREE * card.free / actor_bytes, by_fraction)
    actors = next((count for count in _COUNTS if count <= room), 1)
    actors_text = "One actor has each GPU" if actors == 1 else f"Up to {actors} actors share each GPU"
    return Sharing(
        actors,
        f"{actors_text} ({card.name}, {card.free / 1e9:.1f} GB free, {cores:g} CPU core{'s' * (cores != 1)} each): an "
        f"actor needs about {actor_bytes / 1e9:.1f} GB and {CORES_PER_ACTOR:g} cores.",
    )


# What Ray takes of that resource for each actor that names X.
_TYPE_SHARE = 0.001

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
            return f"{Fraction(self.num_gpus)} {self.accelerator_type + ' ' if self.accelerator_type else ''}GPU"
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
        ClusterError: the cluster does not have what is asked for.
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
                f"The run asks for {accelerator or 'any'} GPUs, but {has}. Use a machine that has them, or another "
                "accelerator: `--accelerator cpu`, or one of the types that are there."
            )
        # No CPU for these: the CPUs are left to the segmenting tasks.
        resources, fit = ActorResources(gpus_per_actor, 0, accelerator), int(gpus / gpus_per_actor)
    actors = fit if actors is None else actors
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
        ClusterError: as `plan_actors`, after `seconds`.
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
