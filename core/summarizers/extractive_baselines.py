"""The extractive baselines by name. A name stands for the same method in every run; the run records its encoder."""

from dataclasses import fields
from typing import Any

from core.names import Registry
from core.summarizers.rulers import RULERS
from core.summarizers.systems import System

# Each a frozen dataclass that follows `System`.
BASELINES: Registry[Any] = Registry(
    "system",
    {
        "lead3": "core.summarizers.lead:Lead3",
        "lead2+chunks": "core.summarizers.chunk_systems:LeadChunks",
        "lead3-search": "core.summarizers.chunk_systems:LeadSearch",
        **dict.fromkeys(("textrank", "centroid", "textrank-words"), "core.summarizers.chunk_systems:ChunkSystem"),
        **dict.fromkeys(("lexrank", "position"), "core.summarizers.chunk_systems:ChunkSystem"),
        "window-oracle": "core.summarizers.oracles:WindowOracle",
        "oracle": "core.summarizers.oracles:Oracle",
        "lead": "core.summarizers.lead:Lead",
        "random": "core.summarizers.random_controls:Random",
        "random-words": "core.summarizers.random_controls:RandomWords",
        "reference-words": "core.summarizers.rulers:ReferenceWords",
        "person": "core.summarizers.rulers:Person",
        "other-article": "core.summarizers.rulers:OtherArticle",
    },
)
# What is drawn at random hardly ever wins, `window-oracle` is dear, and rulers do not write from the article.
_NO_RIVALS = ("oracle", "window-oracle", "random-words", *RULERS)


def make_baseline(name: str, encoder: str, seed: int) -> System:
    """The system of a name in `BASELINES`, with what the fields of its class ask for.

    Args:
        name: becomes the fields `name` and `importance`.
        encoder: the encoder's name, for the field `encoder`.
        seed: for the field `seed`.
    """
    given: dict[str, Any] = {"name": name, "importance": name, "encoder": encoder, "seed": seed}
    if name == "oracle":
        # All the others, whether the run has them or not: the oracle's numbers must not depend on that. It tries some
        # windows by itself; all would be too dear.
        given["rivals"] = tuple(make_baseline(rival, encoder, seed) for rival in BASELINES if rival not in _NO_RIVALS)
    kind = BASELINES[name]
    system: System = kind(**{field.name: given[field.name] for field in fields(kind)})
    return system
