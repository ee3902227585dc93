"""Where a run runs: in this process, on a Ray of its own, or on the Ray cluster that its driver was started on."""

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Literal

from rich.console import Console

from cluster.article_work import RunsEpisodes, Work
from cluster.episode_pool import EpisodePool, episodes_on_ray, inline_episodes
from cluster.gpus import gpu_nodes
from cluster.resources import ActorPlan, await_actors, is_any_gpu
from cluster.session import Session, joined_session, local_session
from cluster.sweep_pool import SweepPool, inline_sweeps, sweeps_on_ray
from core.sweep_plan import SweepPlan
from core.worker_factories import EpisodePlan, make_episode_runner, make_segmenter, make_sweeper
from jobs.plan.sharing import Plan, sharing_on
from jobs.recipes.base import RunRecipe

Engine = Literal["ray", "inline", "cluster"]


@dataclass(frozen=True, slots=True)
class Pools:
    """Where a run runs: its `device`, in words, and functions that open the pool of a stage or of a training.

    `arithmetic` says how the workers will multiply (`cluster.worker_info.WorkerInfo`), None where only they can tell.
    """

    device: str | None
    open_sweep: Callable[[SweepPlan], AbstractContextManager[SweepPool]]
    open_episodes: Callable[[EpisodePlan], AbstractContextManager[EpisodePool]]
    arithmetic: Callable[[], str | None] = lambda: None


def sweep_work(plan: SweepPlan, device: str, memory_fraction: float | None) -> Work:
    """The work of a stage, see `core.sweep_plan`."""
    return Work(
        functools.partial(make_segmenter, plan.to_segment),
        functools.partial(make_sweeper, plan, device, memory_fraction),
    )


@dataclass(frozen=True, slots=True)
class Makers:
    """What makes, of a plan, a device and a share of its memory, the work of a stage and the runner of a training.

    `work` is called in the driver's process; `runner` travels, and is called where episodes are run.
    """

    work: Callable[[SweepPlan, str, float | None], Work] = sweep_work
    runner: Callable[[EpisodePlan, str, float | None], RunsEpisodes] = make_episode_runner


REAL = Makers()


@contextmanager
def open_pools(
    recipe: RunRecipe,
    engine: Engine,
    run_id: str,
    console: Console,
    makers: Makers = REAL,
    plans: Sequence[Plan] = (),
) -> Iterator[Pools]:
    """The machines that a recipe asks for.

    `plans` are those that will be opened, their models fetched: actors share a GPU only if the models have room.

    Raises:
        ClusterError: Ray cannot start or be joined, or has not what the recipe asks for.
    """
    if engine == "inline":
        import torch  # a driver of Ray needs none

        device = "cuda" if recipe.accelerator != "cpu" and torch.cuda.is_available() else "cpu"
        name = torch.cuda.get_device_name() if device == "cuda" else "1 CPU thread"
        share = recipe.gpu_memory_fraction
        yield Pools(
            f"inline, {name}",
            lambda plan: nullcontext(inline_sweeps(makers.work(plan, device, share))),
            lambda plan: nullcontext(inline_episodes(functools.partial(makers.runner, plan, device, share))),
            functools.partial(_arithmetic_here, device),
        )
        return
    with _session(engine, run_id, console) as session:
        resources, actors = _actor_plan(session, recipe, plans, functools.partial(console.print, markup=False))
        # Ray does not hide the GPUs from an actor that pins none.
        device = "cuda" if resources.num_gpus else "cpu"
        # Actors that share a GPU would otherwise take its memory from each other.
        shared = resources.num_gpus if 0 < resources.num_gpus < 1 else None
        fraction = recipe.gpu_memory_fraction or shared
        yield Pools(
            f"{actors} x {resources.describe()}",
            lambda plan: sweeps_on_ray(makers.work(plan, device, fraction), resources, actors, recipe.stuck_after),
            lambda plan: episodes_on_ray(
                functools.partial(makers.runner, plan, device, fraction), resources, actors, recipe.stuck_after
            ),
            lambda: _arithmetic_here(device) if engine == "ray" and device == "cpu" else None,
        )


def _actor_plan(session: Session, recipe: RunRecipe, plans: Sequence[Plan], tell: Callable[[str], None]) -> ActorPlan:
    """What each actor pins, and how many there are. Where the recipe leaves it open, `tell` how a GPU is shared."""
    accelerator = None if recipe.accelerator == "auto" else recipe.accelerator
    wait = recipe.wait_for_machines
    share = recipe.gpus_per_actor
    if share is None:
        resources, gpus = await_actors(session, accelerator, None, 1, wait, tell)
        share = 1
        if resources.num_gpus and plans:
            sharing = sharing_on(
                gpu_nodes(None if is_any_gpu(accelerator) else accelerator), plans, recipe.gpu_memory_fraction
            )
            share = sharing.share(gpus, recipe.actors)
            tell(f"{sharing.reason} `gpus_per_actor` in the recipe sets another share.")
    return await_actors(session, accelerator, recipe.actors, share, wait, tell)


def _arithmetic_here(device: str) -> str:
    """How this process multiplies there. The imports bring torch along."""
    if device == "cuda":
        from core.arithmetic import describe_gpu_arithmetic

        return describe_gpu_arithmetic()
    from core.arithmetic import describe_arithmetic

    return describe_arithmetic()


@contextmanager
def _session(engine: Engine, run_id: str, console: Console) -> Iterator[Session]:
    if engine == "cluster":
        with joined_session(run_id) as session:
            yield session
        return
    console.print("Starting Ray on this machine …")
    with local_session(namespace=run_id) as session:
        if session.dashboard_url:
            token = f" (its token is in {session.auth_token_path})" if session.auth_token_path else ""
            console.print(f"Ray dashboard: {session.dashboard_url}{token}", highlight=False, soft_wrap=True)
        yield session
