"""How many actors share a GPU: from its memory, its machine's cores, and what an actor needs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cluster.cards import GpuNode

# Ray divides only the count of GPUs, and other parts would strand what is left of each.
_COUNTS = (4, 2, 1)
# An actor has a core to itself, and the tasks that segment for it take half of one: on an H100 with 16 cores, 4 actors
# took 184 s of CPU time and their segmenting 98 s.
CORES_PER_ACTOR = 1.5
# The rest is for other processes on the card, and for what an estimate of an actor's bytes forgets.
_SHARE_OF_FREE = 0.9


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
