"""The GPUs of a cluster, asked of nvidia-smi before any actor holds one, and how many actors share one."""

import importlib
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    found = any(devices.glob("nvidia[0-9]*")) or (devices / "kfd").exists() or (devices / "dxg").exists()
    return sys.platform == "linux" and not found


def cards_here(seconds: float = 5.0) -> tuple[Card, ...]:
    """The cards of this machine that CUDA_VISIBLE_DEVICES leaves visible; none where nvidia-smi does not tell.

    It answers within tenths of a second.
    """
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    only = ("-i", visible) if visible else ()
    try:
        done = subprocess.run(
            (*_QUERY, *only),
            capture_output=True,
            text=True,
            timeout=seconds,
            check=True,
            stdin=subprocess.DEVNULL,
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
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != 4 or fields[3] == "Enabled":
            return ()
        name, free, capability, _ = fields
        major, _, minor = capability.partition(".")
        if not (free.isdecimal() and major.isdecimal() and minor.isdecimal()):
            return ()
        cards.append(Card(name, int(free) * _MIB, (int(major), int(minor))))
    return tuple(cards)


def gpu_nodes(accelerator: str | None, seconds: float = 10.0) -> list[GpuNode]:
    """The machines of the cluster that have GPUs, those of type `accelerator` if one is named.

    Each is asked by a task that takes no GPU, and starts a process for it within 2 s; one that does not answer in time
    has no known cards.
    """
    ray: Any = importlib.import_module("ray")
    nodes = [node for node in ray.nodes() if node["Alive"] and _has_gpu(node["Resources"], accelerator)]
    here = ray.get_runtime_context().get_node_id()
    cards = _ask(ray, [node["NodeID"] for node in nodes if node["NodeID"] != here], seconds)
    if any(node["NodeID"] == here for node in nodes):
        cards[here] = cards_here()
    return [
        GpuNode(int(node["Resources"].get("CPU", 0)), int(node["Resources"]["GPU"]), cards.get(node["NodeID"], ()))
        for node in nodes
    ]


def _has_gpu(resources: dict[str, float], accelerator: str | None) -> bool:
    return resources.get("GPU", 0) >= 1 and (accelerator is None or TYPE_PREFIX + accelerator in resources)


def _ask(ray: Any, ids: Sequence[str], seconds: float) -> dict[str, tuple[Card, ...]]:
    strategies: Any = importlib.import_module("ray.util.scheduling_strategies")
    task = ray.remote(cards_here)
    refs = {
        task.options(
            name="cards",
            num_cpus=0,
            max_retries=0,
            scheduling_strategy=strategies.NodeAffinitySchedulingStrategy(node_id, soft=False),
        ).remote(): node_id
        for node_id in ids
    }
    if not refs:
        return {}
    answered, late = ray.wait(list(refs), num_returns=len(refs), timeout=seconds)
    for ref in late:
        ray.cancel(ref, force=True)
    found = {}
    for ref in answered:
        try:
            found[refs[ref]] = ray.get(ref)
        except ray.exceptions.RayError:  # its machine is gone
            continue
    return found


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
    actors = next(
        count
        for count in _COUNTS
        if count == 1
        or (
            count * CORES_PER_ACTOR <= cores
            and count * actor_bytes <= _SHARE_OF_FREE * card.free
            and count * (memory_fraction or 0) <= 1
        )
    )
    who = "One actor has each GPU" if actors == 1 else f"Up to {actors} actors share each GPU"
    return Sharing(
        actors,
        f"{who} ({card.name}, {card.free / 1e9:.1f} GB free, {cores:g} CPU core{'s' * (cores != 1)} each): an actor "
        f"needs about {actor_bytes / 1e9:.1f} GB and {CORES_PER_ACTOR:g} cores.",
    )
