"""`nws compare` of files: is one set of predictions better than another, each text as it is?

Both are scored against the same references, and compared article by article. No run, Ray or store is needed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from nws.core.analysis.paired import PairedScores, as_family, paired_lengths
from nws.core.errors import CorpusError, RecipeError
from nws.core.findings.comparisons import PairedLength
from nws.core.findings.content import KEPT
from nws.core.findings.scores import Interval
from nws.core.metrics.config import Options
from nws.core.systems.prediction_rows import USUAL, prediction_rows
from nws.core.text.dataset import Dataset, open_dataset
from nws.core.text.length import count_words
from nws.core.text.model_outputs import DEFAULT_CLEANING, clean_output
from nws.core.text.reader import naming, read_rows
from nws.core.text.rows import joined_text_of, key_of
from nws.jobs.report.metric_names import metric_name
from nws.jobs.report.numerals import counted, decimals, p_text, printed, signed
from nws.jobs.report.printed_lines import print_line
from nws.jobs.report.table import Cell, Table
from nws.jobs.tools.score import score_rows

QUALITIES = {
    "kept": KEPT,
    "bertscore": "bertscore_f1",
    "rouge1": "rouge1_f1",
    "rouge2": "rouge2_f1",
    "rougeL": "rougel_f1",
}
"""The metrics, with the columns that they are in runs. Holm's correction is over them."""
WORDS = "words"
SYSTEM = "system"
_AS_LONG = 0.1
"""A share of the longer text's words: two texts are as long if they differ by no more."""

Texts = Mapping[str, str]
"""Predictions by the ids of their articles."""


@dataclass(frozen=True, slots=True)
class TextsComparison:
    """System `a` minus system `b`, each text as it is.

    Attributes:
        rows: by metric, and the number of words. `p_holm` is corrected over the metrics.
        equal_length: the same over the articles where both wrote as many words; empty unless asked for.
        unknown: how many ids of predictions the dataset lacks.
        missing: how many of its articles lack a prediction by one of them.
        signatures: how each metric was computed.
    """

    a: str
    b: str
    rows: Mapping[str, PairedLength]
    equal_length: Mapping[str, PairedLength]
    unknown: int
    missing: int
    signatures: Mapping[str, str]

    def as_dict(self) -> dict[str, Any]:
        """Every number, with what made it, as plain JSON values."""
        return {
            "a": self.a,
            "b": self.b,
            "rows": self.records(self.rows),
            "equal_length": self.records(self.equal_length),
            "left_out": {"unknown_ids": self.unknown, "articles_without_both": self.missing},
            "signatures": dict(self.signatures),
        }

    @property
    def turned(self) -> "TextsComparison":
        """The same as b minus a."""
        rows, equal_length = ({name: _turned(at) for name, at in of.items()} for of in (self.rows, self.equal_length))
        return replace(self, a=self.b, b=self.a, rows=rows, equal_length=equal_length)

    @property
    def best_first(self) -> "TextsComparison":
        """The system that keeps more content first: of a pair that nobody ordered, so that it has one sign."""
        return self.turned if KEPT in self.rows and self.rows[KEPT].difference.mean < 0 else self

    def records(self, rows: Mapping[str, PairedLength]) -> list[dict[str, Any]]:
        """A row for each metric."""
        return [
            {
                "metric": metric,
                "n": 0,
                "difference": at.difference.mean,
                "low": at.difference.low,
                "high": at.difference.high,
            }
            | {"p": at.p, "p_holm": None if metric == WORDS else at.p_holm, "a": at.mean_a, "b": at.mean_b}
            | {"articles": at.articles, "wins": at.wins, "ties": at.ties, "losses": at.losses}
            for metric, at in rows.items()
        ]


def _turned(at: PairedLength) -> PairedLength:
    low, high = (None if end is None else -end for end in (at.difference.high, at.difference.low))
    return replace(
        at,
        difference=Interval(-at.difference.mean, low, high),
        mean_a=at.mean_b,
        mean_b=at.mean_a,
        words_a=at.words_b,
        words_b=at.words_a,
        wins=at.losses,
        losses=at.wins,
        skewness=None if at.skewness is None else -at.skewness,
    )


