"""Which settings rerank best, by cross-validation: the table "Settings of reranking" in docs/phase2.md.

Policies learn from the other folds; then each draws 160 summaries of every held-out article at every n. All settings
choose among the same draws. The draws are written to a CSV file, because training is dear and looking is cheap.

    python bench/rerank_settings.py cnn_dailymail.jsonl --articles 60 --out draws.csv
    python bench/rerank_settings.py --show draws.csv --first 45
    python bench/rerank_settings.py --show draws.csv --fluency-model smollm2    # once; the file then has it
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
from scipy.special import stdtrit

from core.analysis.sign_flip import holm, sign_flip_p
from core.arithmetic import find_device
from core.episodes import EpisodeRunner
from core.learning.environment import positions_taken
from core.learning.learner import Learner, train
from core.learning.policies import FeaturePolicies, StudyPolicies, make_policies, restore_policies
from core.learning.sampling import Choice, Draw, Greedy, episodes, falling
from core.learning.training_config import RewardConfig, TrainingConfig
from core.metrics.bertscore import AnchorScorer, BertScorer
from core.metrics.config import BertScoreConfig, RougeConfig
from core.metrics.fluency import Fluency
from core.models import LANGUAGE_MODELS, parse_model, resolve_model
from core.stage import MetricsConfig, Stage
from core.systems.composition import adjacent_share, first_sentences
from core.text.dataset import Dataset, open_dataset
from core.types import Article
from core.worker_factories import make_episode_runner

K = 160
LENGTHS = (7, 9, 11, 13)
FLUENCY = "fluency"
FLUENCY_WEIGHTS = (0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.3)
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
    parser.add_argument("--fluency-model", help="add the fluency of every draw to the file")
    asked = parser.parse_args()
    if asked.show is None:
        articles = list(open_dataset(Dataset(asked.dataset, limit=asked.articles)))
        rows = list(cross_validated(articles, asked.folds, asked.seeds))
        _write(asked.out, rows)
    draws = asked.show or asked.out
    with draws.open(encoding="utf-8", newline="") as file:
        read = [{key: _number(value) for key, value in row.items()} for row in csv.DictReader(file)]
    if asked.fluency_model:
        read = with_fluency(read, asked.fluency_model)
        _write(draws, read)
    read = [row for row in read if asked.first is None or row["article"] < asked.first]
    show(read)
    if FLUENCY in read[0]:
        show_fluency(read)


def cross_validated(articles: Sequence[Article], folds: int, seeds: Sequence[int]) -> Iterator[Row]:
    """Of every held-out article, n and seed the greedy summary (draw -1) and K draws, with their scores."""
    torch.set_num_threads(1)
    bertscore = BertScoreConfig(MODEL, 6)
    metrics = MetricsConfig(bertscore, RougeConfig())
    stage = Stage("en", "blank", (MODEL,), (), (), metrics, 0, reward=RewardConfig(bertscore))
    runner = make_episode_runner(stage, "cpu")
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
    places = _draws_by_place(rows)

    def kept(score: Callable[[Row], float], k: int = K) -> list[Row]:
        return [max(draws[:k], key=score) for draws in places]

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
    different = [len({row["text"] for row in draws}) for draws in places]
    print(f"different texts among {K}: {statistics.fmean(different):.0f}")


def with_fluency(rows: Sequence[Row], model: str) -> list[Row]:
    torch.set_num_threads(1)
    fluency = Fluency(resolve_model(parse_model(model, LANGUAGE_MODELS))).load(find_device("cpu"))
    texts = list(dict.fromkeys(row["text"] for row in rows))
    of_text = dict(zip(texts, fluency.score([("", text) for text in texts]), strict=True))
    return [row | {FLUENCY: of_text[row["text"]]} for row in rows]


def show_fluency(rows: Sequence[Row]) -> None:
    """F1 and fluency of what each weight keeps, and their differences from weight 0, paired by article."""
    places = _draws_by_place(rows)
    kept = {
        (anchor, weight): [
            max(draws, key=lambda row: row[anchor] + 0.05 * row["adjacent"] + weight * row[FLUENCY]) for draws in places
        ]
        for anchor, weight in itertools.product(("lead3", "lead6"), FLUENCY_WEIGHTS)
    }
    before = kept["lead3", 0]
    for (anchor, weight), chosen in kept.items():
        print(f"{anchor}, adjacent 0.05, fluent {weight}")
        for value in ("reference", FLUENCY):
            means = [statistics.fmean(row[value] for row in chosen if row["n"] == n) for n in LENGTHS]
            tested = _differences(chosen, before, value)
            print(f"  {value:<9} {' '.join(f'{mean:.3f}' for mean in means)}  {statistics.fmean(means):.4f}  {tested}")


def _draws_by_place(rows: Sequence[Row]) -> list[list[Row]]:
    """The draws of each article, n and seed."""
    of_place: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if row["draw"] >= 0:
            of_place.setdefault((row["article"], row["n"], row["seed"]), []).append(row)
    return list(of_place.values())


def _differences(chosen: Sequence[Row], before: Sequence[Row], value: str) -> str:
    """By n and on the mean over n, with 95 % intervals over articles; a star where Holm's correction leaves p < .05."""
    articles = sorted({row["article"] for row in before})
    sums = np.zeros((len(articles), len(LENGTHS)))
    for after, old in zip(chosen, before, strict=True):
        sums[articles.index(old["article"]), LENGTHS.index(old["n"])] += after[value] - old[value]
    by_n = sums / len({row["seed"] for row in before})
    tests = holm([p for p, _ in sign_flip_p(by_n)]), [p for p, _ in sign_flip_p(by_n.mean(axis=1, keepdims=True))]
    columns = np.column_stack([by_n, by_n.mean(axis=1)])
    half = stdtrit(len(articles) - 1, 0.975) * columns.std(axis=0, ddof=1) / len(articles) ** 0.5
    return "  ".join(
        f"{mean:+.3f} [{mean - width:+.3f}, {mean + width:+.3f}]{'*' if p < 0.05 else ''}"
        for mean, width, p in zip(columns.mean(axis=0), half, itertools.chain(*tests), strict=True)
    )


def _write(file: Path, rows: Sequence[Row]) -> None:
    with file.open("w", encoding="utf-8", newline="") as opened:
        table = csv.DictWriter(opened, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def _number(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value


if __name__ == "__main__":
    main()
