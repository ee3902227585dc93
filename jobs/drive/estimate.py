"""How long a run would take, and how much memory it would need: from a run of the store like it, or from a trial."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

from rich.console import Console

from cluster.resources import ActorPlan, is_any_gpu
from core.errors import ClusterError
from jobs.drive.driver import fetch_models
from jobs.drive.pools import Engine
from jobs.drive.time_left import duration
from jobs.drive.trial import StageTime, Trial, try_run
from jobs.plan.dry_run import actors_here
from jobs.plan.pinned import Pinned
from jobs.recipes.base import WHERE
from jobs.store import RunInfo, seconds_of_driver

# What decides which articles a run has, and not what each of them takes.
_ARTICLES = {"datasets", "seed", "predictions"}
_WITHOUT_RAY = "without starting Ray, and its processes for each stage: 10 to 30 s each"
# In a shorter run loading the models is much of the time, and that does not grow with the articles.
_LONG_ENOUGH_SECONDS = 60
# Times what was foreseen. A run took 1.2 times what its trial had foreseen on an empty machine (docs/running.md).
_OF_TRIAL, _OF_RUN = (0.8, 1.4), (0.8, 1.25)
_BUSY = 0.5
"""Processes that run, for each core, from which a machine is busy."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would take.

    Attributes:
        basis: what it rests on, or why nothing is known, in words.
        seconds: of the whole run; None where that is not known.
        stages: seconds of each stage, its models loaded; empty where it rests on another run.
        memory: the most bytes that an actor held in a trial; None without one.
        gpu_memory: the same on its GPU.
        gpu_hours: of all GPUs together; None where the run has none.
        notes: what is not in the numbers, and articles that failed.
        low, high: seconds between which the whole run will probably take.
        articles_per_second: of the whole run.
    """

    basis: str
    seconds: float | None = None
    stages: Mapping[str, float] | None = None
    memory: int | None = None
    gpu_memory: int | None = None
    gpu_hours: float | None = None
    notes: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    articles_per_second: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def estimate(pinned: Pinned, runs: Sequence[RunInfo], engine: Engine) -> Estimate:
    """What a run would take.

    Args:
        pinned: what it would run.
        runs: those of its store, the newest first. A finished one of this recipe, whatever its articles, on the same
            device says more than a trial: it had all the run's actors, and more articles.
        engine: what would run it. With `ray` or `inline` its models are fetched: one that cannot be had is an error
            now, and not at night. With `cluster` nothing is tried on this machine.

    Raises:
        NwsError: a model cannot be had or loaded.
    """
    actors, why_not = None, "the run is for a Ray cluster"
    if engine != "cluster":
        fetch_models(pinned.plans)
        try:
            actors = actors_here(pinned).actors if engine == "ray" else _inline(pinned)
        except ClusterError as error:
            why_not = str(error).rstrip(".")
    like = _run_like(pinned, runs, engine, actors)
    if like is not None and (actors is None or _took(like) >= _LONG_ENOUGH_SECONDS):
        return _with_range(_from_run(pinned, like), pinned.articles, _OF_RUN)
    if pinned.articles is None:
        return Estimate("not known: the dataset does not tell how many articles it has. Set --limit")
    if actors is not None:
        busy = _busy_notes()
        trial = try_run(pinned, pinned.articles, "cuda" if actors[0].num_gpus else "cpu")
        if engine == "inline":
            found = _from_trial(trial, actors, 0, busy)
        else:
            found = _from_trial(trial, actors, os.cpu_count() or 1, (_WITHOUT_RAY, *busy))
        return _with_range(found, pinned.articles, _OF_TRIAL)
    return Estimate(
        f"not known: {why_not}, and the store has no finished run of this recipe there. Submit one with a small "
        "--limit: then --dry-run can tell"
    )


def _with_range(found: Estimate, articles: int | None, times: tuple[float, float]) -> Estimate:
    if not found.seconds or not articles:
        return found
    low, high = (factor * found.seconds for factor in times)
    return replace(found, low=low, high=high, articles_per_second=articles / found.seconds)


def _busy_notes() -> tuple[str, ...]:
    """What to say where other processes slow the trial down. It is asked before the trial's own show up."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load < _BUSY * cores:
        return ()
    return (f"this machine is busy (load {load:.1f} on {cores} cores): with less beside it the run is faster",)


def _inline(pinned: Pinned) -> ActorPlan:
    """The one actor that a run without Ray is."""
    resources, _ = actors_here(pinned).actors
    return replace(resources, num_gpus=float(resources.num_gpus > 0)), 1


def _run_like(pinned: Pinned, runs: Sequence[RunInfo], engine: Engine, actors: ActorPlan | None) -> RunInfo | None:
    """The newest finished run that did to each article what this one would, where it would do it."""
    if pinned.training is not None:  # most of its time depends on the training articles, which a run does not count
        return None
    wanted = _without_articles(pinned.recipe.model_dump(mode="json"))
    for run in runs:
        is_whole = run.job == pinned.job and run.state == "done" and run.articles_done > 0 and run.reused == 0
        if is_whole and _without_articles(run.recipe) == wanted and _is_there(run, pinned, engine, actors):
            return run
    return None


