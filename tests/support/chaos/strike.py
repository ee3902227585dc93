"""How each victim is found and killed: only processes of the chaos run's own, by their pids."""

import contextlib
import random
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import psutil
import psycopg
from chaos.draw import Kill
from postgres_server import PostgresServer
from ray_cluster import RayCluster, workers

from nws.jobs.store.address import parse_address

AT_WORK = ("sweep", "prepare", "learn", "decode")
IDLE = ("SweepActor", "EpisodeActor")
SEGMENTING = ("segment",)

_PATIENCE_SECONDS = 400.0
# So long nobody must be at work until the driver is taken to wait for the store.
_REST_SECONDS = 0.5
_POLL_SECONDS = 0.02
# Whom they need is killed after them.
_ORDER = ("actor", "segmenter", "node", "driver", "head", "gcs", "postgres")

Found = TypeVar("Found")


def strike(
    kills: Sequence[Kill],
    cluster: RayCluster,
    driver: subprocess.Popen[str],
    server: PostgresServer | None,
    draw: random.Random,
) -> None:
    """Kill all of one moment."""
    for kill in sorted(kills, key=lambda kill: _ORDER.index(kill.victim)):
        titles = SEGMENTING if kill.victim == "segmenter" else AT_WORK + IDLE * kill.waiting
        match kill.victim:
            case "driver":
                driver.kill()
            case "postgres":
                assert server is not None
                server.kill()
            case "gcs":
                cluster.kill_gcs()
            case "head":
                cluster.kill_head()
            case "node":
                node, _ = draw.choice(_wait_for(lambda titles=titles: _with_workers(cluster.nodes, titles)))
                cluster.kill_node(node)
            case "actor" | "segmenter":
                nodes = [cluster.head, *cluster.nodes]
                _, worker = draw.choice(_wait_for(lambda nodes=nodes, titles=titles: _with_workers(nodes, titles)))
                worker.kill()


def _with_workers(nodes: Sequence[psutil.Process], titles: tuple[str, ...]) -> list[tuple[psutil.Process, ...]]:
    return [(node, worker) for node in nodes for worker in workers(node, *titles)]


def _wait_for(look: Callable[[], list[Found]]) -> list[Found]:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not (found := look()):
        assert time.monotonic() < deadline, "there is nobody to kill"
        time.sleep(_POLL_SECONDS)
    return found


@contextlib.contextmanager
def driver_waiting(url: str, run_id: str, cluster: RayCluster) -> Iterator[None]:
    """While the block runs the driver waits for the store, with everything computed that it had asked for.

    What it writes begins with its run's row, which is locked here.
    """
    address = parse_address(url)
    connection: sqlite3.Connection | psycopg.Connection
    if address.path is None:
        connection = psycopg.connect(url)
        connection.execute("select 1 from runs where id = %s for update", [run_id])
    else:
        connection = sqlite3.connect(address.path, timeout=_PATIENCE_SECONDS, isolation_level=None)
        connection.execute("begin immediate")
    try:
        _wait_for_rest(cluster)
        yield
    finally:
        with contextlib.suppress(psycopg.OperationalError):  # the server may be dead by now
            connection.close()


def _wait_for_rest(cluster: RayCluster) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    since = time.monotonic()
    while time.monotonic() < since + _REST_SECONDS:
        if _with_workers([cluster.head, *cluster.nodes], AT_WORK + SEGMENTING):
            since = time.monotonic()
        assert since < deadline, "the actors do not come to rest"
        time.sleep(_POLL_SECONDS)
