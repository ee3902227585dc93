"""Ray Job Submission: sends a job to a cluster through the dashboard of its head, and reads its state.

Ray reads its switches while it is imported, so this module does not import it at the top.
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
# How long the head may take to answer a question, and to carry out a command.
_ANSWER_SECONDS = 15.0
_DO_SECONDS = 60.0
# Ray's default of 3 seconds is too short for a driver to end its run properly.
_STOP_SECONDS = "30"


@dataclass(frozen=True, slots=True)
class RayJob:
    """A submitted job. `status` is Ray's PENDING, RUNNING, STOPPED, SUCCEEDED or FAILED, and `message` its reason."""

    submission_id: str
    status: str
    message: str

    @property
    def has_ended(self) -> bool:
        return self.status in ("STOPPED", "SUCCEEDED", "FAILED")


def require_address(address: str) -> str:
    """Check the address of a dashboard, and return it without a slash at its end.

    Raises:
        RecipeError: it is not http(s)://HOST:PORT, or has a password, which everybody would see.
    """
    try:
        parsed = urllib.parse.urlsplit(address)
        usable = parsed.scheme in ("http", "https") and bool(parsed.hostname) and parsed.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise RecipeError(
            f"{address!r} is not the address of a Ray dashboard. Give --address (or RAY_ADDRESS) as http://HEAD:8265. "
            "To run on this machine instead, leave --address out and unset RAY_ADDRESS."
        )
    if "@" in parsed.netloc:
        raise RecipeError("The address of a Ray dashboard must not have a user or password. Use token authentication.")
    return address.rstrip("/")


class Head:
    """The head of a cluster, which is reached through its dashboard. Every method may raise `ClusterError`."""

    def __init__(self, address: str) -> None:
        """Check that the head answers, and accepts this process.

        Raises:
            RecipeError: the address is not that of a dashboard.
            ClusterError: the head does not answer, or this process does not have its token.
        """
        self.address = require_address(address)
        known_token()
        with self._errors():
            # Ray prefers RAY_ADDRESS to its argument, and RAY_API_SERVER_ADDRESS to RAY_ADDRESS.
            os.environ["RAY_API_SERVER_ADDRESS"] = self.address
            self._client: Any = _client(self.address)
        for chatty in ("ray.dashboard.modules.dashboard_sdk", "ray._private.runtime_env.packaging"):
            logging.getLogger(chatty).setLevel(logging.WARNING)

    def submit_job(self, submission_id: str, entrypoint: str, working_dir: Path, metadata: Mapping[str, str]) -> None:
        """Submit a job. The dashboard shows all arguments, but not the contents of `working_dir`.

        Args:
            submission_id: the job's name, which must be new on the cluster.
            entrypoint: the shell command, which runs inside the copy of `working_dir` on the head.
            working_dir: the folder that is shipped. The job and its workers import from their copies of it.
            metadata: values that the dashboard shows with the job.
        """
        job = {"submission_id": submission_id, "entrypoint": entrypoint, "metadata": dict(metadata)}
        runtime = {"working_dir": str(working_dir), "env_vars": {"RAY_JOB_STOP_WAIT_TIME_S": _STOP_SECONDS}}
        with self._errors():
            self._client.submit_job(**job, runtime_env=runtime)

    def jobs(self) -> list[RayJob]:
        """List the jobs that were submitted since the head was started, in no order."""
        with self._errors():
            details_of_jobs = self._client.list_jobs()
        return [_job(details) for details in details_of_jobs if details.submission_id]

    def job(self, submission_id: str) -> RayJob:
        """Read the state of a job."""
        with self._errors():
            return _job(self._client.get_job_info(submission_id))

    def log(self, submission_id: str) -> str:
        """Read what a job has printed so far, stdout and stderr together."""
        with self._errors():
            return str(self._client.get_job_logs(submission_id))

    def stop(self, submission_id: str) -> bool:
        """Send SIGTERM to a job, and SIGKILL if it does not end in time. Returns False if it had ended before."""
        with self._errors():
            return bool(self._client.stop_job(submission_id))

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn errors of Ray's client, which come from several libraries, into errors that say what to do."""
        try:
            yield
        except (OSError, RuntimeError) as error:
            raise ClusterError(_advice(self.address, error)) from error
        except importlib.import_module("ray.exceptions").AuthenticationError as error:
            reason = str(error).partition("\n")[0].strip()
            raise ClusterError(
                f"The Ray cluster at {self.address} does not accept this machine: {reason}. Run `ray get-auth-token` "
                "on its head, and put the output into ~/.ray/auth_token here, or into the file RAY_AUTH_TOKEN_PATH."
            ) from error


def _client(address: str) -> Any:
    """Make Ray's client with time limits. Without them, it would wait for ever for a head that does not answer."""
    ray_client: Any = importlib.import_module("ray.job_submission").JobSubmissionClient

    class Client(ray_client):  # type: ignore[misc]
        def _do_request(self, method: str, *arguments: Any, **options: Any) -> Any:
            silence = _ANSWER_SECONDS if method == "GET" else _DO_SECONDS
            return super()._do_request(method, *arguments, **{"timeout": (_CONNECT_SECONDS, silence), **options})

    return Client(address)


def _job(details: Any) -> RayJob:
    return RayJob(details.submission_id, str(details.status.value), details.message or "")


def _advice(address: str, error: Exception) -> str:
    # Ray sends a whole traceback, whose last line says what is wrong.
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" .")]
    reason = lines[-1] if lines else type(error).__name__
    if isinstance(error, OSError):
        return (
            f"No Ray dashboard answers at {address}: {reason}. Is the head running, was it started with "
            "--dashboard-host=0.0.0.0 or reached through a tunnel, and is this http://HOST:8265 (or its other port)?"
        )
    return f"The Ray cluster at {address} refuses the request: {reason}"
