"""Which draw should reranking keep, and of what? Anchors, a critic and kinds of candidates, by cross-validation.

Policies learn from the other folds. Then each writes one greedy summary and draws 160 of every held-out article at
every n, and 160 bolder ones. `lead3-search` adds its own, and policies that have learned nothing 160 compressions of
single sentences. What can be known of each without a reference goes to a file, and the settings choose from there.

    python -m bench.anchors cnn_dailymail_train.jsonl --out draws.jsonl
    python -m bench.anchors --show draws.jsonl
"""

import argparse
import functools
import itertools
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nws.core.analysis.intervals import mean_intervals
from nws.core.analysis.sign_flip import sign_flip_p
from nws.core.arithmetic import find_device
from nws.core.article import Article, SegmentedArticle
from nws.core.episodes import EpisodeRunner
from nws.core.learning.environment import positions_taken
from nws.core.learning.learner import Learner, train
from nws.core.learning.policies import make_policies, restore_policies
from nws.core.learning.reward import Reward, kept_reward
from nws.core.learning.sampling import Draw, Greedy, episodes, falling, rollouts
from nws.core.learning.training_config import PolicyConfig, RewardConfig, TrainingConfig
from nws.core.metrics.bertscore import AnchorScorer, BertScorer
from nws.core.metrics.config import BertScoreConfig, RougeConfig
from nws.core.metrics.kept import draw_panel
from nws.core.models import parse_model, resolve_model
from nws.core.models.encoders import load_encoder
from nws.core.stage import MetricsConfig, Stage
from nws.core.systems.chunk_systems import candidate_chunks, greedy
from nws.core.systems.composition import adjacent_share, first_sentences, words_at
from nws.core.systems.importance import unit_rows
from nws.core.text.dataset import Dataset, open_dataset
from nws.core.text.segmentation import resolve_pipeline
from nws.core.worker_factories import make_episode_runner

K, LENGTHS = 160, (7, 9, 11, 13)
BOLDER = 2.0  # temperature
POOL = ("draw", "bolder", "search", "compression")
FOLDS, FOLDS_OF_CRITIC = 3, 5
ANCHORS = ("lead1", "lead2", "lead3", "lead6", "chosen3", "chosen1")
FEATURES = (*ANCHORS, "adjacent", "log draws", "log probability", "document", "idf", "position")
RIDGE = 10.0
Row = dict[str, Any]


