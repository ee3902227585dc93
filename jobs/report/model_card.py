"""The model card of policies that are shared: README.md in the Hub's form, and the recipe that makes them again."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from huggingface_hub import ModelCard, ModelCardData

from core.analysis import POLICY, split_seed
from core.learning.policy_system import PolicySystem
from jobs.report.metric_names import metric_signature
from jobs.report.numerals import decimals
from jobs.report.policy_numbers import PolicyNumbers, PolicyResults, analyse_policies
from jobs.report.policy_report import policy_tables, sentences, what_is_known
from jobs.report.run_status import dataset_part
from jobs.store import RunInfo

CARD, RECIPE = "README.md", "recipe.yaml"
_TEMPLATE = Path(__file__).with_name("model_card.md.j2")


def write_model_card(run: RunInfo, results: PolicyResults, system: PolicySystem, folder: Path) -> None:
    """Write `README.md` and `recipe.yaml` into the folder of exported policies.

    The card's metadata are what the Hub reads: language, tags and datasets of the Hub. It names no licence: that is for
    the owner of the policies to choose. Paths of this machine are left out: files and folders have their names alone.

    Args:
        run: that trained them.
        results: what it has in the store.
        system: the policies, which write as the card says.
        folder: which exists.

    Raises:
        OSError: it cannot be written.
    """
    recipe = yaml.safe_dump(_without_folders(run.recipe), sort_keys=False, allow_unicode=True)
    (folder / RECIPE).write_text(recipe, encoding="utf-8")
    _card(run, results, system).save(folder / CARD)


def _card(run: RunInfo, results: PolicyResults, system: PolicySystem) -> ModelCard:
    checkpoint = next(iter(system.checkpoints.values()))
    numbers = _judged(run, results, system)
    trained_on = [dict(dataset) for dataset in checkpoint.made_by["train_datasets"]]
    data = ModelCardData(
        language=checkpoint.reading.language,
        library_name="nws",
        pipeline_tag="summarization",
        tags=["nws", "summarization", "extractive-summarization", "reinforcement-learning"],
        datasets=[dataset["name"] for dataset in trained_on if "/" in dataset["name"]] or None,
        metrics=None if numbers is None else ["bertscore"],
    )
    card: ModelCard = ModelCard.from_template(
        data,
        str(_TEMPLATE),
        run=run,
        system=system.signature,
        chosen=shlex.quote(system.signature.removeprefix(POLICY)),
        decoding=system.decoding,
        lengths=", ".join(map(str, sorted(system.checkpoints))),
        checkpoint=checkpoint,
        unit=system.length_unit,
        folders=[
            ref for ref in (checkpoint.reading.encoder, checkpoint.reading.bertscore.model) if _is_path(ref.source)
        ],
        trained_on=[
            f"{dataset['name']} {dataset['split']}@{dataset['revision']}{dataset_part(dataset)}"
            for dataset in trained_on
        ],
        judged_on=[
            f"{name} {revision}{dataset_part(dataset)}"
            for (name, revision), dataset in zip(run.revisions["datasets"].items(), run.recipe["datasets"], strict=True)
        ],
        updates=_updates(system),
        datasets=[] if numbers is None else list(_dataset_sections(numbers, results, system)),
        signature=metric_signature(run, "bertscore_f1"),
    )
    return card


def _judged(run: RunInfo, results: PolicyResults, system: PolicySystem) -> PolicyNumbers | None:
    """The BERTScore of these policies, beside other systems but not the run's other policies; None if not judged."""
    points = results.points
    if system.signature not in points.systems:
        return None
    chosen = np.array([name == system.signature or not name.startswith(POLICY) for name in points.systems])
    return analyse_policies(run, replace(results, points=points.take(chosen[points.system]), curve=(), greedy=()))


def _dataset_sections(numbers: PolicyNumbers, results: PolicyResults, system: PolicySystem) -> Iterator[dict[str, Any]]:
    """The card's parts on the scores, one for each dataset of test articles."""
    for dataset in numbers.scored:
        for _, answer in sentences(numbers, dataset):
            yield {
                "answer": answer,
                "known": what_is_known(numbers, dataset),
                "tables": list(policy_tables(numbers, dataset)),
                "other_seeds": _other_seeds(numbers.run, results, system, dataset),
            }


def _other_seeds(run: RunInfo, results: PolicyResults, system: PolicySystem, dataset: str) -> dict[int, list[str]]:
    """Mean F1 by n of the policies that were trained alike, but for the seed."""
    method, own = split_seed(system.signature)
    scores = analyse_policies(run, replace(results, curve=(), greedy=())).of(dataset).get(method, {})
    others = {n: [decimals(mean) for seed, mean in at.seeds.items() if seed != own] for n, at in scores.items()}
    return {n: means for n, means in others.items() if means}


def _updates(system: PolicySystem) -> str:
    """The number of updates of each checkpoint, the one of the shortest n first."""
    made_by = {id(checkpoint): checkpoint.made_by for checkpoint in system.checkpoints.values()}.values()
    return ", ".join(f"{made['updates']} of {made['total_updates']}" for made in made_by)


def _without_folders(value: Any) -> Any:
    """A recipe whose files and folders are in the current folder."""
    if isinstance(value, Mapping):
        return {key: _without_folders(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_folders(item) for item in value]
    return Path(value).name if isinstance(value, str) and _is_path(value) else value


def _is_path(text: str) -> bool:
    return Path(text).is_absolute()
