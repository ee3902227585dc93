"""The trackers that a run is logged to while it works, besides the store. A tracker that fails does not end the run."""

import importlib.util
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

from nws.core.errors import RecipeError, did_you_mean
from nws.jobs.installation import how_to_install
from nws.jobs.store import RunInfo

if TYPE_CHECKING:  # importing torch would delay every sweep
    from nws.core.learning.learner import Updated

# A name, a step (an update of a training, from 0, or n of a curve), and a value.
Scalar: TypeAlias = tuple[str, int, float]

# The characters that TensorBoard or MLflow does not accept in a name.
_FORBIDDEN_IN_NAMES = re.compile(r"[^-/\w.]")
# The user name and password in an address.
_USER = re.compile(r"//[^/@\s]+@")


# One run in a tracker. `close` ends the run there, as done or as one that may be resumed, and returns a text that says
# where the run is.
Tracker: TypeAlias = "TensorBoard | Mlflow | Wandb"


class TensorBoard:
    """Event files in the folder `tensorboard/RUN`, one for each driver."""

    def __init__(self, run: RunInfo) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(f"tensorboard/{run.id}")
        self._writer.add_text("made_by", f"```\n{json.dumps(_facts(run), indent=2, ensure_ascii=False)}\n```")

    def log(self, scalars: Sequence[Scalar]) -> None:
        for name, step, value in scalars:
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self, done: bool) -> str:
        self._writer.close()
        return "TensorBoard: tensorboard --logdir tensorboard"


class Mlflow:
    """A run at `MLFLOW_TRACKING_URI`, or in `mlflow.db` in the current folder. A resumed run has the same tag."""

    def __init__(self, run: RunInfo) -> None:
        # Set before the import, which reads them: an unreachable server must not hold up the run for minutes.
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "15")
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
        from mlflow import MlflowClient
        from mlflow.entities import Param

        self._client = MlflowClient()
        self._experiment = name = os.environ.get("MLFLOW_EXPERIMENT_NAME", "nws")
        existing = self._client.get_experiment_by_name(name)
        experiment = existing.experiment_id if existing else self._client.create_experiment(name)
        tags = {"nws.run": run.id, "job": run.job, **({"mlflow.note.content": run.note} if run.note else {})}
        self._id = self._client.create_run(experiment, tags=tags, run_name=run.name or run.id).info.run_id
        self._client.log_batch(self._id, params=[Param(name, value) for name, value in _facts(run).items()])

    def log(self, scalars: Sequence[Scalar]) -> None:
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        self._client.log_batch(self._id, [Metric(name, value, now, step) for name, step, value in scalars])

    def close(self, done: bool) -> str:
        self._client.set_terminated(self._id, "FINISHED" if done else "KILLED")
        uri = self._client.tracking_uri
        if uri.startswith("http"):
            return f"MLflow: experiment {self._experiment} at {uri}"
        return f"MLflow: mlflow ui --backend-store-uri {uri}"


class Wandb:
    """A run in Weights & Biases, with W&B's settings (`WANDB_MODE=offline`, `WANDB_PROJECT`). A resumed run goes on."""

    def __init__(self, run: RunInfo) -> None:
        import wandb

        project = os.environ.get("WANDB_PROJECT", "nws")
        called = {"id": run.id, "name": run.name or run.id, "notes": run.note, "job_type": run.job}
        settings = wandb.Settings(console="off", quiet=True)
        self._run: Any = wandb.init(project=project, **called, resume="allow", settings=settings)
        self._run.config.update(_facts(run), allow_val_change=True)
        self._names: set[str] = set()

    def log(self, scalars: Sequence[Scalar]) -> None:
        for name, step, value in scalars:
            if name not in self._names:
                self._run.define_metric(name, step_metric=f"{name}/step")
                self._names.add(name)
            self._run.log({name: value, f"{name}/step": step})

    def close(self, done: bool) -> str:
        self._run.finish(exit_code=0 if done else 1)
        where = f"wandb sync {self._run.settings.sync_dir}" if self._run.offline else self._run.url
        return f"Weights & Biases: {where}"


TRACKERS: dict[str, type[Tracker]] = {"tensorboard": TensorBoard, "mlflow": Mlflow, "wandb": Wandb}


def require_trackers(names: Iterable[str]) -> None:
    """Refuse trackers that cannot be used, before a run begins.

    Raises:
        RecipeError: there is no such tracker, or its package is not installed.
    """
    for name in names:
        if name not in TRACKERS:
            choices = f"The trackers are {', '.join(TRACKERS)}.{did_you_mean(name, TRACKERS)}"
            raise RecipeError(f"There is no tracker {name!r}. {choices}", settings=("log_to",))
        if importlib.util.find_spec(name) is None:
            raise RecipeError(f"{name} is not installed. {how_to_install(name)}", settings=("log_to",))


class Trackers(AbstractContextManager["Trackers", None]):
    """The trackers of a run, for a `with` block. A tracker that fails causes one warning, and is not used again.

    Args:
        names: the names of the trackers, see `require_trackers`.
        run: the run as it is now.
        say: a function that gets the warnings and, in the end, a line for each tracker that says where the run is.
    """

    def __init__(self, names: Iterable[str], run: RunInfo, say: Callable[[str], None]) -> None:
        self._say = say
        self._opened: dict[str, Tracker] = {}
        for name in dict.fromkeys(names):
            with self._without_failing(name):
                self._opened[name] = TRACKERS[name](run)

    def log(self, scalars: Iterable[Scalar]) -> None:
        """Log numbers to all trackers."""
        listed = list(scalars) if self._opened else []
        for name, tracker in list(self._opened.items()):
            with self._without_failing(name):
                tracker.log(listed)

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        for name, tracker in list(self._opened.items()):
            with self._without_failing(name):
                self._say(_USER.sub("//", tracker.close(done=error is None)))

    @contextmanager
    def _without_failing(self, name: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # whatever a tracker's library raises
            self._opened.pop(name, None)
            reason = _USER.sub("//", " ".join(f"{type(error).__name__}: {error}".split()))[:300]
            self._say(
                f"Warning: {name} failed, so nothing more is logged to it ({reason}). The run goes on, and the store "
                "has all its results."
            )


def update_scalars(updates: "Iterable[Updated]") -> Iterator[Scalar]:
    """Yield a learning curve for each number of the table `updates`: `training/POLICY/reward` and so on, by update."""
    for updated in updates:
        numbers = asdict(updated.statistics)
        update = numbers.pop("update")
        for name, value in numbers.items():
            yield _safe(f"training/{updated.learner.training.name}/{name}"), update, value


def curve_scalars(means: Mapping[tuple[str, str, int], Mapping[str, float]]) -> Iterator[Scalar]:
    """Yield mean scores by n: `bertscore_f1/DATASET/SYSTEM` and so on, and the number of `articles`; n = 0 is uncut."""
    for (dataset, system, n), numbers in means.items():
        for name, value in numbers.items():
            yield _safe(f"{name}/{dataset}/{system}"), n, value


def _facts(run: RunInfo) -> dict[str, str]:
    """Return seed, code, recipe, revisions and signatures of a run, as texts by dotted names."""
    parts = ("job", "seed", "code_version", "recipe", "revisions", "signatures")
    return dict(_flat({part: getattr(run, part) for part in parts}))


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield _safe(f"{prefix}{key}"), value if isinstance(value, str) else json.dumps(value)


def _safe(name: str) -> str:
    return _FORBIDDEN_IN_NAMES.sub("_", name.replace("|", "/"))
