"""Phase 2 without Ray or a database: train on the first articles of a file, compare on the last ones.

    python -m bench.phase2_core --dataset cnn_dailymail.jsonl --train 45 --test 15

Prints a table of mean BERTScore F1 by n, of the learnt pair, the baselines and the oracle, and the CPU seconds.
"""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from core.episodes import EpisodePlan, make_worker, parameters_of
from core.learning.checkpoint import Checkpoint, save_checkpoint
from core.learning.learner import Learner, OptimizerConfig
from core.learning.policies import PolicyConfig, make_policies
from core.learning.policy_system import policy_system
from core.learning.reinforce import ReinforceConfig
from core.learning.reward import RewardConfig
from core.learning.training import TrainingConfig, train
from core.metrics.bertscore import BertScoreConfig
from core.metrics.rouge import RougeConfig
from core.metrics.standard import MetricsConfig
from core.models import parse_model, resolve_model
from core.summarizers.baselines import BASELINES
from core.summarizers.systems import System
from core.sweep import SweepPlan, make_sweeper
from core.text.corpus import DatasetSpec, open_corpus
from core.text.segmentation import Segmenter
from core.types import SegmentedArticle, Summary

MODEL = resolve_model(parse_model("all-MiniLM-L6-v2"))
BERTSCORE = BertScoreConfig(MODEL, 6)
LENGTHS = (7, 9, 11, 13)
RIVALS = ("textrank", "lead", "lead2+chunks")


def plan_of(as_written: bool, seed: int) -> tuple[EpisodePlan, TrainingConfig]:
    """The default recipe, or REINFORCE as the study wrote it."""
    reward = RewardConfig(BERTSCORE)
    if not as_written:
        return EpisodePlan(MODEL, PolicyConfig(), ReinforceConfig(), reward, seed), TrainingConfig(LENGTHS)
    reinforce = ReinforceConfig(1, "none", normalise=False, entropy_weight=0.0, log_probability="softmax-sum")
    policies = PolicyConfig("embeddings", hidden=128, residual=False, mask_repeats=False)
    optimizer = OptimizerConfig(learning_rate=1e-3, max_grad_norm=None)
    return EpisodePlan(MODEL, policies, reinforce, reward, seed), TrainingConfig(LENGTHS, 4000, 1, optimizer)


def learn(plan: EpisodePlan, config: TrainingConfig, articles: Sequence[SegmentedArticle]) -> Checkpoint:
    worker = make_worker(plan, "cpu")
    policies = make_policies(plan.policies, 384, plan.seed)
    learner = Learner({name: torch.from_numpy(v) for name, v in parameters_of(policies).items()}, config.optimizer)
    for statistics in train(learner, worker, articles, config, plan.seed):
        if statistics.update % (config.updates // 10) == 0:
            print(
                f"update {statistics.update:4d}  reward {statistics.reward:.4f}  entropy {statistics.entropy:.2f}  "
                f"grad_norm {statistics.grad_norm:.2f}  {time.process_time():.0f} CPU s",
                flush=True,
            )
    return Checkpoint(plan.policies, config.lengths, MODEL.name, learner.parameters)


def summaries_by(systems: Sequence[System], articles: Sequence[SegmentedArticle]) -> list[Summary]:
    metrics = MetricsConfig(BERTSCORE, RougeConfig())
    sweep = make_sweeper(SweepPlan("en", "blank", (MODEL,), tuple(systems), LENGTHS, metrics, seed=0), "cpu")
    return sweep(articles)


def by_article(summaries: Sequence[Summary], system: str, n: int, column: str = "bertscore_f1") -> np.ndarray:
    return np.array([s.scores.columns()[column] for s in summaries if s.system == system and s.n == n])


def interval(differences: np.ndarray) -> tuple[float, float]:
    """95 % percentile bootstrap of the mean over articles."""
    draws = np.random.default_rng(0).integers(0, len(differences), (10_000, len(differences)))
    low, high = np.quantile(differences[draws].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--train", type=int, default=45)
    parser.add_argument("--test", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--updates", type=int)
    parser.add_argument("--as-written", action="store_true")
    parser.add_argument("--no-oracle", action="store_true")
    parser.add_argument("--checkpoint", type=Path)
    options = parser.parse_args()
    segment = Segmenter("blank")
    articles = [segment(article) for article in open_corpus(DatasetSpec(options.dataset))]
    plan, config = plan_of(options.as_written, options.seed)
    config = config if options.updates is None else replace(config, updates=options.updates)
    started, wall = time.process_time(), time.perf_counter()
    checkpoint = learn(plan, config, articles[: options.train])
    print(f"trained in {time.process_time() - started:.0f} CPU s, {time.perf_counter() - wall:.0f} s on the clock")
    if options.checkpoint is not None:
        save_checkpoint(checkpoint, options.checkpoint)
    system = policy_system("bench", [checkpoint])
    names = [*RIVALS, *(() if options.no_oracle else ("oracle",))]
    test = summaries_by([system, *(BASELINES[name](MODEL.name, 0) for name in names)], articles[-options.test :])
    seen = summaries_by([system], articles[: options.train])
    print(f"{'n':16s}" + "".join(f"{n:24d}" for n in LENGTHS))
    print(f"{'policy, train':16s}" + "".join(f"{by_article(seen, system.signature, n).mean():24.4f}" for n in LENGTHS))
    mine = {n: by_article(test, system.signature, n) for n in LENGTHS}
    print(f"{'policy':16s}" + "".join(f"{mine[n].mean():24.4f}" for n in LENGTHS))
    for name in names:
        theirs = {n: by_article(test, name, n) for n in LENGTHS}
        print(f"{name:16s}" + "".join(f"{theirs[n].mean():24.4f}" for n in LENGTHS))
        cells = []
        for n in LENGTHS:
            low, high = interval(mine[n] - theirs[n])
            cells.append(f"{(mine[n] - theirs[n]).mean():+.3f} [{low:+.3f}, {high:+.3f}]".rjust(24))
        print(f"{'  policy less it':16s}" + "".join(cells))
    if "oracle" in names:
        gap = {n: by_article(test, "oracle", n).mean() - by_article(test, "textrank", n).mean() for n in LENGTHS}
        gain = {n: mine[n].mean() - by_article(test, "textrank", n).mean() for n in LENGTHS}
        print(f"{'gap closed':16s}" + "".join(f"{gain[n] / gap[n]:24.0%}" for n in LENGTHS))
    print(json.dumps({"samples": [s.text for s in test if s.system == system.signature][:8]}, indent=1))


if __name__ == "__main__":
    main()
