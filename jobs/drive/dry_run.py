"""What a submission would run, and how long that would take, judging by earlier runs of its store."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from nws.core.models.endpoint import Endpoint
from nws.jobs.drive.ask import Requests, estimate_requests
from nws.jobs.drive.pools import Engine
from nws.jobs.drive.progress import duration
from nws.jobs.recipes.base import LENGTHS, SHOWN
from nws.jobs.recipes.load import load_recipe
from nws.jobs.recipes.plan import Plan
from nws.jobs.recipes.sweep_recipe import Phase1Recipe
from nws.jobs.store import RunInfo, seconds_of_driver

_ROW_BYTES, _WORD_BYTES = 460, 6
"""The bytes of a summary in a store with its indexes, and of each of its words (docs/scale.md)."""
# Recipe keys that change only the number of articles or summaries, or that cost no time.
_IRRELEVANT_KEYS = {"datasets", "seed", "predictions", *LENGTHS, *SHOWN}
_IRRELEVANT_KEYS |= {"wait_for_machines", "stuck_after", "stop_after_equal_failures"}
# The most seconds of a run that do not grow with its articles: Ray starts, and models are loaded.
_LOADING_SECONDS = 60
# An estimate is multiplied by these, since a machine is busier at one time than at another.
_LEAST, _MOST = 0.8, 1.25
# Articles a second with the models and systems of the recipe `paper`, articles of 640 words (docs/gpu.md).
_H100, _H200 = 24.3, 27.1


def describe(plan: Plan) -> dict[str, Any]:
    """Describe a run by plain values: articles, systems, rows, models with revisions, requests and metrics.

    `rows` is the number of summaries: one of each length by every system, and an uncut one by systems that choose their
    length. `articles` and `rows` are None where a streamed dataset does not tell its size.
    """
    articles = plan.articles
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
        "systems": list(plan.systems),
        "kinds": plan.systems,
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
    }


def _training(plan: Plan) -> dict[str, Any] | None:
    """Describe the training articles, the updates of each policy and the reward; None where nothing is trained."""
    if plan.training is None:
        return None
    sizes = (sum(1 for _ in corpus) if corpus.ids is None else len(corpus.ids) for corpus in plan.train_corpora)
    articles = sum(sizes)
    return {
        "datasets": [{"name": c.name, "split": c.split, "revision": c.revision} for c in plan.train_corpora],
        "articles": articles,
        "updates": {config.name: config.updates(articles) for config in plan.trainings},
        "reward": plan.reward,
    }


def _requests(plan: Plan) -> dict[str, dict[str, int | None] | None]:
    """Return the fields of `Requests` for each endpoint, by system; None where the number of articles is unknown.

    There are fewer requests where answers of other runs are copied.
    """
    articles = plan.articles
    return {
        endpoint.signature: None if articles is None else asdict(estimate_requests(plan, stage, endpoint, articles))
        for stage in plan.stages
        if isinstance(endpoint := stage.generator, Endpoint)
    }


def size_text(size: float) -> str:
    """Format bytes for people: `0.9 MB`, `12 GB`."""
    unit, name = (1e9, "GB") if size >= 1e9 else (1e6, "MB")
    return f"{size / unit:.{0 if size >= 10 * unit else 1}f} {name}"


def print_description(described: dict[str, Any], console: Console) -> None:
    """Print a description, one fact a line."""

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
    for kind in ("encoder", "generator", "plugin", "metric"):
        for revision in described[f"{kind}s"].values():
            line(kind, revision)
    for system, requests in described["requests"].items():
        counted = "unknown number of requests" if requests is None else str(Requests(**requests))
        line("requests", f"{system}: {counted}; fewer if answers are copied from other runs")
    for name, file in described["predictions"].items():
        line("predictions", f"{name}: {file}")
    for system in described["systems"]:
        line("system", f"{system} (oracle)" if described["kinds"][system] == "oracle" else system)
    line("n", ", ".join(map(str, described["n"])) + ("" if described["unit"] == "words" else f" {described['unit']}"))
    rows = "unknown" if described["rows"] is None else described["rows"]
    line("rows", f"{rows} (articles x systems x n, and an uncut summary by each system that chooses its length)")
    if described["store_bytes"] is not None:
        line("store", f"about {size_text(described['store_bytes'])}, and the texts of new articles")
    for name in ("segmentation", "bertscore", "seed"):
        line(name, described[name])


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate of how long a run would take.

    Attributes:
        basis: the run that the estimate is based on, or why there is no estimate, in words.
        seconds: the range that the time of the whole run probably lies in; None where there is no estimate.
    """

    basis: str
    seconds: tuple[float, float] | None = None


def estimate(plan: Plan, described: Mapping[str, Any], runs: Sequence[RunInfo], engine: Engine) -> Estimate:
    """Estimate how long a run would take from the newest finished run of its recipe, whatever its articles and n.

    Without such a run, the time of the recipe `paper` is estimated from measured cards.

    Args:
        plan: the plan of the run.
        described: its description, see `describe`.
        runs: the runs of its store, the newest first.
        engine: the engine that would run it.
    """
    articles, summaries = described["articles"], described["rows"]
    if articles is None:
        return Estimate("unknown: the dataset does not tell how many articles it has. Set --limit")
    wanted = _decisive(plan.recipe.model_dump(mode="json"))
    alike = (
        run
        for run in runs
        if (run.job, run.state, run.reused, _engine(run)) == (plan.job, "done", 0, engine)
        and run.articles_done > 0
        and _decisive(run.recipe) == wanted
    )
    run = next(alike, None)
    if run is None and wanted == _decisive(load_recipe(Phase1Recipe, "paper", {}).model_dump(mode="json")):
        return Estimate(
            f"an estimate from other cards, for articles of 640 words: an H100 took {_H100} articles a second, an "
            f"H200 {_H200} (docs/gpu.md). No T4 was measured; its peak speed is an eighth of theirs",
            (articles / _H200, articles / _H100),
        )
    if run is None:
        return Estimate(
            "unknown: the store has no finished run of this recipe on this kind of device. Submit one with a small "
            "--limit. Every run shows the time left once its first articles are done"
        )
    took = run.worked_seconds + seconds_of_driver(run)
    # Some time does not grow: that of a training, and of loading. The rest grows with articles, or with summaries.
    most_fixed = took if plan.training is not None else min(took, _LOADING_SECONDS)
    factors = (articles / run.articles_done, summaries / run.summaries)
    ends = [fixed + (took - fixed) * factor for fixed in (0.0, most_fixed) for factor in factors]
    basis = f"{run.id}: {run.articles_done} articles in {duration(took)} on {run.device}"
    return Estimate(basis, (_LEAST * min(ends), _MOST * max(ends)))


def _engine(run: RunInfo) -> Engine:
    """Return the engine that ran a run."""
    if run.address is not None:
        return "cluster"
    return "inline" if (run.device or "").startswith("inline,") else "ray"


def _decisive(recipe: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in recipe.items() if name not in _IRRELEVANT_KEYS}


def print_estimate(estimated: Estimate, console: Console) -> None:
    """Print how long a run would take, or why that is unknown."""
    time = estimated.basis
    if estimated.seconds is not None:
        time = f"{' to '.join(map(duration, estimated.seconds))} ({estimated.basis})"
    console.print(f"{'time':<13} {time}", highlight=False, markup=False, soft_wrap=True)
