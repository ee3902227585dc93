"""The head of a cluster that takes every job, each name once as Ray does, and runs none."""

from dataclasses import replace
from pathlib import Path

from nws.cluster.job_api import RayJob
from nws.core.errors import ClusterError


class FakeHead:
    """It refuses with `error` if that is set. `shipped` is what came with the last job, by path."""

    address = "http://head:8265"

    def __init__(self) -> None:
        self.error: ClusterError | None = None
        self.known: dict[str, RayJob] = {}
        self.entrypoints: dict[str, str] = {}
        self.metadata: dict[str, object] = {}
        self.shipped: dict[str, str] = {}
        self.stopped: list[str] = []

    def submit_job(self, submission_id: str, entrypoint: str, folder: Path, metadata: dict[str, object]) -> None:
        if self.error:
            raise self.error
        assert submission_id not in self.known
        self.known[submission_id] = RayJob(submission_id, "PENDING", "")
        self.entrypoints[submission_id] = entrypoint
        self.metadata = metadata
        self.shipped = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}

    def becomes(self, submission_id: str, status: str, message: str = "") -> None:
        known = self.known.get(submission_id, RayJob(submission_id, "", ""))
        self.known[submission_id] = replace(known, status=status, message=message)

    def jobs(self) -> list[RayJob]:
        return list(self.known.values())

    def job(self, submission_id: str) -> RayJob:
        return self.known[submission_id]

    def stop(self, submission_id: str) -> bool:
        self.stopped.append(submission_id)
        return True

    def log(self, submission_id: str) -> str:
        return f"{submission_id}: No module named 'nws'\n"