def read_systems(files: Sequence[str]) -> dict[str, dict[str, str]]:
    """Read the predictions of one or two files, by system: the file's name, or each value of its field `system`.

    A file may be given as `name=file`.

    Raises:
        CorpusError: a file cannot be read, or a row lacks an id or a prediction, or repeats one.
    """
    systems: dict[str, dict[str, str]] = {}
    for given in files:
        name, _, path = given.rpartition("=")
        file = Path(path)
        rows = [(place, row, str(row.get(SYSTEM) or "")) for place, row in _rows(file)]
        several = len({system for _, _, system in rows}) > 1
        for place, row, system in rows:
            with naming(file, place):
                texts = systems.setdefault(system if several else name or file.stem, {})
                key = key_of(row, "id")
                if key in texts:
                    raise CorpusError(f"the id {key!r} stands there twice for one system. Keep one of the rows.")
                texts[key] = clean_output(joined_text_of(row, "prediction"), DEFAULT_CLEANING)[0] or ""
    return systems


def _rows(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from prediction_rows(file, read_rows(file, [*USUAL, SYSTEM]), {})


def choose_two(systems: Mapping[str, Texts], wanted: Sequence[str]) -> tuple[str, str]:
    """Choose the two systems that are compared.

    Raises:
        RecipeError: there are not two, or a wanted one is not there.
    """
    for name in wanted:
        if name not in systems:
            raise RecipeError(f"There is no system {name!r} in the files. They have {', '.join(systems)}.")
    if len(wanted) == 2:
        return wanted[0], wanted[1]
    if len(systems) != 2 or wanted:
        raise RecipeError(
            f"A comparison has two sides, and the files have {counted(len(systems), 'system')}: {', '.join(systems)}. "
            "Name two with --system A --system B."
        )
    first, second = systems
    return first, second


def compare_files(
    files: Sequence[str], dataset: Dataset, wanted: Sequence[str] = (), *, equal_length: bool = False
) -> TextsComparison:
    """Compare two systems of files of predictions on a dataset, by the ids of its articles.

    Raises:
        CorpusError: a file cannot be read, or no article has a prediction by both.
        RecipeError: it is not clear which two systems are meant.
    """
    systems = read_systems(files)
    a, b = choose_two(systems, wanted)
    articles = {article.key: article for article in open_dataset(dataset)}
    shared = [key for key in articles if key in systems[a] and key in systems[b]]
    if not shared:
        ids, keys = (", ".join(map(repr, [*some][:3])) for some in (systems[a], articles))
        raise CorpusError(
            f"No article of {dataset.name} has a prediction by both {a} and {b}. The ids of the predictions look like "
            f"{ids}; the articles' ids look like {keys}."
        )
    unknown = len({*systems[a], *systems[b]} - articles.keys())
    return compare_texts(
        [systems[a][key] for key in shared],
        [systems[b][key] for key in shared],
        [articles[key].references for key in shared],
        (a, b),
        sources=[articles[key].text for key in shared],
        equal_length=equal_length,
        left_out=(unknown, len(articles) - len(shared)),
    )


def compare_texts(
    a: Sequence[str],
    b: Sequence[str],
    references: Sequence[Sequence[str]],
    names: tuple[str, str] = ("a", "b"),
    *,
    sources: Sequence[str] | None = None,
    equal_length: bool = False,
    left_out: tuple[int, int] = (0, 0),
) -> TextsComparison:
    """Compare texts of the same articles, in order.

    Args:
        a: the texts of one system.
        b: those of another one.
        references: one or several for each article.
        names: what the systems are called.
        sources: the articles, which tell them apart where references are equal.
        equal_length: also compare where both wrote as many words.
        left_out: the numbers of unknown ids, and of articles without both.
    """
    metrics = [name for name in QUALITIES if name != "kept" or len({text[0] for text in references}) > 1]
    scores = [_scores(texts, references, sources, metrics) for texts in (a, b)]
    words = [np.array([count_words(text) for text in texts], dtype=np.float64) for texts in (a, b)]
    values = {QUALITIES[name]: (scores[0][name][0], scores[1][name][0]) for name in metrics}
    values[WORDS] = words[0], words[1]
    is_as_long = np.abs(words[0] - words[1]) <= _AS_LONG * np.maximum(*words)
    return TextsComparison(
        *names,
        rows=_compared(values, words, names),
        equal_length=_compared(
            {name: (x[is_as_long], y[is_as_long]) for name, (x, y) in values.items()},
            [w[is_as_long] for w in words],
            names,
        )
        if equal_length and is_as_long.any()
        else {},
        unknown=left_out[0],
        missing=left_out[1],
        signatures={QUALITIES[name]: scores[0][name][1] for name in metrics},
    )


def _scores(
    texts: Sequence[str],
    references: Sequence[Sequence[str]],
    sources: Sequence[str] | None,
    metrics: Sequence[str],
) -> dict[str, tuple[NDArray[np.float64], str]]:
    """By metric the score of each text, its F1 where it has one, and how it was computed."""
    rows = []
    for i, text in enumerate(texts):
        row: dict[str, object] = {"prediction": text, "references": list(references[i])}
        rows.append((f"row {i + 1}", row if sources is None else row | {"source": sources[i]}))
    found = score_rows("predictions", rows, metrics, Options(), 0)
    return {name: (found.metrics[name].rows[:, -1], found.metrics[name].signature) for name in metrics}


def _compared(
    values: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
    words: Sequence[NDArray[np.float64]],
    names: tuple[str, str],
) -> dict[str, PairedLength]:
    means = float(words[0].mean()), float(words[1].mean())
    cells = [PairedScores(names, 0, x, y, 0, 0, None, *means) for x, y in values.values()]
    *qualities, of_words = paired_lengths(cells)
    return dict(zip(values, (*as_family(qualities), of_words), strict=True))


def print_texts_comparison(result: TextsComparison, console: Console) -> None:
    """Print a table with a row for each metric, and two sentences, of which the second is ready for a paper."""
    _table(result, result.rows, f"{result.a} − {result.b}, each text as it is").print(console)
    left_out = []
    if result.missing:
        left_out.append(f"{counted(result.missing, 'article')} without a prediction by both")
    if result.unknown:
        left_out.append(f"{counted(result.unknown, 'id')} that the dataset lacks")
    if left_out:
        print_line(console, f"Left out: {' and '.join(left_out)}.", style="yellow")
    console.print()
    for sentence in sentences(result):
        print_line(console, sentence)
    if result.equal_length:
        articles = next(iter(result.equal_length.values())).articles
        other = next(iter(result.rows.values())).articles - articles
        _table(result, result.equal_length, "Length-matched: both texts have as many words, within 10 %").print(console)
        print_line(console, f"Left out: {counted(other, 'article')} whose texts differ more in length.", style="yellow")
    console.print()
    print_line(
        console, "p: sign-flip test over the articles. Holm p: corrected over the metrics, without words.", "dim"
    )


def sentences(result: TextsComparison) -> tuple[str, str]:
    """The verdict, and the same as a paper reports it."""
    metric = KEPT if KEPT in result.rows else next(iter(result.rows))
    at, is_share = result.rows[metric], metric == KEPT
    articles = counted(at.articles, "article")
    verb, what = ("keeps", "of the reference's content") if is_share else ("scores", f"in {metric_name(metric)}")
    difference = _difference(metric, at)
    ends = _ends(metric, at)
    sure = f", 95 % CI {ends}" if ends else ""
    if at.is_told:
        side = "more" if at.better else "less"
        more = f"{verb} significantly {side}{' content' * is_share}"
        verdict = f"{result.a} {more} than {result.b} ({difference}{sure})."
    else:
        verdict = f"{result.a} does not differ significantly from {result.b} {what} ({difference}{sure})."
    a, b = (_value(metric, mean) + " %" * is_share for mean in (at.mean_a, at.mean_b))
    paper = (
        f"On {articles}, {result.a} {verb} {a} and {result.b} {b} {what} (difference {difference}{sure}; "
        f"paired sign-flip test, p = {p_text(at.p)}, Holm-corrected p = {p_text(at.p_holm)})."
    )
    return verdict, paper.replace("p = <", "p < ")


def _table(result: TextsComparison, rows: Mapping[str, PairedLength], title: str) -> Table:
    articles = next(iter(rows.values())).articles
    cells = [
        (
            "content kept (%)" if metric == KEPT else WORDS if metric == WORDS else metric_name(metric),
            Cell(_value(metric, at.mean_a)),
            Cell(_value(metric, at.mean_b)),
            Cell(_difference(metric, at).removesuffix(" points")),
            Cell(_ends(metric, at) or "–"),
            Cell(p_text(at.p)),
            Cell("", "") if metric == WORDS else Cell(p_text(at.p_holm), mark="*" if at.is_told else ""),
        )
        for metric, at in rows.items()
    ]
    columns = ("metric", result.a, result.b, "difference", "95 % CI", "p", "Holm p")
    return Table(columns, cells, f"{title} ({counted(articles, 'article')})")


def _value(metric: str, mean: float) -> str:
    return f"{100 * mean:.1f}" if metric == KEPT else f"{mean:.1f}" if metric == WORDS else decimals(mean, 3)


def _difference(metric: str, at: PairedLength) -> str:
    mean = at.difference.mean
    return f"{100 * mean:+.1f} points" if metric == KEPT else f"{mean:+.1f}" if metric == WORDS else signed(mean, 3)


def _ends(metric: str, at: PairedLength) -> str:
    shown = printed(at.difference, at.articles)
    if shown.low is None or shown.high is None:
        return ""
    return f"{_value(metric, shown.low)} to {_value(metric, shown.high)}"
