"""Which settings rerank best, by cross-validation: the table "Settings of reranking" in docs/phase2.md.

Policies learn from the other folds; then each draws 160 summaries of every held-out article at every n. All settings
choose among the same draws. The draws are written to a CSV file, because training is dear and looking is cheap.

    python bench/rerank_settings.py cnn_dailymail.jsonl --articles 60 --out draws.csv
    python bench/rerank_settings.py --show draws.csv --first 45
"""

import argparse
import csv
import itertools
import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from core.episodes import EpisodeRunner
from core.gpu_arithmetic import find_device
from core.learning.environment import positions_taken
from core.learning.learner import Learner, train
from core.learning.policies import FeaturePolicies, StudyPolicies, make_policies, restore_policies
from core.learning.reward import RewardConfig
from core.learning.sampling import Choice, Draw, Greedy, episodes, falling
from core.learning.training_config import TrainingConfig
from core.metrics.bertscore import AnchorScorer, BertScorer
from core.metrics.config import BertScoreConfig
from core.models import parse_model, resolve_model
from core.summarizers.composition import adjacent_share
from core.summarizers.lead import first_sentences
from core.text.corpus import DatasetSpec, open_corpus
from core.types import Article
from core.worker_factories import EpisodePlan, make_episode_runner

K = 160
LENGTHS = (7, 9, 11, 13)
LEADS = (1, 2, 3, 4, 6)
MODEL = resolve_model(parse_model("all-MiniLM-L6-v2"))
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", nargs="?", help="a JSONL file")
    parser.add_argument("--articles", type=int, default=60)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--out", type=Path, default=Path("draws.csv"))
    parser.add_argument("--show", type=Path, help="only show the table of draws written before")
    parser.add_argument("--first", type=int, help="only of the first so many articles")
    asked = parser.parse_args()
    if asked.show is None:
        articles = list(open_corpus(DatasetSpec(asked.dataset, limit=asked.articles)))
        rows = list(cross_validated(articles, asked.folds, asked.seeds))
        with asked.out.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
    with (asked.show or asked.out).open(encoding="utf-8", newline="") as file:
        read = [{key: _number(value) for key, value in row.items()} for row in csv.DictReader(file)]
    show([row for row in read if asked.first is None or row["article"] < asked.first])


def cross_validated(articles: Sequence[Article], folds: int, seeds: Sequence[int]) -> Iterator[Row]:
    """Of every held-out article, n and seed the greedy summary (draw -1) and K draws, with their scores."""
    torch.set_num_threads(1)
    bertscore = BertScoreConfig(MODEL, 6)
    runner = make_episode_runner(EpisodePlan("en", "blank", MODEL, RewardConfig(bertscore)), "cpu")
    scorer = BertScorer(bertscore, find_device("cpu"))
    for fold, seed in itertools.product(range(folds), seeds):
        policies = trained(runner, [article for i, article in enumerate(articles) if i % folds != fold], seed)
        for i in range(fold, len(articles), folds):
            yield from drawn(runner, scorer, policies, i, articles[i], seed)


def trained(runner: EpisodeRunner, articles: Sequence[Article], seed: int) -> FeaturePolicies | StudyPolicies:
    training = TrainingConfig("bench", seed, LENGTHS)
    learner = Learner(training, make_policies(training.policies, 0, seed).state_dict())
    for _ in train([learner], runner.learn, articles):
        pass
    return restore_policies(training.policies, learner.parameters)


def drawn(
    runner: EpisodeRunner,
    scorer: BertScorer,
    policies: FeaturePolicies | StudyPolicies,
    index: int,
    article: Article,
    seed: int,
) -> Iterator[Row]:
    prepared = runner.prepared(article, mask_repeats=True)
    segmented = prepared.segmented
    with torch.no_grad():
        chosen = sorted(falling(policies.sentence_logits(prepared).numpy())[:3].tolist())
    anchors = {f"lead{count}": first_sentences(segmented, count) for count in LEADS}
    anchors["chosen3"] = " ".join(segmented.sentences[i].text for i in chosen)
    f1 = AnchorScorer(scorer)
    for n in LENGTHS:
        generator = np.random.default_rng([seed, int(article.content_hash[:16], 16), n])
        choices: tuple[tuple[int, Choice], ...] = ((-1, Greedy()), (0, Draw(generator, K)))
        for first, choice in choices:
            with torch.no_grad():
                written = episodes(policies, prepared, n, 3, choice)
            scores = {name: f1(anchor, written.texts) for name, anchor in anchors.items()}
            by_reference = [f1(reference, written.texts) for reference in article.references]
            for i, (text, taken) in enumerate(zip(written.texts, written.chunks, strict=True)):
                yield {
                    **{"article": index, "n": n, "seed": seed, "draw": first + i, "text": text},
                    "adjacent": adjacent_share(sorted(positions_taken(segmented, taken, n))),
                    "reference": max(of_one[i] for of_one in by_reference),
                    **{name: of_anchor[i] for name, of_anchor in scores.items()},
                }


def show(rows: Sequence[Row]) -> None:
    """F1 against the reference by n and on the mean, and the share of neighbours kept, of what each setting keeps."""
    greedy = [row for row in rows if row["draw"] < 0]
    of_place: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if row["draw"] >= 0:
            of_place.setdefault((row["article"], row["n"], row["seed"]), []).append(row)

    def kept(score: Callable[[Row], float], k: int = K) -> list[Row]:
        return [max(draws[:k], key=score) for draws in of_place.values()]

    def line(name: str, chosen: Sequence[Row]) -> None:
        by_n = [statistics.fmean(row["reference"] for row in chosen if row["n"] == n) for n in LENGTHS]
        adjacent = statistics.fmean(row["adjacent"] for row in chosen)
        print(f"{name:<28} {' '.join(f'{f1:.3f}' for f1 in by_n)}  {statistics.fmean(by_n):.4f}  {adjacent:.3f}")

    print(f"{'':<28} {' '.join(f'n={n:<3}' for n in LENGTHS)}  mean    neighbours")
    line("greedy", greedy)
    for name in (*(f"lead{count}" for count in LEADS), "chosen3"):
        line(f"{K}, {name}", kept(lambda row, name=name: row[name]))  # type: ignore[misc]
    for k in (16, 48, K):
        line(f"{k}, lead3", kept(lambda row: row["lead3"], k))
    for weight in (0, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1):
        line(f"{K}, lead3, weight {weight}", kept(lambda row, w=weight: row["lead3"] + w * row["adjacent"]))  # type: ignore[misc]
    line("best by the reference", kept(lambda row: row["reference"]))
    different = [len({row["text"] for row in draws}) for draws in of_place.values()]
    print(f"different texts among {K}: {statistics.fmean(different):.0f}")


def _number(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value


if __name__ == "__main__":
    main()
