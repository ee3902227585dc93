"""What the GPUs of a cluster are: asked of nvidia-smi, before any actor holds one."""

import importlib
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# Ray counts the nodes that have an accelerator of type X as a resource of this name with X behind it.
TYPE_PREFIX = "accelerator_type:"
# nvidia-smi answers within tenths of a second, and a machine of a cluster, which starts a process for it, within 2 s.
_SMI_SECONDS = 5.0
_NODE_SECONDS = 10.0
_QUERY = ("nvidia-smi", "--query-gpu=name,memory.free,compute_cap,mig.mode.current", "--format=csv,noheader,nounits")
_MIB = 2**20


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


def cards_here() -> tuple[Card, ...]:
    """The cards of this machine that CUDA_VISIBLE_DEVICES leaves visible; none where nvidia-smi does not tell."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    only = ("-i", visible) if visible else ()
    try:
        done = subprocess.run(
            (*_QUERY, *only), capture_output=True, text=True, timeout=_SMI_SECONDS, check=True, stdin=subprocess.DEVNULL
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


def gpu_nodes(accelerator: str | None) -> list[GpuNode]:
    """The machines of the cluster that have GPUs, those of type `accelerator` if one is named.

    Each is asked by a task that takes no GPU; one that does not answer in time has no known cards.
    """
    ray: Any = importlib.import_module("ray")
    nodes = [node for node in ray.nodes() if node["Alive"] and _has_gpu(node["Resources"], accelerator)]
    here = ray.get_runtime_context().get_node_id()
    cards = _ask(ray, [node["NodeID"] for node in nodes if node["NodeID"] != here])
    if any(node["NodeID"] == here for node in nodes):
        cards[here] = cards_here()
    return [
        GpuNode(int(node["Resources"].get("CPU", 0)), int(node["Resources"]["GPU"]), cards.get(node["NodeID"], ()))
        for node in nodes
    ]


def _has_gpu(resources: dict[str, float], accelerator: str | None) -> bool:
    return resources.get("GPU", 0) >= 1 and (accelerator is None or TYPE_PREFIX + accelerator in resources)


def _ask(ray: Any, ids: Sequence[str]) -> dict[str, tuple[Card, ...]]:
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
    answered, late = ray.wait(list(refs), num_returns=len(refs), timeout=_NODE_SECONDS)
    for ref in late:
        ray.cancel(ref, force=True)
    found = {}
    for ref in answered:
        try:
            found[refs[ref]] = ray.get(ref)
        except ray.exceptions.RayError:  # its machine is gone
            continue
    return found
