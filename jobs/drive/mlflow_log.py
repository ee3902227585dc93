"""A run in MLflow: at `MLFLOW_TRACKING_URI`, or in `mlflow.db` in the current folder; experiment `nws`."""

import os
import time
from collections.abc import Mapping, Sequence
from typing import ClassVar

# Read when they are needed: a server that is away must not hold up the run for minutes.
os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "15")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")

from mlflow import MlflowClient
from mlflow.entities import Metric, Param
from mlflow.exceptions import MlflowException

from jobs.drive.tracked_scalars import Scalar
from jobs.store import RunInfo

_TAG = "nws.run"
_AT_ONCE = 1_000
_MOST_PARAMS = 100
_LONGEST = 6_000


class MlflowLog:
    """Resumes the MLflow run that has this run's id as its tag `nws.run`, or makes one."""

    failures: ClassVar[tuple[type[Exception], ...]] = (OSError, MlflowException)

    def __init__(self, run: RunInfo) -> None:
        self._client = MlflowClient()
        self._experiment = name = os.environ.get("MLFLOW_EXPERIMENT_NAME", "nws")
        known = self._client.get_experiment_by_name(name)
        experiment = known.experiment_id if known else self._client.create_experiment(name)
        runs = self._client.search_runs([experiment], f"tags.`{_TAG}` = '{run.id}'")
        if runs:
            self._client.update_run(runs[0].info.run_id, status="RUNNING")
        tags = {_TAG: run.id, "job": run.job, **({"mlflow.note.content": run.note} if run.note else {})}
        opened = runs[0] if runs else self._client.create_run(experiment, tags=tags, run_name=run.name or run.id)
        self._id = opened.info.run_id
        self._params = opened.data.params
        self._stored = set(opened.data.metrics)
        self._known: dict[tuple[str, int], float] = {}

    def describe(self, facts: Mapping[str, str]) -> None:
        """As parameters. MLflow lets none of them be changed: those of the first driver stay."""
        new = [Param(name, value[:_LONGEST]) for name, value in facts.items() if name not in self._params]
        for start in range(0, len(new), _MOST_PARAMS):
            self._client.log_batch(self._id, params=new[start : start + _MOST_PARAMS])

    def log(self, scalars: Sequence[Scalar]) -> None:
        for name in self._stored & {scalar.name for scalar in scalars}:
            self._stored.remove(name)
            history = self._client.get_metric_history(self._id, name)
            self._known |= {(name, metric.step): metric.value for metric in history}
        new = [scalar for scalar in scalars if self._known.get((scalar.name, scalar.step)) != scalar.value]
        self._known |= {(scalar.name, scalar.step): scalar.value for scalar in new}
        now = int(time.time() * 1000)
        metrics = [Metric(scalar.name, scalar.value, now, scalar.step) for scalar in new]
        for start in range(0, len(metrics), _AT_ONCE):
            self._client.log_batch(self._id, metrics=metrics[start : start + _AT_ONCE])

    def close(self, done: bool) -> None:
        self._client.set_terminated(self._id, "FINISHED" if done else "KILLED")

    def where(self) -> str:
        """A server is named by its address; a store that only MLflow can show, by the command that does."""
        uri = self._client.tracking_uri
        if uri.startswith("http"):
            return f"MLflow: experiment {self._experiment} at {uri}"
        return f"MLflow: mlflow ui --backend-store-uri {uri}"
