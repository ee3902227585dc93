"""Whether a length for each article keeps more than one for all. Tables: bench/results/length_by_article_*.txt.

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
from core.systems.rulers import OTHER_ARTICLE
from jobs.store import ArticleTexts, open_store

FOLDS = 10
MEAN_WORDS = 11.0
SEED = 0
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")
# From nearly no shrinkage to nearly the same length for all.
_PENALTIES = (1.0, 10.0, 100.0, 1000.0, 10_000.0)

Floats = NDArray[np.float64]
IntArray = NDArray[np.intp]


def features(article: ArticleTexts) -> list[float]:
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


def smallest(values: Floats, share: float) -> IntArray:
    """For each article the place of the smallest n that is predicted to keep the share, else that of the longest."""
    reaches = values >= share
    return np.asarray(np.where(reaches.any(axis=1), reaches.argmax(axis=1), values.shape[1] - 1), dtype=np.intp)


def most_gained(values: Floats, lengths: IntArray, mean: float) -> IntArray:
    """For each article the place of the n that is worth most at one price of a word: that which makes `mean` words."""
    low, high = 0.0, 1.0
    for _ in range(60):
        price = (low + high) / 2
        places = (values - price * lengths).argmax(axis=1)
        low, high = (price, high) if lengths[places].mean() > mean else (low, price)
    return np.asarray(places, dtype=np.intp)


def compared(places: IntArray, lengths: IntArray, kept: Floats) -> str:
    """The chosen n, what they keep, and how much more than one n for all of the same mean."""
    n = lengths[places]
    by_article = kept[np.arange(len(kept)), places]
    fixed = np.array([np.interp(n.mean(), lengths, of_article) for of_article in kept])
    (difference,) = mean_intervals(100 * (by_article - fixed)[:, None])
    return (
        f"{n.mean():.1f} ± {n.std():.1f} | {by_article.mean():.1%} | "
        f"{difference.mean:+.1f} ({difference.low:+.1f} to {difference.high:+.1f})"
    )


def print_system(system: str, lengths: IntArray, inputs: Floats, kept: Floats) -> None:
    """A row of the table. `kept` is (articles, lengths)."""
    values = predicted(inputs, kept)
    explained = 1 - ((kept - values) ** 2).sum() / ((kept - kept.mean(axis=0)) ** 2).sum()
    share = float(np.median(kept.mean(axis=0)))
    by_share = compared(smallest(values, share), lengths, kept)
    by_gain = compared(most_gained(values, lengths, MEAN_WORDS), lengths, kept)
    name = system.replace("|", r"\|")
    print(f"| {name} | {explained:.2f} | {share:.0%} | {by_share} | {by_gain} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", required=True)
    parser.add_argument("--run", required=True)
    options = parser.parse_args()
    with open_store(options.store, read_only=True) as opened:
        points = opened.points(options.run, [KEPT])
        articles = opened.article_texts(options.run, [article_id for _, article_id in points.articles])
    inputs = {article.id: features(article) for article in articles}
    (grid,) = build_grids(points.take(points.n > 0), KEPT)
    print(f"{len(points.articles)} articles, {FOLDS} folds, seed {SEED}")
    print(
        "| system | variance explained | share | n by share | kept | more than one n "
        "| n by gain | kept | more than one n |"
    )
    print(f"|{' --- |' * 9}")
    for s, system in enumerate(grid.systems):
        complete = grid.present[s].all(axis=0)
        if system != OTHER_ARTICLE and complete.sum() >= FOLDS:
            of = np.array([inputs[grid.articles[a]] for a in np.flatnonzero(complete)])
            print_system(system, np.array(grid.lengths), of, grid.values[s][:, complete].T)


if __name__ == "__main__":
    main()
