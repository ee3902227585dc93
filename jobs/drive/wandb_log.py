"""A run in Weights & Biases, by its own settings (`WANDB_MODE=offline`, `WANDB_PROJECT`); project `nws`."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import wandb

from jobs.drive.tracked_scalars import Scalar
from jobs.store import RunInfo


class WandbLog:
    """Resumes the run of this id. The newest step of each name is kept as `NAME/step`; only later ones are logged.

    Offline nothing can be read back: each driver of a run leaves a folder of its own, with all its numbers.
    """

    failures: ClassVar[tuple[type[Exception], ...]] = (OSError, wandb.Error)

    def __init__(self, run: RunInfo) -> None:
        self._run: Any = wandb.init(
            project=os.environ.get("WANDB_PROJECT", "nws"),
            id=run.id,
            name=run.name or run.id,
            notes=run.note,
            job_type=run.job,
            resume="allow",
            settings=wandb.Settings(console="off", quiet=True),
        )
        self._newest: dict[str, int] = {}

    def describe(self, facts: Mapping[str, str]) -> None:
        self._run.config.update(dict(facts), allow_val_change=True)

    def log(self, scalars: Sequence[Scalar]) -> None:
        for scalar in scalars:
            step = f"{scalar.name}/step"
            if scalar.name not in self._newest:
                self._run.define_metric(scalar.name, step_metric=step)
                self._newest[scalar.name] = self._run.summary.get(step, -1)
            if scalar.step > self._newest[scalar.name]:
                self._newest[scalar.name] = scalar.step
                self._run.log({scalar.name: scalar.value, step: scalar.step})

    def close(self, done: bool) -> None:
        self._run.finish(exit_code=0 if done else 1)

    def where(self) -> str:
        """Online the address of the run. Offline there is none, but a folder that can be sent later."""
        if self._run.offline:
            return f"Weights & Biases: wandb sync {self._run.settings.sync_dir}"
        return f"Weights & Biases: {self._run.url}"