class Drawing:
    """Greedy summaries and draws of held-out articles, as rows. The models are loaded once."""

    def __init__(self, articles: Sequence[Article], pipeline: str) -> None:
        model, cpu = resolve_model(parse_model("all-MiniLM-L6-v2")), find_device("cpu")
        bertscore = BertScoreConfig(model, 6)
        metrics = MetricsConfig(bertscore, RougeConfig())
        reward = RewardConfig(bertscore)
        stage = Stage("en", resolve_pipeline("auto"), (model,), (), (), metrics, 0, reward=reward)
        self.runner: EpisodeRunner = make_episode_runner(stage, "cpu")
        compressing = replace(stage, pipeline=resolve_pipeline(pipeline, units="subtrees"), units="subtrees")
        self._compressing: EpisodeRunner = make_episode_runner(compressing, "cpu")
        self._encode = load_encoder(model, cpu, "float32").encode
        self._scorer = BertScorer(bertscore, cpu)
        self._kept: Reward = kept_reward(self._scorer, False, [draw_panel(articles[0].dataset, articles)])

    def rows(self, learner: Learner, learned: Sequence[Article], article: Article) -> list[Row]:
        """Every different draw at every n, and the greedy summary, with `FEATURES` and what the reference says."""
        training = learner.training
        policies = restore_policies(training.policies, learner.parameters)
        prepared = self.runner.prepared(article, mask_repeats=True)
        cut = prepared.segmented
        with torch.no_grad():
            best = falling(policies.sentence_logits(prepared).numpy()).tolist()
        anchors = {f"lead{k}": first_sentences(cut, k) for k in (1, 2, 3, 6)}
        anchors |= {f"chosen{k}": " ".join(cut.sentences[i].text for i in sorted(best[:k])) for k in (3, 1)}
        centroid = unit_rows(prepared.sentence_inputs[:, :-1].numpy().mean(axis=0, keepdims=True))[0]
        known = Counter(word for other in learned for word in set(other.text.lower().split()))
        rows: list[Row] = []
        for n in LENGTHS:
            generator = np.random.default_rng([training.seed, int(article.content_hash[:16], 16), n])
            bolder = Draw(np.random.default_rng([training.seed, int(article.content_hash[:16], 16), n, 1]), K, BOLDER)
            for kind, choice in (("greedy", Greedy()), ("draw", Draw(generator, K)), ("bolder", bolder)):
                with torch.no_grad():
                    drawn = rollouts(policies, prepared, n, training.policies.sentences, choice)
                of_text: dict[str, Row] = {}
                for taken, probability in zip(drawn.episodes.chunks, drawn.log_probability.tolist(), strict=True):
                    positions = sorted(positions_taken(cut, taken, n))
                    row = of_text.setdefault(text := words_at(cut, positions), {"n": n, "text": text, "draws": 0})
                    row |= {"kind": kind, "adjacent": adjacent_share(positions), "draws": row["draws"] + 1}
                    row |= {"log draws": math.log(row["draws"]), "position": np.mean(positions) / len(cut.words)}
                    row["log probability"] = max(probability, row.get("log probability", -math.inf))
                    row["idf"] = np.mean([math.log((len(learned) + 1) / (known[w] + 1)) for w in text.lower().split()])
                rows += of_text.values()
        rows += self._others(article, cut, training.policies)
        self._add_scores(article, anchors, centroid, rows)
        return rows

    def _others(self, article: Article, cut: SegmentedArticle, config: PolicyConfig) -> Iterator[Row]:
        """What no policy that has learned writes: the search's summaries, and compressions of single sentences."""
        objective = functools.partial(AnchorScorer(self._scorer), first_sentences(cut, 3))
        neighbours = set(itertools.pairwise(cut.words))
        for n, text in greedy(cut, objective, candidate_chunks(cut, objective), LENGTHS).items():
            pairs = list(itertools.pairwise(text.split()))
            yield {"n": n, "text": text, "kind": "search", "adjacent": np.mean([pair in neighbours for pair in pairs])}
        parsed, untrained = self._compressing.prepared(article, mask_repeats=True), make_policies(config, 0, 0)
        for n in LENGTHS:
            generator = np.random.default_rng([0, int(article.content_hash[:16], 16), n])
            drawn = episodes(untrained, parsed, n, 1, Draw(generator, K, BOLDER))
            found = (sorted(positions_taken(parsed.segmented, taken, n)) for taken in drawn.chunks)
            for positions in dict.fromkeys(map(tuple, found)):
                row = {"n": n, "kind": "compression", "adjacent": adjacent_share(positions)}
                yield row | {"text": words_at(cut, positions)}

    def _add_scores(self, article: Article, anchors: dict[str, str], centroid: Any, rows: list[Row]) -> None:
        texts = [row["text"] for row in rows]
        cosines = (unit_rows(self._encode(texts)) @ centroid).tolist()
        kept = self._kept([(article, text) for text in texts])
        pairs = [
            (text, against) for text in texts for against in (article.references, *((a,) for a in anchors.values()))
        ]
        f1 = iter(score.f1 for score in self._scorer.score(pairs))
        for row, cosine, value in zip(rows, cosines, kept, strict=True):
            row |= {"document": cosine, "kept": value, "reference": next(f1), **{name: next(f1) for name in anchors}}


def cross_validated(articles: Sequence[Article], training: TrainingConfig, pipeline: str) -> Iterator[Row]:
    drawing = Drawing(articles, pipeline)
    for fold in range(FOLDS):
        learned = [article for i, article in enumerate(articles) if i % FOLDS != fold]
        learner = Learner(training, make_policies(training.policies, 0, training.seed).state_dict())
        for _ in train([learner], drawing.runner.learn, learned):
            pass
        for i in range(fold, len(articles), FOLDS):
            for row in drawing.rows(learner, learned, articles[i]):
                yield {"article": i, "byline": articles[i].text.startswith("By."), **row}


def critic(places: Sequence[Sequence[Row]]) -> list[int]:
    """Of each article and n the draw whose F1 above their mean is highest by a ridge on the other folds' articles."""
    tables = [np.array([[row[name] for name in FEATURES] for row in place]) for place in places]
    tables = [(table - table.mean(axis=0)) / (table.std(axis=0) + 1e-9) for table in tables]
    articles = [place[0]["article"] for place in places]
    targets = [np.array([row["reference"] for row in place]) for place in places]
    fold_of = {article: i % FOLDS_OF_CRITIC for i, article in enumerate(dict.fromkeys(articles))}
    weights = []
    for fold in range(FOLDS_OF_CRITIC):
        others = [i for i, article in enumerate(articles) if fold_of[article] != fold]
        x, y = np.vstack([tables[i] for i in others]), np.hstack([targets[i] - targets[i].mean() for i in others])
        weights.append(np.linalg.solve(x.T @ x + RIDGE * np.eye(len(FEATURES)), x.T @ y))
    print("weights: " + ", ".join(f"{name} {w:+.4f}" for name, w in zip(FEATURES, np.mean(weights, 0), strict=True)))
    return [int((table @ weights[fold_of[at]]).argmax()) for table, at in zip(tables, articles, strict=True)]


