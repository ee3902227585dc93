"""What a submission would run, without running it."""

import os
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from cluster.resources import ActorPlan, ActorResources, plan_actors
from core.errors import ClusterError
from core.precision import Precision
from jobs.plan.pinned import Pinned

# So slow in float32 that they are busy for most of the time: of BERT-base models, some 0.25 s an article by FLOP,
# ten times what an article takes in Python. An estimate: no GPU was measured.
_SLOW_GPUS = ("T4", "P4", "K80")


def describe(pinned: Pinned) -> dict[str, Any]:
    """Articles, systems, rows, models with revisions, metrics and device of a run, as plain values.

    `rows` counts the summaries: one of each length by every system, and one uncut by those with a length of their own.
    `articles` and `rows` are None where a streamed dataset does not tell its size.
    """
    articles = pinned.articles
    systems = pinned.systems
    device, sharing = _device(pinned)
    per_article = sum(planned.plan.summaries_per_article for planned in pinned.stages)
    return {
        "datasets": [
            {"name": c.name, "split": c.split, "revision": c.revision, "articles": c.size} for c in pinned.corpora
        ],
        "articles": articles,
        "training": _training(pinned),
        "n": list(pinned.recipe.n),
        "systems": list(systems),
        "kinds": systems,
        "rows": None if articles is None else articles * per_article,
        "encoders": pinned.revisions["encoders"],
        "generators": pinned.revisions.get("generators", {}),
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


def actors_here(pinned: Pinned) -> ActorPlan:
    """What each actor would pin on this machine, and how many there would be. A run itself asks Ray.

    Raises:
        ClusterError: this machine has not what the recipe asks for.
    """
    names = _gpus()
    accelerator = None if pinned.recipe.accelerator == "auto" else pinned.recipe.accelerator
    here: dict[str, float] = {"CPU": os.cpu_count() or 1, "GPU": len(names)}
    if accelerator is not None and any(accelerator in name for name in names):
        here[f"accelerator_type:{accelerator}"] = 1
    return plan_actors(here, accelerator, pinned.recipe.actors, pinned.recipe.gpus_per_actor)


def _gpus() -> list[str]:
    import torch

    return [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]


def _device(pinned: Pinned) -> tuple[str, str | None]:
    """What the actors would pin on this machine, or why they could not start; and what is to be said of sharing."""
    try:
        resources, actors = actors_here(pinned)
    except ClusterError as error:
        return f"not on this machine: {error}", None
    return f"{actors} x {resources.describe()}", sharing_advice(resources, _gpus(), pinned.recipe.precision)


def sharing_advice(resources: ActorResources, names: Sequence[str], precision: Precision) -> str | None:
    """That several actors should share a GPU; None where none is pinned, several do already, or one keeps it busy.

    Args:
        resources: what each actor pins.
        names: of the GPUs of this machine.
        precision: what the models compute in.
    """
    kinds = [resources.accelerator_type] if resources.accelerator_type else names
    is_slow = precision == "float32" and all(any(slow in kind.split() for slow in _SLOW_GPUS) for kind in kinds)
    if resources.num_gpus < 1 or is_slow:
        return None
    return (
        "one actor alone leaves such a GPU waiting while it computes in Python: set gpus_per_actor: 0.5 or 0.25 in the "
        "recipe (`make bench-gpu` measures which)"
    )


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
    for plugin in plan["plugins"].values():
        line("plugin", plugin)
    for name, file in plan["predictions"].items():
        line("predictions", f"{name}: {file}")
    line("bertscore", plan["bertscore"])
    for system in plan["systems"]:
        line("system", f"{system} (upper bound)" if plan["kinds"][system] == "upper bound" else system)
    line("n", ", ".join(map(str, plan["n"])))
    rows = "unknown" if plan["rows"] is None else plan["rows"]
    line("rows", f"{rows} (articles x systems x n, and uncut summaries of those that have a length of their own)")
    for signature in plan["metrics"].values():
        line("metric", signature)
    line("seed", plan["seed"])
    line("device", plan["device"])
    if plan["sharing"]:
        line("sharing", plan["sharing"])
