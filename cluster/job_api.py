"""Ray Job Submission: sends a job to a cluster through the dashboard of its head, and asks for its state.

Ray reads its switches while it is imported, so nothing here imports it at the top.
"""

import contextlib
import importlib
import logging
import os
import urllib.parse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nws.cluster.session import known_token
from nws.core.errors import ClusterError, RecipeError

_CONNECT_SECONDS = 5.0
# How long a head may say nothing to a question, and to something it has to do.
_ANSWER_SECONDS = 15.0
_DO_SECONDS = 60.0
# Ray's own 3 seconds are too short for a driver to put its run in order.
_STOP_SECONDS = "30"


@dataclass(frozen=True, slots=True)
class RayJob:
    """A submitted job. `status` is Ray's: PENDING, RUNNING, STOPPED, SUCCEEDED or FAILED; `message` says why."""

    submission_id: str
    status: str
    message: str

    @property
    def has_ended(self) -> bool:
        return self.status in ("STOPPED", "SUCCEEDED", "FAILED")


def require_address(address: str) -> str:
    """The address of a dashboard, without a slash at its end.

    Raises:
        RecipeError: it is not http(s)://HOST:PORT, or holds a password, which everybody would see.
    """
    try:
        parsed = urllib.parse.urlsplit(address)
        usable = parsed.scheme in ("http", "https") and bool(parsed.hostname) and parsed.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise RecipeError(
            f"{address!r} is not the address of a Ray dashboard: give --address (or RAY_ADDRESS) as http://HEAD:8265. "
            "To run on this machine instead, leave --address out and RAY_ADDRESS unset."
        )
    if "@" in parsed.netloc:
        raise RecipeError("The address of a Ray dashboard must hold no user or password: use token authentication.")
    return address.rstrip("/")


class Head:
    """The head of a cluster, reached at the address of its dashboard. Every method may raise `ClusterError`."""

    def __init__(self, address: str) -> None:
        """Look whether the head answers, and lets this process in.

        Raises:
            RecipeError: the address is not that of a dashboard.
            ClusterError: it does not, or this process has not its token.
        """
        self.address = require_address(address)
        known_token()
        with self._errors():
            # Ray prefers RAY_ADDRESS to the address it is given, and this to RAY_ADDRESS.
            os.environ["RAY_API_SERVER_ADDRESS"] = self.address
            self._client: Any = _client(self.address)
        for chatty in ("ray.dashboard.modules.dashboard_sdk", "ray._private.runtime_env.packaging"):
            logging.getLogger(chatty).setLevel(logging.WARNING)

    def submit_job(self, submission_id: str, entrypoint: str, working_dir: Path, metadata: Mapping[str, str]) -> None:
        """Start a job. All of this but the contents of `working_dir` can be read in the dashboard.

        Args:
            submission_id: the job's name, which the cluster must not have had before.
            entrypoint: the shell command, run inside the copy of `working_dir` on the head.
            working_dir: what is shipped: the job and its workers import from their copies of it.
            metadata: what the dashboard shows with the job.
        """
        job = {"submission_id": submission_id, "entrypoint": entrypoint, "metadata": dict(metadata)}
        runtime = {"working_dir": str(working_dir), "env_vars": {"RAY_JOB_STOP_WAIT_TIME_S": _STOP_SECONDS}}
        with self._errors():
            self._client.submit_job(**job, runtime_env=runtime)

    def jobs(self) -> list[RayJob]:
        """Every job that was submitted since the head was started, in no order."""
        with self._errors():
            details_of_jobs = self._client.list_jobs()
        return [_job(details) for details in details_of_jobs if details.submission_id]

    def job(self, submission_id: str) -> RayJob:
        """One job."""
        with self._errors():
            return _job(self._client.get_job_info(submission_id))

    def log(self, submission_id: str) -> str:
        """What a job has printed so far, stdout and stderr together."""
        with self._errors():
            return str(self._client.get_job_logs(submission_id))

    def stop(self, submission_id: str) -> bool:
        """Send a job SIGTERM, and SIGKILL if it has not ended in time; False if it had ended before."""
        with self._errors():
            return bool(self._client.stop_job(submission_id))

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """What a person can do about an error of Ray's client, which raises errors of several libraries."""
        try:
            yield
        except (OSError, RuntimeError) as error:
            raise ClusterError(_advice(self.address, error)) from error
        except importlib.import_module("ray.exceptions").AuthenticationError as error:
            reason = str(error).partition("\n")[0].strip()
            raise ClusterError(
                f"The Ray cluster at {self.address} does not let this machine in: {reason}. Put what `ray "
                "get-auth-token` prints on its head into ~/.ray/auth_token here, or into RAY_AUTH_TOKEN_PATH's file."
            ) from error


def _client(address: str) -> Any:
    """Ray's client, which by itself would wait for ever for a head that takes connections and does not answer."""
    ray_client: Any = importlib.import_module("ray.job_submission").JobSubmissionClient

    class Client(ray_client):  # type: ignore[misc]
        def _do_request(self, method: str, *arguments: Any, **options: Any) -> Any:
            silence = _ANSWER_SECONDS if method == "GET" else _DO_SECONDS
            return super()._do_request(method, *arguments, **{"timeout": (_CONNECT_SECONDS, silence), **options})

    return Client(address)


def _job(details: Any) -> RayJob:
    return RayJob(details.submission_id, str(details.status.value), details.message or "")


def _advice(address: str, error: Exception) -> str:
    # Ray sends a whole traceback; its last line says what is wrong.
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" .")]
    reason = lines[-1] if lines else type(error).__name__
    if isinstance(error, OSError):
        return (
            f"No Ray dashboard answers at {address}: {reason}. Is the head running, was it started with "
            "--dashboard-host=0.0.0.0 or reached through a tunnel, and is this http://HOST:8265 (or its other port)?"
        )
    return f"The Ray cluster at {address} refuses: {reason}"
