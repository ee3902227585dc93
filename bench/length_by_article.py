"""Whether a length chosen for each article keeps more than one length for all. The table is in docs/experiments.md.

    python -m bench.length_by_article --store URL --run RUN

By ten-fold cross-validation over the articles of a run: ridge regressions predict from features of an article's text
what each n keeps of its content, and the article gets the smallest n that is predicted to keep the share that half of
the lengths keep on average. Held against one n for all articles, the mean of the chosen ones: it keeps the mean of
what the two neighbouring n of the grid keep, each with its weight.
"""

import argparse
import math
import re

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from core.analysis.content_kept import KEPT
from core.analysis.grids import build_grids
from core.analysis.intervals import mean_intervals
from core.article import Article
from core.summarizers.rulers import OTHER_ARTICLE
from jobs.store import open_store

FOLDS = 10
SEED = 0
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")
# From nearly no shrinkage to nearly the same length for all.
_PENALTIES = (1.0, 10.0, 100.0, 1000.0, 10_000.0)

Floats = NDArray[np.float64]


def features(article: Article) -> list[float]:
    """Of the text alone: how long, how repetitive, and how full of names and numbers it is."""
    words = article.text.split()
    sentences = [text.split() for text in _SENTENCE_END.split(article.text) if text.strip()]
    distinct = {word.lower().strip(".,;:!?\"'") for word in words}
    return [
        math.log(len(words)),
        math.log(len(sentences)),
        len(words) / len(sentences),
        len(sentences[0]),
        len(distinct) / len(words),
        sum(map(len, words)) / len(words),
        sum(word[0].isupper() for word in words) / len(words),
        sum(any(map(str.isdigit, word)) for word in words) / len(words),
    ]


def predicted(inputs: Floats, kept: Floats) -> Floats:
    """What each n keeps of each article, (articles, lengths), as told by a model that has not seen the article."""
    values = np.zeros_like(kept)
    for training, held_out in KFold(FOLDS, shuffle=True, random_state=SEED).split(inputs):
        model = make_pipeline(StandardScaler(), RidgeCV(_PENALTIES))
        values[held_out] = model.fit(inputs[training], kept[training]).predict(inputs[held_out])
    return values


def print_system(system: str, lengths: list[int], inputs: Floats, kept: Floats) -> None:
    """A row of the table. `kept` is (articles, lengths)."""
    values = predicted(inputs, kept)
    explained = 1 - ((kept - values) ** 2).sum() / ((kept - kept.mean(axis=0)) ** 2).sum()
    share = float(np.median(kept.mean(axis=0)))
    reaches = values >= share
    chosen = np.where(reaches.any(axis=1), reaches.argmax(axis=1), len(lengths) - 1)
    n = np.array(lengths)[chosen]
    by_article = kept[np.arange(len(kept)), chosen]
    fixed = np.array([np.interp(n.mean(), lengths, of_article) for of_article in kept])
    (difference,) = mean_intervals((by_article - fixed)[:, None])
    name = system.replace("|", r"\|")
    compared = f"{by_article.mean():.1%} | {fixed.mean():.1%} | {100 * difference.mean:+.1f}"
    interval = f"{100 * difference.low:+.1f} to {100 * difference.high:+.1f}"
    print(f"| {name} | {explained:.2f} | {share:.0%} | {n.mean():.1f} ± {n.std():.1f} | {compared} | {interval} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", required=True)
    parser.add_argument("--run", required=True)
    options = parser.parse_args()
    with open_store(options.store, read_only=True) as opened:
        points = opened.points(options.run, [KEPT])
        articles = opened.articles(options.run)
        inputs = {article_id: features(articles.article(article_id)) for _, article_id in points.articles}
    (grid,) = build_grids(points.take(points.n > 0), KEPT)
    print(f"{len(points.articles)} articles, {FOLDS} folds, seed {SEED}")
    print("| system | variance explained | share | n | kept | with one n | difference, points | 95 % |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for s, system in enumerate(grid.systems):
        complete = grid.present[s].all(axis=0)
        if system != OTHER_ARTICLE and complete.sum() >= FOLDS:
            of = np.array([inputs[grid.articles[a]] for a in np.flatnonzero(complete)])
            print_system(system, list(grid.lengths), of, grid.values[s][:, complete].T)


if __name__ == "__main__":
    main()
