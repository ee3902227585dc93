"""What a submission would run, without running it, and how long that would take, as earlier runs of its store say."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from rich.console import Console

from cluster.resources import TYPE_PREFIX, ActorPlan, GpuNode, cards_here, is_any_gpu, plan_actors
from core.errors import ClusterError
from core.models.endpoint import Endpoint
from jobs.drive.pools import Engine, sharing_on
from jobs.drive.time_left import duration
from jobs.recipes.base import LENGTHS, SHOWN, WHERE
from jobs.recipes.plan import Plan
from jobs.store import RunInfo, seconds_of_driver

_ROW_BYTES, _WORD_BYTES = 460, 6
"""Of a summary in a store with its indexes, and of each of its words (docs/scale.md)."""
# What decides how many articles and summaries a run has, and not what each of them takes.
_AMOUNT = {"datasets", "seed", "predictions", *LENGTHS}
# Of a run, about so many seconds at most do not grow with its articles: Ray starts, and models are loaded.
_LOADING_SECONDS = 60
# Times what an earlier run says: a machine is busier at one time than at another.
_LEAST, _MOST = 0.8, 1.25
_RUNS = 5
"""So many of the newest runs are looked at."""


def describe(plan: Plan) -> dict[str, Any]:
    """Articles, systems, rows, models with revisions, requests, metrics and device of a run, as plain values.

    `rows` counts the summaries: one of each length by every system, and one uncut by those with a length of their own.
    `articles` and `rows` are None where a streamed dataset does not tell its size.
    """
    articles = plan.articles
    systems = plan.systems
    device, sharing = _device(plan)
    each = _WORD_BYTES if plan.recipe.length_unit == "words" else 1
    per_row = _ROW_BYTES + each * sum(plan.recipe.n) / len(plan.recipe.n)
    per_article = sum(len(stage.places) for stage in plan.stages)
    return {
        "datasets": [
            {"name": c.name, "split": c.split, "revision": c.revision, "articles": c.size} for c in plan.corpora
        ],
        "articles": articles,
        "training": _training(plan),
        "n": list(plan.recipe.n),
        "unit": plan.recipe.length_unit,
        "systems": list(systems),
        "kinds": systems,
        "rows": None if articles is None else articles * per_article,
        "store_bytes": None if articles is None else round(articles * per_article * per_row),
        "encoders": plan.revisions["encoders"],
        "generators": plan.revisions.get("generators", {}),
        "requests": _requests(plan),
        "plugins": plan.revisions.get("plugins", {}),
        "predictions": plan.revisions.get("predictions", {}),
        "bertscore": plan.revisions["bertscore"],
        "segmentation": plan.revisions["segmentation"],
        "metrics": plan.metrics.signatures,
        "seed": plan.recipe.seed,
        "device": device,
        "sharing": sharing,
    }


def _training(plan: Plan) -> dict[str, Any] | None:
    """What policies are trained on, and how many updates each policy has; None where nothing is trained."""
    if plan.training is None:
        return None
    articles = sum(1 for corpus in plan.train_corpora for _ in corpus)
    return {
        "datasets": [{"name": c.name, "split": c.split, "revision": c.revision} for c in plan.train_corpora],
        "articles": articles,
        "updates": {config.name: config.updates(articles) for config in plan.trainings},
        "reward": plan.reward,
    }


def _requests(plan: Plan) -> dict[str, int | None]:
    """How many requests each endpoint gets, by system. None: nobody knows how many articles there are.

    Where answers of other runs are copied, there are fewer.
    """
    found: dict[str, int | None] = {}
    for stage in plan.stages:
        endpoint = stage.generator
        if isinstance(endpoint, Endpoint):
            each = 1 if endpoint.has_uncut else len(stage.lengths)
            found[endpoint.signature] = None if plan.articles is None else plan.articles * each
    return found


def _actors_here(plan: Plan) -> tuple[ActorPlan, str | None]:
    """What each actor would pin on this machine, how many there would be, and how the choice of sharing was made.

    A run itself asks Ray.

    Raises:
        ClusterError: this machine has not what the recipe asks for.
        NwsError: there are GPUs to share, and a model cannot be had.
    """
    recipe = plan.recipe
    names = _gpus_here()
    accelerator = None if recipe.accelerator == "auto" else recipe.accelerator
    cores = os.cpu_count() or 1
    here: dict[str, float] = {"CPU": cores, "GPU": len(names)}
    if accelerator is not None and any(accelerator in name for name in names):
        here[TYPE_PREFIX + accelerator] = 1
    if recipe.gpus_per_actor is not None:
        return plan_actors(here, accelerator, recipe.actors, recipe.gpus_per_actor), None
    resources, gpus = plan_actors(here, accelerator, None)
    if not resources.num_gpus:
        return plan_actors(here, accelerator, recipe.actors), None
    node = GpuNode(cores, gpus, cards_here())
    sharing = sharing_on([node], plan.training_and_stages, recipe.gpu_memory_fraction)
    return plan_actors(here, accelerator, recipe.actors, sharing.share(gpus, recipe.actors)), sharing.reason


def _gpus_here() -> list[str]:
    import torch

    return [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]


def _device(plan: Plan) -> tuple[str, str | None]:
    """What the actors would pin on this machine, or why they could not start; and how they share a GPU."""
    try:
        (resources, actors), sharing = _actors_here(plan)
    except ClusterError as error:
        return f"not on this machine: {error}", None
    return f"{actors} x {resources.describe()}", sharing


def size_text(size: float) -> str:
    """Bytes for people: `0.9 MB`, `12 GB`."""
    unit, name = (1e9, "GB") if size >= 1e9 else (1e6, "MB")
    return f"{size / unit:.{0 if size >= 10 * unit else 1}f} {name}"


def print_description(described: dict[str, Any], console: Console) -> None:
    """A description for people, one fact a line."""

    def line(name: str, value: object) -> None:
        console.print(f"{name:<13} {value}", highlight=False, soft_wrap=True)

    if training := described["training"]:
        names = ", ".join(f"{dataset['name']} ({dataset['split']})" for dataset in training["datasets"])
        line("trained on", f"{names}: {training['articles']} articles")
        for policy, updates in training["updates"].items():
            line("policy", f"{policy}: {updates} updates")
        line("reward", training["reward"])
    for dataset in described["datasets"]:
        count = "unknown number of" if dataset["articles"] is None else dataset["articles"]
        line("dataset", f"{dataset['name']} ({dataset['split']}): {count} articles, {dataset['revision']}")
    line("segmentation", described["segmentation"])
    for encoder in described["encoders"].values():
        line("encoder", encoder)
    for generator in described["generators"].values():
        line("generator", generator)
    for system, requests in described["requests"].items():
        counted = "unknown" if requests is None else f"{requests:,}"
        line("requests", f"{system}: {counted}; less what is copied from other runs")
    for plugin in described["plugins"].values():
        line("plugin", plugin)
    for name, file in described["predictions"].items():
        line("predictions", f"{name}: {file}")
    line("bertscore", described["bertscore"])
    for system in described["systems"]:
        line("system", f"{system} (upper bound)" if described["kinds"][system] == "upper bound" else system)
    line("n", ", ".join(map(str, described["n"])) + ("" if described["unit"] == "words" else f" {described['unit']}"))
    rows = "unknown" if described["rows"] is None else described["rows"]
    line("rows", f"{rows} (articles x systems x n, and uncut summaries of those that have a length of their own)")
    if described["store_bytes"] is not None:
        line("store", f"about {size_text(described['store_bytes'])}, besides the texts of new articles")
    for signature in described["metrics"].values():
        line("metric", signature)
    line("seed", described["seed"])
    line("device", described["device"])
    if described["sharing"]:
        line("sharing", described["sharing"])


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


def estimate(plan: Plan, described: Mapping[str, Any], runs: Sequence[RunInfo], engine: Engine) -> Estimate:
    """How long a run would take, as finished runs of its recipe on the same device say, whatever their articles and n.

    Args:
        plan: what it would run.
        described: its description, see `describe`.
        runs: those of its store, the newest first.
        engine: what would run it.
    """
    articles, summaries = described["articles"], described["rows"]
    if articles is None:
        return Estimate("not known: the dataset does not tell how many articles it has. Set --limit")
    wanted = _without_amount(plan.recipe.model_dump(mode="json"))
    alike = [
        run
        for run in runs
        if (run.job, run.state, run.reused) == (plan.job, "done", 0)
        and run.articles_done > 0
        and _ran_there(run, plan, described["device"], engine)
        and _without_amount(run.recipe) == wanted
    ][:_RUNS]
    if not alike:
        return Estimate(
            "not known: the store has no finished run of this recipe on such a device. Submit one with a small "
            "--limit; every run says how long it still takes, once its first articles are done"
        )
    ends = [end for run in alike for end in _ends(run, articles, summaries, plan.training is not None)]
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


def _ran_there(run: RunInfo, plan: Plan, here: str, engine: Engine) -> bool:
    """Whether a run ran where this one would: on as many actors of the kind, or, on a cluster, on its accelerator.

    `here` says what the actors would pin on this machine, or that they cannot.
    """
    device = run.device or ""
    if engine == "inline":
        return device.startswith("inline,") and ("1 CPU" in device) == ("GPU" not in here)
    if engine == "ray" and " x " in here.split(":")[0]:
        return run.address is None and device.startswith(here)
    asked = plan.recipe.accelerator
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
