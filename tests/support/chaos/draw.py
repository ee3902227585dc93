"""Which processes of which runs are killed, and when: drawn from a seed before anything starts."""

import random
from dataclasses import dataclass
from typing import Literal

Job = Literal["phase1", "baselines", "phase2"]
Database = Literal["sqlite", "postgres"]
Victim = Literal["actor", "segmenter", "node", "driver", "head", "gcs", "postgres"]

JOBS: tuple[Job, ...] = ("phase1", "baselines", "phase2")
DATABASES: tuple[Database, ...] = ("sqlite", "postgres")
KILLS_A_RUN = 4

# Kills fall into this part of a run's rows: it has begun, and is not over.
_PARTS = (0.02, 0.85)
_TOGETHER = 0.2
# A training spends little time between its updates, so that chance alone would seldom kill there.
_WAITING = {"phase1": 0.25, "baselines": 0.25, "phase2": 0.5}


@dataclass(frozen=True, slots=True)
class Kill:
    """One SIGKILL.

    Attributes:
        victim: of the cluster an actor, a worker process that segments, a node with all its processes, the head with
            all of its, or its GCS alone; the driver; or the database server.
        part: of all that the run stores, how much is stored by then. Two kills of the same part are of one moment.
        waiting: while the driver stands before a transaction, with all that it had asked for computed: in a training
            between two updates. Otherwise in the middle of the work.
    """

    victim: Victim
    part: float
    waiting: bool


@dataclass(frozen=True, slots=True)
class ChaosRun:
    """A run and its kills, in order. The same seed draws the same."""

    seed: int
    job: Job
    database: Database
    kills: tuple[Kill, ...]


def draw_runs(seed: int, kills: int) -> list[ChaosRun]:
    """Runs that have so many kills in all, with this seed and the next ones: jobs and databases take turns."""
    counts = [min(KILLS_A_RUN, kills - begin) for begin in range(0, kills, KILLS_A_RUN)]
    return [_draw_run(seed + i, count) for i, count in enumerate(counts)]


def _draw_run(seed: int, count: int) -> ChaosRun:
    draw = random.Random(seed)
    job, database = JOBS[seed % len(JOBS)], DATABASES[seed % len(DATABASES)]
    # Different ones: an article is given up after four deaths under one driver, however unlucky the moments, and
    # one that is prepared for a training after three.
    possible: list[Victim] = ["actor", "node", "driver", draw.choice(("head", "gcs"))]
    possible += ["postgres"] if database == "postgres" else []
    possible += ["segmenter"] if job != "phase2" else []  # a training has no segmenting tasks
    victims = draw.sample(possible, KILLS_A_RUN)
    parts = sorted(draw.uniform(*_PARTS) for _ in victims)
    for i in range(1, len(parts)):
        if draw.random() < _TOGETHER:
            parts[i] = parts[i - 1]
    waiting = {part: draw.random() < _WAITING[job] for part in parts}
    if "segmenter" in victims:  # while the driver waits nobody segments
        waiting[parts[victims.index("segmenter")]] = False
    drawn = [Kill(victim, part, waiting[part]) for victim, part in zip(victims, parts, strict=True)]
    return ChaosRun(seed, job, database, tuple(drawn[:count]))
