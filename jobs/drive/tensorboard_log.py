"""A run in TensorBoard: event files in the folder `tensorboard/RUN`."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter

from jobs.drive.tracked_scalars import Scalar
from jobs.store import RunInfo

FOLDER = Path("tensorboard")


class TensorBoardLog:
    """Writes a new event file each time; what earlier ones hold is not written again.

    TensorBoard keeps float32, so a number is known by its name, its step and its float32 value.
    """

    failures: ClassVar[tuple[type[Exception], ...]] = (OSError,)

    def __init__(self, run: RunInfo) -> None:
        folder = FOLDER / run.id
        self._known, self._is_new = _known(folder), not folder.exists()
        self._writer = SummaryWriter(str(folder))

    def describe(self, facts: Mapping[str, str]) -> None:
        """As JSON among the texts, once."""
        if self._is_new:
            self._writer.add_text("made_by", f"```\n{json.dumps(facts, indent=2, ensure_ascii=False)}\n```")

    def log(self, scalars: Sequence[Scalar]) -> None:
        for scalar in scalars:
            key, value = (scalar.name, scalar.step), float(np.float32(scalar.value))
            if self._known.get(key) != value:
                self._known[key] = value
                self._writer.add_scalar(scalar.name, scalar.value, scalar.step)
        self._writer.flush()

    def close(self, done: bool) -> None:
        self._writer.close()

    def where(self) -> str:
        return f"TensorBoard: tensorboard --logdir {FOLDER}"


def _known(folder: Path) -> dict[tuple[str, int], float]:
    if not folder.is_dir():
        return {}
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()
    return {(tag, event.step): event.value for tag in events.Tags()["scalars"] for event in events.Scalars(tag)}
