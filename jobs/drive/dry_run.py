"""What a submission would run, without running it, and how long that would take, as earlier runs of its store say."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from nws.core.models.endpoint import Endpoint
from nws.jobs.drive.ask import Requests, requests_of
from nws.jobs.drive.pools import Engine
from nws.jobs.drive.progress import duration
from nws.jobs.recipes.base import LENGTHS, SHOWN
from nws.jobs.recipes.load import load_recipe
from nws.jobs.recipes.plan import Plan
from nws.jobs.recipes.sweep_recipe import Phase1Recipe
from nws.jobs.store import RunInfo, seconds_of_driver

_ROW_BYTES, _WORD_BYTES = 460, 6
"""Of a summary in a store with its indexes, and of each of its words (docs/scale.md)."""
# What decides how many articles and summaries a run has, and not what each of them takes; and what costs no time.
_NO_MATTER = {"datasets", "seed", "predictions", *LENGTHS, *SHOWN}
_NO_MATTER |= {"wait_for_machines", "stuck_after", "stop_after_equal_failures"}
# Of a run, about so many seconds at most do not grow with its articles: Ray starts, and models are loaded.
_LOADING_SECONDS = 60
# Times what an earlier run says: a machine is busier at one time than at another.
_LEAST, _MOST = 0.8, 1.25
# Articles a second with the models and systems of the recipe `paper`, articles of 640 words (docs/gpu.md).
_H100, _H200 = 24.3, 27.1


def describe(plan: Plan) -> dict[str, Any]:
    """Articles, systems, rows, models with revisions, requests and metrics of a run, as plain values.

    `rows` counts the summaries: one of each length by every system, and one uncut by those with a length of their own.
    `articles` and `rows` are None where a streamed dataset does not tell its size.
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
    """What policies are trained on, and how many updates each policy has; None where nothing is trained."""
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
    """The requests to each endpoint, by system (`Requests`). None: nobody knows how many articles there are.

    Where answers of other runs are copied, there are fewer.
    """
    return {
        endpoint.signature: None if plan.articles is None else asdict(requests_of(plan, stage, endpoint, plan.articles))
        for stage in plan.stages
        if isinstance(endpoint := stage.generator, Endpoint)
    }


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
    for kind in ("encoder", "generator", "plugin", "metric"):
        for revision in described[f"{kind}s"].values():
            line(kind, revision)
    for system, requests in described["requests"].items():
        counted = "unknown number of requests" if requests is None else str(Requests(**requests))
        line("requests", f"{system}: {counted}; fewer where other runs have the texts")
    for name, file in described["predictions"].items():
        line("predictions", f"{name}: {file}")
    for system in described["systems"]:
        line("system", f"{system} (oracle)" if described["kinds"][system] == "oracle" else system)
    line("n", ", ".join(map(str, described["n"])) + ("" if described["unit"] == "words" else f" {described['unit']}"))
    rows = "unknown" if described["rows"] is None else described["rows"]
    line("rows", f"{rows} (articles x systems x n, and uncut summaries of those that have a length of their own)")
    if described["store_bytes"] is not None:
        line("store", f"about {size_text(described['store_bytes'])}, besides the texts of new articles")
    for name in ("segmentation", "bertscore", "seed"):
        line(name, described[name])


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long a run would take.

    Attributes:
        basis: what it rests on, or why nothing is known, in words.
        seconds: of the whole run, the least and the most that is probable; None where nothing is known.
    """

    basis: str
    seconds: tuple[float, float] | None = None


def estimate(plan: Plan, described: Mapping[str, Any], runs: Sequence[RunInfo], engine: Engine) -> Estimate:
    """Estimate how long a run would take from the newest finished run of its recipe, whatever its articles and n.

    Without such a run, the time of the recipe `paper` is estimated from measured cards.

    Args:
        plan: what it would run.
        described: its description, see `describe`.
        runs: those of its store, the newest first.
        engine: what would run it.
    """
    articles, summaries = described["articles"], described["rows"]
    if articles is None:
        return Estimate("not known: the dataset does not tell how many articles it has. Set --limit")
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
            "not known: the store has no finished run of this recipe on such a device. Submit one with a small "
            "--limit; every run says how long it still takes, once its first articles are done"
        )
    took = run.worked_seconds + seconds_of_driver(run)
    # A part does not grow: all of a training, and some of any. One grows with articles, which are read, or summaries.
    most_fixed = took if plan.training is not None else min(took, _LOADING_SECONDS)
    factors = (articles / run.articles_done, summaries / run.summaries)
    ends = [fixed + (took - fixed) * factor for fixed in (0.0, most_fixed) for factor in factors]
    basis = f"{run.id}: {run.articles_done} articles in {duration(took)} on {run.device}"
    return Estimate(basis, (_LEAST * min(ends), _MOST * max(ends)))


def _engine(run: RunInfo) -> Engine:
    """What ran a run."""
    if run.address is not None:
        return "cluster"
    return "inline" if (run.device or "").startswith("inline,") else "ray"


def _decisive(recipe: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in recipe.items() if name not in _NO_MATTER}


def print_estimate(estimated: Estimate, console: Console) -> None:
    """Print how long a run would take, or why nobody knows."""
    time = estimated.basis
    if estimated.seconds is not None:
        time = f"{' to '.join(map(duration, estimated.seconds))} ({estimated.basis})"
    console.print(f"{'time':<13} {time}", highlight=False, markup=False, soft_wrap=True)