def _is_there(run: RunInfo, pinned: Pinned, engine: Engine, actors: ActorPlan | None) -> bool:
    """Whether a run ran where this one would: on as many actors of the kind, or, on a cluster, on its accelerator."""
    device = run.device or ""
    if engine == "inline":
        return device.startswith("inline,")
    if actors is not None:
        return run.address is None and device.startswith(f"{actors[1]} x {actors[0].describe()}")
    asked = pinned.recipe.accelerator
    if is_any_gpu(asked):
        return run.address is not None and "GPU" in device
    return run.address is not None if asked in ("auto", "cpu") else asked in device


def _without_articles(recipe: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in recipe.items() if name not in WHERE | _ARTICLES}


def _took(run: RunInfo) -> float:
    return run.worked_seconds + seconds_of_driver(run)


def _from_run(pinned: Pinned, run: RunInfo) -> Estimate:
    took = _took(run)
    basis = f"run {run.id}: {run.articles_done} articles in {duration(took)} on {run.device}"
    if pinned.articles is None:
        return Estimate(f"{basis}. The dataset does not tell how many articles it has")
    seconds = took * pinned.articles / run.articles_done
    gpus = 0.0
    if run.device is not None and "GPU" in run.device:
        gpus = _gpus(run.device)
    return Estimate(basis, seconds, gpu_hours=gpus * seconds / 3600 or None)


def _gpus(device: str) -> float:
    """How many GPUs the actors of a run had, from its device in words, e.g. `4 x 1/2 T4 GPU`."""
    actors, _, each = device.partition(" x ")
    return int(actors) * float(Fraction(each.split(" ")[0])) if each else 1.0


def stage_seconds(stage: StageTime, actors: ActorPlan, cores: int) -> float:
    """Seconds of a stage: those of whatever is the slowest of segmenting, the actors, their GPUs and the cores.

    Args:
        stage: what it takes of one process.
        actors: what each pins, and how many there are.
        cores: of all machines; 0 where one process does one thing after the other.
    """
    if not cores:
        return stage.actor + stage.segmenting
    resources, count = actors
    if not resources.num_gpus:
        return max(stage.actor / count, (stage.actor + stage.segmenting) / max(cores, count))
    # Each actor has a core to itself, as far as there are so many. On a GPU that several share, one computes at a time.
    on_gpus = (stage.busy or 0.0) * stage.actor / math.ceil(count * resources.num_gpus)
    return max(stage.actor / min(count, cores), stage.segmenting / max(cores - count, 1), on_gpus)


def _from_trial(trial: Trial, actors: ActorPlan, cores: int, notes: tuple[str, ...]) -> Estimate:
    resources, count = actors
    stages = {name: stage_seconds(stage, actors, cores) for name, stage in trial.stages.items()}
    seconds = trial.loading + math.fsum(stages.values())
    failed = len({failure.article_id for failure in trial.failures})
    more = [f"without {stage}" for stage in trial.left_out]
    if 0 < resources.num_gpus < 1 and any(stage.busy is None for stage in trial.stages.values()):
        more.append("how busy one actor keeps the GPU is not known: several on it may be slower than this")
    if trial.failures:
        more.append(f"articles that failed when they were tried: {failed}, one with: {trial.failures[0].message}")
    return Estimate(
        f"{trial.articles} article{'s' * (trial.articles != 1)} timed here, on one actor of {count} x "
        f"{resources.describe()}",
        seconds,
        stages,
        trial.memory,
        trial.gpu_memory,
        count * resources.num_gpus * seconds / 3600 or None,
        (*notes, *more),
    )


def print_estimate(found: Estimate, console: Console) -> None:
    """The estimate for people, one fact a line."""

    def line(name: str, value: str) -> None:
        console.print(f"{name:<13} {value}", highlight=False, markup=False, soft_wrap=True)

    if found.seconds is None:
        line("time", found.basis)
        return
    span = "" if found.low is None or found.high is None else f", {duration(found.low)} to {duration(found.high)}"
    line("time", f"about {duration(found.seconds)}{span} ({found.basis})")
    if found.articles_per_second is not None:
        line("speed", f"{found.articles_per_second:.2g} articles/s")
    if found.stages and len(found.stages) > 1:
        line("stages", ", ".join(f"{name} {duration(seconds)}" for name, seconds in found.stages.items()))
    if found.gpu_hours is not None:
        line("GPU-hours", f"about {found.gpu_hours:.2g}")
    if found.memory is not None:
        line("memory", f"{found.memory / 1e9:.1f} GB for each actor")
    if found.gpu_memory is not None:
        line("GPU memory", f"{found.gpu_memory / 1e9:.1f} GB for each actor, more with longer articles")
    for note in found.notes:
        line("note", note)
