"""The extractive baselines by name. A name stands for the same method in every run; the run records its encoder."""

from collections.abc import Callable

from core.summarizers.chunk_search import LeadSearch
from core.summarizers.chunk_systems import ChunkSystem, LeadChunks
from core.summarizers.lead import Lead, Lead3
from core.summarizers.oracles import Oracle, WindowOracle
from core.summarizers.random_controls import Random, RandomWords
from core.summarizers.systems import System


def _oracle(encoder: str, seed: int) -> Oracle:
    # All the others, whether the run has them or not: the oracle's numbers must not depend on that. It tries some
    # windows by itself; all would be too dear. Words drawn at random came later: older oracles did not know them.
    rivals = (make for name, make in BASELINES.items() if name not in ("oracle", "window-oracle", "random-words"))
    return Oracle(tuple(make(encoder, seed) for make in rivals))


# From the encoder's name and the seed to the system.
BASELINES: dict[str, Callable[[str, int], System]] = {
    "lead3": lambda encoder, seed: Lead3(),
    "lead2+chunks": lambda encoder, seed: LeadChunks(encoder),
    "lead3-search": lambda encoder, seed: LeadSearch(),
    "textrank": lambda encoder, seed: ChunkSystem(encoder, "textrank", "textrank"),
    "centroid": lambda encoder, seed: ChunkSystem(encoder, "centroid", "centroid"),
    "textrank-words": lambda encoder, seed: ChunkSystem(encoder, "textrank-words", "textrank-words"),
    "lexrank": lambda encoder, seed: ChunkSystem(encoder, "lexrank", "lexrank"),
    "position": lambda encoder, seed: ChunkSystem(encoder, "position", "position"),
    "window-oracle": lambda encoder, seed: WindowOracle(),
    "oracle": _oracle,
    "lead": lambda encoder, seed: Lead(),
    "random": lambda encoder, seed: Random(seed),
    "random-words": lambda encoder, seed: RandomWords(seed),
}
