"""What content kept does not see, and how much one reference decides: tables of docs/answer.md.

    python -m bench.kept_misses ../shared/data sqlite:///nws.db RUN > bench/results/kept_misses.txt

The folder has FRANK (articles of XSum and CNN/DailyMail, what systems wrote of them, and how factual people found it)
and 60 articles of CNN/DailyMail. The articles of the run have several references.
"""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from nws.core.metrics.metric import FloatArray, Row
from nws.core.metrics.registry import make_metric
from nws.core.systems.rulers import RULERS
from nws.core.text.dataset import Dataset, open_dataset
from nws.core.text.length import idf_of
from nws.jobs.store import open_store

FRANK = {"frank_xsum": "XSum", "frank_cnn": "CNN/DailyMail"}
LENGTHS, DRAWS = (5, 9, 21), 2_000
_AUXILIARY = re.compile(r"\b(is|are|was|were|has|have|had|will|would|can|could|may|must|should|did|does)\b")
_NEXT_DIGIT = str.maketrans("0123456789", "1234567890")


def kept(rows: Iterable[Row]) -> FloatArray:
    return make_metric("kept").statistics(list(rows))[:, 0]


def print_truth(folder: Path) -> None:
    """Pearson's r of what is kept and how factual it is: over all summaries, and with each system's mean taken off."""
    print("| FRANK | articles, systems | found factual | r over all | within systems | its 95 % interval |")
    print(f"|{' --- |' * 6}")
    lines = (folder / "frank_predictions.jsonl").read_text(encoding="utf-8").splitlines()
    written = sorted(map(json.loads, lines), key=lambda row: (row["id"], row["system"]))
    for name, called in FRANK.items():
        articles = {article.key: article for article in open_dataset(Dataset(str(folder / f"{name}.jsonl")))}
        of = [row for row in written if row["dataset"] == name]
        rows = (Row(row["prediction"], articles[row["id"]].references, articles[row["id"]].text) for row in of)
        said = np.array([row["factuality"] for row in of]).reshape(len(articles), -1)
        both = np.stack([kept(rows).reshape(said.shape), said])  # (2, documents, systems)
        documents, systems = said.shape
        draws = np.random.default_rng(0).integers(0, documents, (DRAWS, documents))
        low, high = np.quantile([within_systems(both[:, drawn]) for drawn in draws], [0.025, 0.975])
        r = np.corrcoef(both.reshape(2, -1))[0, 1]
        cells = (f"{documents}, {systems}", _percent(said), f"{r:.2f}")
        print(f"| {called} | {' | '.join(cells)} | {within_systems(both):.2f} | {low:.2f} to {high:.2f} |", flush=True)


def within_systems(both: FloatArray) -> float:
    """Pearson's r of two scores, (2, documents, systems), each less its mean over documents."""
    centred = both - both.mean(axis=1, keepdims=True)
    return float(np.corrcoef(centred.reshape(2, -1))[0, 1])


def print_grammar(folder: Path) -> None:
    """What is kept by words of a reference that make no text, and by a reference that says something else."""
    articles = list(open_dataset(Dataset(str(folder / "cnn_dailymail.jsonl"))))
    words = [article.references[0].split() for article in articles]
    idf, rng = idf_of([set(map(_bare, of)) for of in words]), np.random.default_rng(0)

    def share(texts: Iterable[str]) -> str:
        """The mean over the references that a text differs from."""
        pairs = zip(texts, words, articles, strict=True)
        differing = ((text, article) for text, of, article in pairs if text.split() != of)
        return _percent(kept(Row(text, article.references, article.text) for text, article in differing))

    def rarest(of: Sequence[str], n: int) -> list[str]:
        places = sorted(range(len(of)), key=lambda place: -idf[_bare(of[place])])
        return [of[place] for place in sorted(places[:n])]

    print(f"\n| of {len(articles)} references | {' | '.join(f'{n} words' for n in LENGTHS)} |")
    print(f"|{' --- |' * (len(LENGTHS) + 1)}")
    for called, some in (("first words", lambda of, n: of[:n]), ("rarest words, in order", rarest)):
        cells = (share(" ".join(some(of, n)) for of in words) for n in LENGTHS)
        print(f"| {called} | {' | '.join(cells)} |", flush=True)
    changed = {
        "all words, shuffled": [" ".join(rng.permutation(of)) for of in words],
        'with "not" put in': [_AUXILIARY.sub(r"\1 not", " ".join(of), count=1) for of in words],
        "with each digit raised by one": [" ".join(of).translate(_NEXT_DIGIT) for of in words],
    }
    for called, texts in changed.items():
        print(f"{called}: {share(texts)}", flush=True)


def _percent(values: FloatArray) -> str:
    return f"{values.mean():.0%}".replace("%", " %")


def _bare(word: str) -> str:
    return word.strip(".,:;!?'\"()").lower()


def print_references(url: str, run: str) -> None:
    """What the systems of a run keep at the longest n, against each of the references."""
    with open_store(url, read_only=True) as store:
        points = store.points(run, [])
        articles = store.article_texts(run, [id_ for _, id_ in points.articles])
    n = int(points.n.max())
    references = range(min(len(article.references) for article in articles))
    print(f"\n{len(articles)} articles, n = {n}, against each of {len(references)} references")
    for system in (name for name in points.systems if name not in RULERS):
        written = [
            (one["text"], of) for of in articles for one in of.summaries if (one["system"], one["n"]) == (system, n)
        ]
        rows = ([Row(text, (of.references[place],), of.text) for text, of in written] for place in references)
        print(f"{system}: {', '.join(f'{100 * kept(one).mean():.0f}' for one in rows)} %", flush=True)


def main() -> None:
    folder, url, run = sys.argv[1:]
    print_truth(Path(folder))
    print_grammar(Path(folder))
    print_references(url, run)


if __name__ == "__main__":
    main()
