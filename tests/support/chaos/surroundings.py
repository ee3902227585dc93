"""What chaos runs share: a cluster, a Postgres, and the jobs. Each is made when it is first asked for."""

import contextlib
import functools
from pathlib import Path
from typing import Self

from chaos.draw import ChaosRun, Job
from chaos.jobs_to_kill import Prepared, prepare
from postgres_server import PostgresServer, postgres_server
from ray_cluster import WORKER_NODES, RayCluster, ray_cluster

from jobs.store import upgrade_schema


class Surroundings:
    """All of it lies in `folder`, and ends with the `with` block."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stack = contextlib.ExitStack()
        self._of_cluster = contextlib.ExitStack()
        self._prepared: dict[Job, Prepared] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        with self._stack:
            self._of_cluster.close()

    def prepared(self, job: Job) -> Prepared:
        """See `prepare`."""
        if job not in self._prepared:
            self._prepared[job] = prepare(job, self.folder / job)
        return self._prepared[job]

    @functools.cached_property
    def server(self) -> PostgresServer:
        """A server whose database has the schema."""
        server = self._stack.enter_context(postgres_server())
        upgrade_schema(server.url)
        return server

    def store_url(self, run: ChaosRun) -> str:
        """Of the server, or a file of the run's own."""
        return self.server.url if run.database == "postgres" else f"sqlite:///{self.folder}/{run.seed}.db"

    @functools.cached_property
    def cluster(self) -> RayCluster:
        """The cluster of now."""
        return self._of_cluster.enter_context(ray_cluster())

    def mend(self) -> None:
        """See to it that there is a cluster with all its nodes."""
        if self.cluster.is_dead:
            self._of_cluster.close()
            del self.cluster
        while len(self.cluster.nodes) < WORKER_NODES:
            self.cluster.add_node()
