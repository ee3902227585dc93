"""Trained policies and learners in files: tensors as safetensors, what they mean as JSON. Nothing is unpickled."""

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
    """How policies read an article: the same in training and in use.

    Attributes:
        language: of the articles.
        pipeline: the resolved segmentation.
        encoder: resolved; embeds sentences and chunks.
        bertscore: measures how close a summary is to an anchor (`nws.core.learning.policy_system`).
        units: what a chunk is.
        fluency: measures how fluent a summary is, where they rerank by it.
        length_unit: what the n count that they were trained for.
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
        name: of their system, or of their part of it.
        config: which pair.
        lengths: the n they were trained for.
        reading: how they see an article.
        parameters: by name, float64.
        seed: of the training, and of what is drawn when they write.
        made_by: what made them: run, seed, updates, reward and the like.
    """

    name: str
    config: PolicyConfig
    lengths: tuple[int, ...]
    reading: Reading
    parameters: Mapping[str, FloatArray]
    seed: int
    made_by: Mapping[str, Any] = field(default_factory=dict)

    def policies(self) -> Policies:
        """The pair, ready to write.

        Raises:
            ModelError: the parameters are not those of such a pair.
        """
        return restore_policies(self.config, self.parameters)


def save_checkpoint(checkpoint: Checkpoint, folder: Path) -> None:
    """Write `policy.safetensors` and `policy.json` into `folder`, which is made if need be.

    Raises:
        OSError: it cannot be written.
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
    """What `save_checkpoint` wrote.

    Raises:
        ModelError: there is no checkpoint, or it is not one of this version of NWS.
    """
    try:
        meaning = json.loads((folder / "policy.json").read_text(encoding="utf-8"))
        tensors = from_bytes((folder / "policy.safetensors").read_bytes())
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder} holds no policies (policy.json, policy.safetensors): {error}") from error
    if not isinstance(meaning, dict) or meaning.get("format") != _FORMAT:
        raise ModelError(f"The policies in {folder} were written by another version of NWS: export them again.")
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
        OSError: it cannot be written.
    """
    (folder / "decoding.json").write_text(json.dumps(asdict(decoding), indent=2) + "\n", encoding="utf-8")


def load_decoding(folder: Path) -> Decoding:
    """What `save_decoding` wrote.

    Raises:
        ModelError: it is not there, or no decoding of this version of NWS.
    """
    try:
        return Decoding(**json.loads((folder / "decoding.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise ModelError(
            f"{folder} does not say how its policies write (decoding.json): {error!r}. Export them again."
        ) from error


def to_bytes(tensors: Mapping[str, torch.Tensor]) -> bytes:
    """Tensors by name, such as a learner's state, as one safetensors file."""
    return safetensors.torch.save({name: value.contiguous() for name, value in tensors.items()})


def from_bytes(content: bytes) -> dict[str, torch.Tensor]:
    """The tensors that `to_bytes` was given.

    Raises:
        ModelError: it is not a safetensors file.
    """
    try:
        return safetensors.torch.load(content)
    except SafetensorError as error:
        raise ModelError(f"The stored tensors cannot be read: {error}") from error
