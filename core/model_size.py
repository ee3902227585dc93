"""How many parameters a model has, from the files in its folder: without loading it, and without importing torch."""

import json
import math
from pathlib import Path

# What a number takes in files that do not tell it tensor by tensor, by the `dtype` of their config.
_HALVES = ("float16", "bfloat16")


def parameters(folder: Path) -> int:
    """About how many parameters a model has: those of its safetensors files, or else of its *.bin files by their size.

    Files in folders below count too: sentence-transformers has layers of its own there.
    """
    if exact := sum(map(_in_safetensors, folder.rglob("*.safetensors"))):
        return exact
    size = sum(path.stat().st_size for path in folder.rglob("*.bin"))
    return size // (2 if _dtype(folder) in _HALVES else 4)


def _in_safetensors(path: Path) -> int:
    # 8 bytes that say how long the header is, little-endian, then the header: JSON.
    with path.open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return sum(math.prod(tensor["shape"]) for name, tensor in header.items() if name != "__metadata__")


def _dtype(folder: Path) -> str | None:
    config = folder / "config.json"
    values: dict[str, str | None] = json.loads(config.read_text(encoding="utf-8")) if config.is_file() else {}
    return values.get("dtype") or values.get("torch_dtype")
