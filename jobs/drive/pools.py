"""The pools of workers of a run: in this process, on a local Ray, or on the cluster of the driver.

A watch compares the software and the arithmetic of a pool's workers with those of the driver.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rich.console import Console

from nws.cluster.article_work import Work
from nws.cluster.dispatcher import Actors, WorkerInfo, rows_warning
from nws.cluster.pools import EpisodePool, SweepPool, episodes_on_ray, inline_episodes, inline_sweeps, sweeps_on_ray
from nws.cluster.resources import ActorPlan, ask_machines, await_actors, choose_sharing, gpu_nodes, is_any_gpu
from nws.cluster.session import Session, joined_session, local_session
from nws.core.models import ModelRef, model_folder, parameters
from nws.core.models.generators import Generator
from nws.core.provenance import Software, are_as_imported, differences, software
from nws.core.stage import Stage
from nws.core.types import AMPERE, Precision
from nws.core.worker_factories import make_episode_runner, make_segmenter, make_sweeper
from nws.jobs.drive.run import Run
from nws.jobs.recipes.base import RunRecipe

_BYTES: dict[Precision, int] = {"float32": 4, "tf32": 4, "float16": 2, "bfloat16": 2}
# CUDA itself takes about 0.5 GB, and forward passes take memory, too. On an H100, an actor with four models of the size
# of BERT-base took 3.4 GB in float32 (1.8 GB of it weights), and 2.1 GB in float16 (0.9 GB weights). This leaves room.
_BESIDE_WEIGHTS = 2_600_000_000
# The batch of a generator is as large as memory allows. With less memory than this, it is too small to fill the GPU.
_GENERATING = 8_000_000_000

MIXED = "No other run copies rows of this one"

Engine = Literal["ray", "inline", "cluster"]
# Makes the work of a stage, from the stage, a device and a share of the device's memory. The driver calls it.
MakeWork: TypeAlias = Callable[[Stage, str, float | None], Work]


@dataclass(frozen=True, slots=True)
class Pools:
    """Opens the pools of a run.

    Attributes:
        device: the run's device, in words.
        stuck_after: the most seconds that a task may take, see `ActorPool`.
        make_work: a function that makes the work of a sweep.
        torch_device: the device of the workers, `cuda` or `cpu`.
        memory_fraction: the share of a GPU's memory that each worker may take, if there is a limit.
        actors: the resources of each Ray actor and the number of actors; None for a worker in this process.
        same_arithmetic: whether workers are known to multiply as this process does.
        ask_machines: a function that calls a picklable function on every machine with workers, and returns all answers.
    """

    device: str | None
    stuck_after: float
    make_work: MakeWork
    torch_device: str = "cpu"
    memory_fraction: float | None = None
    actors: ActorPlan | None = None
    same_arithmetic: bool = True
    ask_machines: Callable[[Callable[[], str]], list[str]] = lambda ask: [ask()]

    def open_sweep(self, stage: Stage) -> AbstractContextManager[SweepPool]:
        """Open the pool of a stage that summarises."""
        work = self.make_work(stage, self.torch_device, self.memory_fraction)
        if self.actors is None:
            return nullcontext(inline_sweeps(work))
        return sweeps_on_ray(work, *self.actors, self.stuck_after)

    def open_episodes(self, stage: Stage) -> AbstractContextManager[EpisodePool]:
        """Open the pool of a training."""
        make_runner = functools.partial(make_episode_runner, stage, self.torch_device, self.memory_fraction)
        if self.actors is None:
            return nullcontext(inline_episodes(make_runner))
        return episodes_on_ray(make_runner, *self.actors, self.stuck_after)

    def arithmetic(self) -> str | None:
        """Describe how the workers will multiply (`nws.cluster.dispatcher.WorkerInfo`); None if only they can tell."""
        if not self.same_arithmetic:
            return None
        from nws.core.arithmetic import describe_arithmetic, describe_gpu_arithmetic  # which import torch

        return describe_gpu_arithmetic() if self.torch_device == "cuda" else describe_arithmetic()


def stage_work(stage: Stage, device: str, memory_fraction: float | None) -> Work:
    """Make the work of a stage that summarises."""
    return Work(
        functools.partial(make_segmenter, stage.to_segment),
        functools.partial(make_sweeper, stage, device, memory_fraction),
    )


@contextmanager
def open_pools(
    recipe: RunRecipe, engine: Engine, console: Console, make_work: MakeWork = stage_work, stages: Sequence[Stage] = ()
) -> Iterator[Pools]:
    """Open the pools on the machines that a recipe asks for.

    `stages` are the stages of the run. Their models must be on this machine: actors share a GPU only if all fit.

    Raises:
        ClusterError: Ray cannot be started or joined, or lacks the machines that the recipe asks for.
    """
    if engine == "inline":
        import torch  # a driver of Ray needs none

        device = "cuda" if recipe.accelerator != "cpu" and torch.cuda.is_available() else "cpu"
        name = torch.cuda.get_device_name() if device == "cuda" else "1 CPU thread"
        yield Pools(f"inline, {name}", recipe.stuck_after, make_work, device, recipe.gpu_memory_fraction)
        return
    with _session(engine, console) as session:
        say = functools.partial(console.print, markup=False)
        resources, actors = choose_actors(session, recipe, stages, say)
        # Ray does not hide the GPUs from an actor that asks for none.
        device = "cuda" if resources.num_gpus else "cpu"
        # Actors that share a GPU would otherwise take its memory from each other.
        shared = resources.num_gpus if 0 < resources.num_gpus < 1 else None
        fraction = recipe.gpu_memory_fraction or shared
        plan, is_same = (resources, actors), engine == "ray" and device == "cpu"
        yield Pools(
            *(f"{actors} x {resources.describe()}", recipe.stuck_after, make_work, device, fraction, plan, is_same),
            *([ask_machines] if engine == "cluster" else []),
        )


def choose_actors(
    session: Session, recipe: RunRecipe, stages: Sequence[Stage], say: Callable[[str], None]
) -> ActorPlan:
    """Choose the resources of each actor, and the number of actors.

    Where the recipe does not set `gpus_per_actor`, `say` gets the reason why that many actors share a GPU.

    Raises:
        ClusterError: the machines that the recipe asks for are not there.
        NwsError: actors might share a GPU, and a model cannot be loaded, or is not the one that was recorded.
    """
    accelerator = None if recipe.accelerator == "auto" else recipe.accelerator

    def plan(actors: int | None, share: float) -> ActorPlan:
        return await_actors(session, accelerator, actors, share, recipe.wait_for_machines, say)

    if recipe.gpus_per_actor is not None:
        return plan(recipe.actors, recipe.gpus_per_actor)
    resources, gpus = plan(None, 1)
    if not (resources.num_gpus and stages):
        return plan(recipe.actors, 1)
    machines = gpu_nodes(None if is_any_gpu(accelerator) else accelerator)
    has_bfloat16 = all(card.capability >= AMPERE for node in machines for card in node.cards)
    sharing = choose_sharing(machines, actor_bytes(stages, has_bfloat16), recipe.gpu_memory_fraction)
    say(f"{sharing.reason} To use another share, set `gpus_per_actor` in the recipe.")
    return plan(recipe.actors, sharing.share(gpus, recipe.actors))


def actor_bytes(stages: Sequence[Stage], has_bfloat16: bool) -> int:
    """Estimate the bytes of GPU memory that an actor needs: those of the stage that needs the most.

    Args:
        stages: the stages of a run; a model that is not on this machine is fetched.
        has_bfloat16: whether the GPU supports bfloat16; if not, generators that would use it run in float32.
    """
    return max(_stage_bytes(stage, has_bfloat16) for stage in stages)


def _stage_bytes(stage: Stage, has_bfloat16: bool) -> int:
    bertscore, generator = stage.metrics.bertscore, stage.generator
    weights = sum(map(_parameters, stage.encoders)) * _BYTES[stage.precision]
    weights += _parameters(bertscore.model) * _BYTES[bertscore.precision]
    weights += sum(_parameters(metric.model) for metric in stage.metrics.by_models) * _BYTES["float32"]
    if isinstance(generator, Generator):
        half = generator.half if generator.half == "float16" or has_bfloat16 else "float32"
        weights += _parameters(generator.model) * _BYTES[half] + _GENERATING
    return weights + _BESIDE_WEIGHTS


def _parameters(ref: ModelRef) -> int:
    return parameters(model_folder(ref))


@contextmanager
def _session(engine: Engine, console: Console) -> Iterator[Session]:
    if engine == "cluster":
        with joined_session() as session:
            yield session
        return
    console.print("Starting Ray on this machine …")
    with local_session() as session:
        token = f" (its token is in {session.auth_token_path})" if session.auth_token_path else ""
        console.print(f"Ray dashboard: {session.dashboard_url}{token}", highlight=False, soft_wrap=True)
        yield session


class PoolWatch:
    """A watch on the actors of one pool. `device` describes the resources of each actor."""

    def __init__(self, run: Run, device: str | None) -> None:
        self._run = run
        self._device = device
        self._workers: tuple[WorkerInfo, ...] = ()
        self._equal: set[Software] = {(), software()}

    def check_actors(self, actors: Actors) -> None:
        """Record the present actors, and compare their software with the driver's. Called every few seconds or more.

        Raises:
            FencedError: the run is no longer this driver's.
        """
        if actors.workers != self._workers:
            self._workers = actors.workers
            ways = sorted({worker.arithmetic for worker in self._workers if worker.arithmetic})
            note_arithmetic(self._run, f"{self._device}: {', '.join(dict.fromkeys(map(str, self._workers)))}", ways)
            self.compare(worker.software for worker in self._workers)

    def compare(self, reported: Iterable[Software]) -> None:
        """Compare the software of processes with that of this one. Must be called before their rows are stored.

        Raises:
            FencedError: the run is no longer this driver's.
        """
        for other in set(reported) - self._equal:
            self._equal.add(other)
            different = differences(other, software())
            if different and self._run.mix(different):
                self._run.say(
                    f"Warning: a process of this run computes with {', '.join(different)}, unlike its driver, so their "
                    f"numbers may differ. {MIXED}. Install the same versions on every machine."
                )


def note_arithmetic(run: Run, device: str, now: Sequence[str]) -> None:
    """Record how the workers of a run multiply from now on, and warn if they multiply in another way than before.

    Raises:
        FencedError: the run is no longer this driver's.
    """
    before = run.store.run_info(run.id).arithmetic
    run.note_workers(device, now)
    if (warning := rows_warning(now)) and not rows_warning(before):
        run.say(f"Warning: on this kind of CPU {warning}")
    every = list(dict.fromkeys([*before, *now]))
    if len(every) > 1 and every != before:
        run.say(
            f"Warning: workers of this run multiply in {len(every)} ways: {'; '.join(every)}. Scores may differ in "
            "the seventh digit from those of a run on one kind of machine. A training that is resumed here may draw "
            "other summaries than it would have drawn on the earlier machines."
        )


def check_sources(run: Run) -> None:
    """Mark a run as mixed if NWS's sources were edited while it worked: modules imported late may be the edited ones.

    Raises:
        FencedError: the run is no longer this driver's.
    """
    if not are_as_imported() and run.mix(["edited sources"]):
        run.say(f"Warning: NWS's sources were edited after this process had started. {MIXED}.")