def show(rows: Sequence[Row]) -> None:
    of_place: dict[tuple[int, int], list[Row]] = {}
    best_first = {(row["article"], row["n"]): row for row in rows if row["kind"] == "greedy"}
    for row in rows:
        if row["kind"] == "draw":
            of_place.setdefault((row["article"], row["n"]), []).append(row)
    places = list(of_place.values())

    def by(**weights: float) -> list[Row]:
        return [max(place, key=lambda row: sum(w * row[name] for name, w in weights.items())) for place in places]

    kept = {
        "lead 3, .05": by(lead3=1, adjacent=0.05),
        "greedy": [best_first[place] for place in of_place],
        "lead 6, .05": by(lead6=1, adjacent=0.05),
        "chosen 3, .05": by(chosen3=1, adjacent=0.05),
        "chosen 3": by(chosen3=1),
        "lead 3 and chosen 3, .05": by(lead3=0.5, chosen3=0.5, adjacent=0.05),
        "cosine with the document": by(document=1),
        "ridge": [place[best] for place, best in zip(places, critic(places), strict=True)],
        "best by the reference": by(reference=1),
    }
    bylines = np.array([place[0]["byline"] for place in places]).reshape(-1, len(LENGTHS))[:, 0]
    different = np.mean([len(place) for place in places])
    print(f"{len(bylines)} articles, {bylines.sum()} begin with By. Different draws: {different:.1f}")
    print("F1 by n, mean | kept | neighbours | - lead 3, .05 | - chosen 3, .05 | - lead 3, .05: with By., without")
    for name, chosen in kept.items():
        f1, content, near = (_table(chosen, value) for value in ("reference", "kept", "adjacent"))
        gains = [(f1 - _table(kept[other], "reference")).mean(axis=1) for other in list(kept)[0:4:3]]
        means = " ".join(f"{value:.3f}" for value in f1.mean(axis=0))
        tests = " | ".join(map(_tested, (*gains, gains[0][bylines], gains[0][~bylines])))
        print(f"{name} | {means} {f1.mean():.4f} | {content.mean():.4f} | {near.mean():.2f} | {tests}")
    show_pools(rows, kept["lead 6, .05"])
    for name in ("chosen 3, .05", "ridge"):
        of_kept = (_table(kept[name], "kept") - _table(kept["lead 3, .05"], "kept")).mean(axis=1)
        print(f"content kept, {name} - lead 3, .05: {_tested(of_kept)}")


def show_pools(rows: Sequence[Row], draws: Sequence[Row]) -> None:
    """Each kind of candidates beside the draws of trained policies, chosen by two anchors and by the reference."""
    print("candidates, anchor | F1 by n, mean | kept | - draws, lead 6: F1 | kept")
    for kinds in (POOL[:1], POOL[:2], POOL[:1] + POOL[2:3], POOL[:1] + POOL[3:], POOL, POOL[3:]):
        of_place: dict[tuple[int, int], list[Row]] = {(row["article"], row["n"]): [] for row in draws}
        for row in rows:
            if row["kind"] in kinds:
                of_place[row["article"], row["n"]].append(row)
        for anchor in ("lead6", "chosen3", "reference"):
            weight = 0.0 if anchor == "reference" else 0.05
            best = [max(of, key=lambda row: row[anchor] + weight * row["adjacent"]) for of in of_place.values()]
            f1, content = _table(best, "reference"), _table(best, "kept")
            means = " ".join(f"{value:.3f}" for value in (*f1.mean(axis=0), f1.mean()))
            gains = f1 - _table(draws, "reference"), content - _table(draws, "kept")
            tests = " | ".join(_tested(gain.mean(axis=1)) for gain in gains)
            print(f"{' + '.join(kinds)}, {anchor} | {means} | {content.mean():.4f} | {tests}")


def _table(chosen: Sequence[Row], value: str) -> Any:
    return np.array([row[value] for row in chosen]).reshape(-1, len(LENGTHS))


def _tested(gains: Any) -> str:
    if not len(gains) or not gains.any():
        return "-"
    (interval,), ((p, _),) = mean_intervals(gains[:, None]), sign_flip_p(gains[:, None])
    return f"{interval.mean:+.4f} [{interval.low:+.4f}, {interval.high:+.4f}] p {p:.2g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", nargs="?", help="a JSONL file")
    parser.add_argument("--articles", type=int, help="only the first so many")
    parser.add_argument("--passes", type=int, default=15)
    parser.add_argument("--pipeline", default="en_core_web_sm", help="which parses sentences")
    parser.add_argument("--out", type=Path, default=Path("draws.jsonl"))
    parser.add_argument("--show", type=Path, help="only show the table of draws written before")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    if asked.show is None:
        articles = list(open_dataset(Dataset(asked.dataset, limit=asked.articles)))
        training = TrainingConfig("bench", 0, LENGTHS, asked.passes)
        with asked.out.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in cross_validated(articles, training, asked.pipeline))
    show([json.loads(line) for line in (asked.show or asked.out).open(encoding="utf-8")])


if __name__ == "__main__":
    main()
