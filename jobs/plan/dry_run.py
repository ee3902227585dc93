"""What a submission would run, without running it."""

import os
from typing import Any

from rich.console import Console

from cluster.gpus import TYPE_PREFIX, GpuNode, cards_here
from cluster.resources import ActorPlan, plan_actors
from core.errors import ClusterError
from core.models.endpoint import Endpoint
from jobs.plan.pinned import Pinned
from jobs.plan.sharing import sharing_on

_ROW_BYTES, _WORD_BYTES = 460, 6
"""Of a summary in a store with its indexes, and of each of its words (docs/scale.md)."""


def describe(pinned: Pinned) -> dict[str, Any]:
    """Articles, systems, rows, models with revisions, requests, metrics and device of a run, as plain values.

    `rows` counts the summaries: one of each length by every system, and one uncut by those with a length of their own.
    `articles` and `rows` are None where a streamed dataset does not tell its size.
    """
    articles = pinned.articles
    systems = pinned.systems
    device, sharing = _device(pinned)
    each = _WORD_BYTES if pinned.recipe.length_unit == "words" else 1
    per_row = _ROW_BYTES + each * sum(pinned.recipe.n) / len(pinned.recipe.n)
    per_article = sum(planned.plan.summaries_per_article for planned in pinned.stages)
    return {
        "datasets": [
            {"name": c.name, "split": c.split, "revision": c.revision, "articles": c.size} for c in pinned.corpora
        ],
        "articles": articles,
        "training": _training(pinned),
        "n": list(pinned.recipe.n),
        "unit": pinned.recipe.length_unit,
        "systems": list(systems),
        "kinds": systems,
        "rows": None if articles is None else articles * per_article,
        "store_bytes": None if articles is None else round(articles * per_article * per_row),
        "encoders": pinned.revisions["encoders"],
        "generators": pinned.revisions.get("generators", {}),
        "requests": _requests(pinned),
        "plugins": pinned.revisions.get("plugins", {}),
        "predictions": pinned.revisions.get("predictions", {}),
        "bertscore": pinned.revisions["bertscore"],
        "segmentation": pinned.revisions["segmentation"],
        "metrics": pinned.metrics.signatures,
        "seed": pinned.recipe.seed,
        "device": device,
        "sharing": sharing,
    }


def _training(pinned: Pinned) -> dict[str, Any] | None:
    """What policies are trained on, and how many updates each policy has; None where nothing is trained."""
    training = pinned.training
    if training is None:
        return None
    articles = sum(1 for corpus in training.corpora for _ in corpus)
    return {
        "datasets": [{"name": c.name, "split": c.split, "revision": c.revision} for c in training.corpora],
        "articles": articles,
        "updates": {config.name: config.updates(articles) for config in training.configs},
        "reward": training.reward,
    }


def _requests(pinned: Pinned) -> dict[str, int | None]:
    """How many requests each endpoint gets, by system. None: nobody knows how many articles there are.

    Where answers of other runs are copied, there are fewer.
    """
    found: dict[str, int | None] = {}
    for planned in pinned.stages:
        plan, endpoint = planned.plan, planned.plan.generator
        if isinstance(endpoint, Endpoint):
            each = 1 if endpoint.has_uncut else len(plan.lengths)
            found[endpoint.signature] = None if pinned.articles is None else pinned.articles * each
    return found


def _actors_here(pinned: Pinned) -> tuple[ActorPlan, str | None]:
    """What each actor would pin on this machine, how many there would be, and how the choice of sharing was made.

    A run itself asks Ray.

    Raises:
        ClusterError: this machine has not what the recipe asks for.
        NwsError: there are GPUs to share, and a model cannot be had.
    """
    recipe = pinned.recipe
    names = _gpus()
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
    sharing = sharing_on([node], pinned.plans, recipe.gpu_memory_fraction)
    return plan_actors(here, accelerator, recipe.actors, sharing.share(gpus, recipe.actors)), sharing.reason


def _gpus() -> list[str]:
    import torch

    return [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]


def _device(pinned: Pinned) -> tuple[str, str | None]:
    """What the actors would pin on this machine, or why they could not start; and how they share a GPU."""
    try:
        (resources, actors), sharing = _actors_here(pinned)
    except ClusterError as error:
        return f"not on this machine: {error}", None
    return f"{actors} x {resources.describe()}", sharing


def size_text(size: float) -> str:
    """Bytes for people: `0.9 MB`, `12 GB`."""
    unit, name = (1e9, "GB") if size >= 1e9 else (1e6, "MB")
    return f"{size / unit:.{0 if size >= 10 * unit else 1}f} {name}"


def print_description(plan: dict[str, Any], console: Console) -> None:
    """The description for people, one fact a line."""

    def line(name: str, value: object) -> None:
        console.print(f"{name:<13} {value}", highlight=False, soft_wrap=True)

    if training := plan["training"]:
        names = ", ".join(f"{dataset['name']} ({dataset['split']})" for dataset in training["datasets"])
        line("trained on", f"{names}: {training['articles']} articles")
        for policy, updates in training["updates"].items():
            line("policy", f"{policy}: {updates} updates")
        line("reward", training["reward"])
    for dataset in plan["datasets"]:
        count = "unknown number of" if dataset["articles"] is None else dataset["articles"]
        line("dataset", f"{dataset['name']} ({dataset['split']}): {count} articles, {dataset['revision']}")
    line("segmentation", plan["segmentation"])
    for encoder in plan["encoders"].values():
        line("encoder", encoder)
    for generator in plan["generators"].values():
        line("generator", generator)
    for system, requests in plan["requests"].items():
        counted = "unknown" if requests is None else f"{requests:,}"
        line("requests", f"{system}: {counted}; less what is copied from other runs")
    for plugin in plan["plugins"].values():
        line("plugin", plugin)
    for name, file in plan["predictions"].items():
        line("predictions", f"{name}: {file}")
    line("bertscore", plan["bertscore"])
    for system in plan["systems"]:
        line("system", f"{system} (upper bound)" if plan["kinds"][system] == "upper bound" else system)
    line("n", ", ".join(map(str, plan["n"])) + ("" if plan["unit"] == "words" else f" {plan['unit']}"))
    rows = "unknown" if plan["rows"] is None else plan["rows"]
    line("rows", f"{rows} (articles x systems x n, and uncut summaries of those that have a length of their own)")
    if plan["store_bytes"] is not None:
        line("store", f"about {size_text(plan['store_bytes'])}, besides the texts of new articles")
    for signature in plan["metrics"].values():
        line("metric", signature)
    line("seed", plan["seed"])
    line("device", plan["device"])
    if plan["sharing"]:
        line("sharing", plan["sharing"])
