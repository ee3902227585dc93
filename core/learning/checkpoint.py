"""Trained policies and learners in files: tensors as safetensors, and their meaning as JSON. Nothing is unpickled."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from pydantic import TypeAdapter
from safetensors import SafetensorError

from nws.core.errors import ModelError
from nws.core.learning.policies import Policies, restore_policies
from nws.core.learning.training_config import Decoding, PolicyConfig
from nws.core.metrics.config import BertScoreConfig
from nws.core.metrics.fluency import Fluency
from nws.core.models import ModelRef
from nws.core.systems.importance import FloatArray
from nws.core.text.cutting import Units
from nws.core.text.language import Language
from nws.core.text.length import LengthUnit

_FORMAT = 3


@dataclass(frozen=True, slots=True)
class Reading:
    """How policies read an article, which is the same in training and in use.

    Attributes:
        language: the language of the articles.
        pipeline: the resolved segmentation.
        encoder: the resolved model that embeds sentences and chunks.
        bertscore: the BERTScore that measures how close a summary is to an anchor.
        units: the kind of the chunks.
        fluency: the metric of a summary's fluency, if they rerank by it.
        length_unit: the unit of the n that they were trained for.
    """

    language: Language
    pipeline: str
    encoder: ModelRef
    bertscore: BertScoreConfig
    units: Units = "chunks"
    fluency: Fluency | None = None
    length_unit: LengthUnit = "words"


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """Trained policies, with everything needed to write with them.

    Attributes:
        name: the name of their system, or of their part of it.
        config: the kind of the pair.
        lengths: the n that they were trained for.
        reading: the way in which they read an article.
        parameters: the parameters by name, float64.
        seed: the seed of the training, and of the draws when they write.
        made_by: the origin: run, updates, reward and so on.
    """

    name: str
    config: PolicyConfig
    lengths: tuple[int, ...]
    reading: Reading
    parameters: Mapping[str, FloatArray]
    seed: int
    made_by: Mapping[str, Any] = field(default_factory=dict)

    def policies(self) -> Policies:
        """Return the pair, ready to write.

        Raises:
            ModelError: the parameters are not those of such a pair.
        """
        return restore_policies(self.config, self.parameters)


def save_checkpoint(checkpoint: Checkpoint, folder: Path) -> None:
    """Write `policy.safetensors` and `policy.json` into `folder`, which is made if it is missing.

    Raises:
        OSError: the files cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    meaning = {
        "format": _FORMAT,
        "name": checkpoint.name,
        "policies": asdict(checkpoint.config),
        "lengths": checkpoint.lengths,
        "seed": checkpoint.seed,
        "reading": asdict(checkpoint.reading),
        "made_by": checkpoint.made_by,
    }
    tensors = {name: torch.from_numpy(value) for name, value in checkpoint.parameters.items()}
    (folder / "policy.safetensors").write_bytes(to_bytes(tensors))
    (folder / "policy.json").write_text(json.dumps(meaning, indent=2) + "\n", encoding="utf-8")


def load_checkpoint(folder: Path) -> Checkpoint:
    """Load the checkpoint that `save_checkpoint` wrote.

    Raises:
        ModelError: there is no checkpoint, or another version of NWS wrote it.
    """
    try:
        meaning = json.loads((folder / "policy.json").read_text(encoding="utf-8"))
        tensors = from_bytes((folder / "policy.safetensors").read_bytes())
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder} has no policies (policy.json, policy.safetensors): {error}") from error
    if not isinstance(meaning, dict) or meaning.get("format") != _FORMAT:
        raise ModelError(f"The policies in {folder} were written by another version of NWS. Export them again.")
    try:
        config, lengths = PolicyConfig(**meaning["policies"]), tuple(meaning["lengths"])
        reading = TypeAdapter(Reading).validate_python(meaning["reading"])
        parameters = {name: value.numpy() for name, value in tensors.items()}
        name, seed, made_by = meaning["name"], meaning["seed"], meaning["made_by"]
        checkpoint = Checkpoint(name, config, lengths, reading, parameters, seed, made_by)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{folder / 'policy.json'} is damaged: {error!r}. Export the policies again.") from error
    checkpoint.policies()
    return checkpoint


def save_decoding(decoding: Decoding, folder: Path) -> None:
    """Write `decoding.json` into `folder`.

    Raises:
        OSError: the file cannot be written.
    """
    (folder / "decoding.json").write_text(json.dumps(asdict(decoding), indent=2) + "\n", encoding="utf-8")


def load_decoding(folder: Path) -> Decoding:
    """Load the decoding that `save_decoding` wrote.

    Raises:
        ModelError: there is no decoding, or another version of NWS wrote it.
    """
    try:
        return Decoding(**json.loads((folder / "decoding.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise ModelError(
            f"{folder} does not say how its policies write (decoding.json): {error!r}. Export them again."
        ) from error


def to_bytes(tensors: Mapping[str, torch.Tensor]) -> bytes:
    """Turn tensors by name, such as a learner's state, into the bytes of a safetensors file."""
    return safetensors.torch.save({name: value.contiguous() for name, value in tensors.items()})


def from_bytes(content: bytes) -> dict[str, torch.Tensor]:
    """Read the tensors in the bytes of a safetensors file, see `to_bytes`.

    Raises:
        ModelError: the bytes are not a safetensors file.
    """
    try:
        return safetensors.torch.load(content)
    except SafetensorError as error:
        raise ModelError(f"The stored tensors cannot be read: {error}") from error
