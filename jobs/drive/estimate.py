"""How long a run would take, as a range, from earlier runs of its store."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from rich.console import Console

from cluster.resources import is_any_gpu
from jobs.drive.pools import Engine
from jobs.drive.time_left import duration
from jobs.plan.pinned import Pinned
from jobs.recipes.base import LENGTHS, SHOWN, WHERE
from jobs.store import RunInfo, seconds_of_driver

# What decides how many articles and summaries a run has, and not what each of them takes.
_AMOUNT = {"datasets", "seed", "predictions", *LENGTHS}
# Of a run, about so many seconds at most do not grow with its articles: Ray starts, and models are loaded.
_LOADING_SECONDS = 60
# Times what an earlier run says: a machine is busier at one time than at another.
_LEAST, _MOST = 0.8, 1.25
_RUNS = 5
"""So many of the newest runs are looked at."""

# The least and the most that is probable.
Range: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long a run would take.

    Attributes:
        basis: what it rests on, or why nothing is known, in words.
        seconds: of the whole run; None where nothing is known.
        articles_per_second: of the whole run.
        gpu_hours: of all GPUs together; None where the run has none.
    """

    basis: str
    seconds: Range | None = None
    articles_per_second: Range | None = None
    gpu_hours: Range | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def estimate(pinned: Pinned, plan: Mapping[str, Any], runs: Sequence[RunInfo], engine: Engine) -> Estimate:
    """How long a run would take, as finished runs of its recipe on the same device say, whatever their articles and n.

    Args:
        pinned: what it would run.
        plan: its description, see `jobs.plan.dry_run.describe`.
        runs: those of its store, the newest first.
        engine: what would run it.
    """
    articles, summaries = plan["articles"], plan["rows"]
    if articles is None:
        return Estimate("not known: the dataset does not tell how many articles it has. Set --limit")
    wanted = _without_amount(pinned.recipe.model_dump(mode="json"))
    alike = [
        run
        for run in runs
        if (run.job, run.state, run.reused) == (pinned.job, "done", 0)
        and run.articles_done > 0
        and _ran_there(run, pinned, plan["device"], engine)
        and _without_amount(run.recipe) == wanted
    ][:_RUNS]
    if not alike:
        return Estimate(
            "not known: the store has no finished run of this recipe on such a device. Submit one with a small "
            "--limit; every run says how long it still takes, once its first articles are done"
        )
    ends = [end for run in alike for end in _ends(run, articles, summaries, pinned.training is not None)]
    low, high = _LEAST * min(ends), _MOST * max(ends)
    newest = alike[0]
    gpus = _gpus(newest.device or "")
    return Estimate(
        f"{newest.id}: {newest.articles_done} articles in {duration(_took(newest))} on {newest.device}"
        + (f"; and {len(alike) - 1} more" if len(alike) > 1 else ""),
        (low, high),
        (articles / high, articles / low),
        (gpus * low / 3600, gpus * high / 3600) if gpus else None,
    )


def _ends(run: RunInfo, articles: int, summaries: int, trains: bool) -> list[float]:
    """Seconds of which the least and the most are the ends of what a run says.

    Its time is a part that does not grow, all of a training and some of any, and one that grows with articles (to read
    them) or with summaries (to score them).
    """
    took = _took(run)
    fixed = took if trains else min(took, _LOADING_SECONDS)
    times = (articles / run.articles_done, summaries / run.summaries)
    return [part + (took - part) * factor for part in (0.0, fixed) for factor in times]


def _ran_there(run: RunInfo, pinned: Pinned, here: str, engine: Engine) -> bool:
    """Whether a run ran where this one would: on as many actors of the kind, or, on a cluster, on its accelerator.

    `here` says what the actors would pin on this machine, or that they cannot.
    """
    device = run.device or ""
    if engine == "inline":
        return device.startswith("inline,") and ("1 CPU" in device) == ("GPU" not in here)
    if engine == "ray" and " x " in here.split(":")[0]:
        return run.address is None and device.startswith(here)
    asked = pinned.recipe.accelerator
    if is_any_gpu(asked):
        return run.address is not None and "GPU" in device
    return run.address is not None if asked in ("auto", "cpu") else asked in device


def _without_amount(recipe: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in recipe.items() if name not in WHERE | SHOWN | _AMOUNT}


def _took(run: RunInfo) -> float:
    return run.worked_seconds + seconds_of_driver(run)


def _gpus(device: str) -> float:
    """How many GPUs the actors of a run had, from its device in words, e.g. `4 x 1/2 T4 GPU`; 0 of an inline run."""
    actors, _, each = device.partition(" x ")
    return int(actors) * float(Fraction(each.split(" ")[0])) if "GPU" in each.split(":")[0] else 0.0


def print_estimate(found: Estimate, console: Console) -> None:
    """The estimate for people, one fact a line."""

    def line(name: str, value: str) -> None:
        console.print(f"{name:<13} {value}", highlight=False, markup=False, soft_wrap=True)

    if found.seconds is None:
        line("time", found.basis)
        return
    line("time", f"{' to '.join(map(duration, found.seconds))} ({found.basis})")
    for name, ends, unit in (("speed", found.articles_per_second, " articles/s"), ("GPU-hours", found.gpu_hours, "")):
        if ends is not None:
            line(name, f"{ends[0]:.2g} to {ends[1]:.2g}{unit}")
