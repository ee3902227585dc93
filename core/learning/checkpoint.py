"""Policies and learners in files: tensors as safetensors, what they mean as JSON. Nothing is unpickled."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import safetensors.torch
import torch
from safetensors import SafetensorError

from core.errors import ModelError
from core.learning.policies import FeaturePolicies, PolicyConfig, restore_policies
from core.learning.study_policies import StudyPolicies
from core.summarizers.importance import FloatArray

_FORMAT = 1


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """Trained policies, and what they were trained on.

    Attributes:
        config: which pair.
        lengths: the n they were trained for.
        encoder: name of the encoder whose embeddings they read.
        parameters: by name, float64.
    """

    config: PolicyConfig
    lengths: tuple[int, ...]
    encoder: str
    parameters: Mapping[str, FloatArray]

    def policies(self) -> FeaturePolicies | StudyPolicies:
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
        "policies": asdict(checkpoint.config),
        "lengths": checkpoint.lengths,
        "encoder": checkpoint.encoder,
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
        raise ModelError(f"The policies in {folder} were written by another version of NWS: train them again.")
    checkpoint = Checkpoint(
        config=PolicyConfig(**meaning["policies"]),
        lengths=tuple(meaning["lengths"]),
        encoder=meaning["encoder"],
        parameters={name: value.numpy() for name, value in tensors.items()},
    )
    checkpoint.policies()
    return checkpoint


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
