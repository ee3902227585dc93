"""What chaos runs share, each made when it is first asked for: a cluster, a Postgres, and one small run of each job."""

import contextlib
import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from chaos.draw import ChaosRun, Job
from nws_process import NWS, STUB
from postgres_server import PostgresServer, postgres_server
from ray_cluster import WORKER_NODES, RayCluster, ray_cluster
from stored_rows import Stored
from tiny_checkpoints import make_bart, make_bert, make_gpt2_lm
from training_run import small_training
from undisturbed import STUB_WORK, undisturbed

from bench import stub_work
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import Store, upgrade_schema

ARTICLES = {"phase1": 240, "baselines": 100}
PASSES = 20  # 40 updates of each joint pair

# Two actors at once: 12 articles a second. A driver sees after 5 s that its GCS is dead: it must not be done by then.
_STUB_SECONDS = {"NWS_STUB_SECONDS": "0.16", "NWS_STUB_SEGMENT_SECONDS": "0.02"}
_COMMON = {"n": [1, 7], "bundle_size": 4, "accelerator": "cpu", "actors": 2}


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that can be driven, by `program` with `environment`, and everything that it is to store."""

    plan: Plan
    program: tuple[str, ...]
    environment: dict[str, str]
    undisturbed: Stored


def prepare(job: Job, folder: Path) -> Prepared:
    """Make the articles and models of a run in `folder`, and drive it undisturbed, in this process.

    Sweeps do stub work, so that they are about bundles and rows; a training is a real one, with tiny models.
    """
    folder.mkdir()
    if job == "phase2":
        plan = small_training({"bert": make_bert(folder / "tiny-bert")}, folder, PASSES)
        return Prepared(plan, NWS, {}, undisturbed(plan, folder))
    stub_work.write_articles(folder / "news.jsonl", ARTICLES[job])
    common = _COMMON | {"datasets": [{"name": str(folder / "news.jsonl")}]}
    if job == "phase1":
        plan = plan_job("phase1", "sample", common)
    else:
        generators = [str(make_bart(folder / "tiny-bart")), str(make_gpt2_lm(folder / "tiny-gpt2"))]
        chosen = common | {"systems": ["lead", "textrank", "random", *generators]}
        plan = plan_job("baselines", "sample", chosen)
    return Prepared(plan, STUB, _STUB_SECONDS, undisturbed(plan, folder, STUB_WORK))


def stored_rows(store: Store, run_id: str) -> int:
    """How much a run has stored, as the parts of its kills are counted: updates and summaries."""
    return sum(policy.updates for policy in store.policy_infos(run_id)) + store.run_info(run_id).summaries


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
