"""`nws compare` of files: does one system of predictions score higher than another, each text as it is?

Both systems are scored against the same references, and compared article by article. No run, Ray or store is needed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from nws.core.analysis.kept_by_kind import differences_of
from nws.core.analysis.paired import PairedScores, holm_corrected, paired_lengths
from nws.core.errors import CorpusError, RecipeError
from nws.core.findings.comparisons import FEWEST_ARTICLES, PairedLength
from nws.core.findings.content import CONTENT_KEPT
from nws.core.findings.scores import Interval
from nws.core.metrics.config import Options
from nws.core.systems.predictions import parse_predictions, read_predictions
from nws.core.text.dataset import Dataset, open_dataset
from nws.core.text.length import count_words
from nws.core.text.rows import Lists
from nws.core.text.word_kinds import WordKind
from nws.jobs.report.metric_names import metric_name
from nws.jobs.report.numerals import counted, decimals, listed, p_text, printed, signed
from nws.jobs.report.printed_lines import print_line
from nws.jobs.report.result_tables import FEW_OF_KIND, kind_cell
from nws.jobs.report.table import Cell, Table
from nws.jobs.report.wording import KIND_NAMES, skewed_caution, small_sample_caution
from nws.jobs.tools.score import FileScore, score_rows

QUALITIES = {
    "kept": CONTENT_KEPT,
    **{name: f"{name.lower()}_f1" for name in ("bertscore", "rouge1", "rouge2", "rougeL")},
}
"""The metrics, with the columns that they are in runs. Holm's correction is over them."""
WORDS = "words"
_LENGTH_TOLERANCE = 0.1
"""Two texts are length-matched if they differ by at most this share of the longer text's words."""


@dataclass(frozen=True, slots=True)
class TextsComparison:
    """System `a` minus system `b`, each text as it is.

    Attributes:
        rows: the comparison in each metric, and in the number of words. `p_holm` is corrected over the metrics.
        equal_length: the same over the articles whose two texts are length-matched; empty unless asked for.
        signatures: the signature of each metric, which says how it was computed.
        unknown: the number of ids of predictions that the dataset lacks.
        missing: the number of articles of the dataset that lack a prediction by `a` or by `b`.
        kinds: for each kind of word, what `a` and `b` keep of it, and the difference; empty where kinds are not known.
        word_kinds: the signature of the kinds.
        notes: remarks on the texts or references, such as texts without a word.
    """

    a: str
    b: str
    rows: Mapping[str, PairedLength]
    equal_length: Mapping[str, PairedLength]
    signatures: Mapping[str, str]
    unknown: int = 0
    missing: int = 0
    notes: tuple[str, ...] = ()
    kinds: Mapping[WordKind, tuple[Interval, Interval, Interval]] = field(default_factory=dict)
    word_kinds: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return every number, with what made it, as plain JSON values."""
        return {
            "a": self.a,
            "b": self.b,
            "rows": metric_rows(self.rows),
            "equal_length": metric_rows(self.equal_length),
            "left_out": {"unknown_ids": self.unknown, "articles_without_both": self.missing},
            "signatures": dict(self.signatures),
            "kept_by_kind": self.kind_rows(),
            "word_kinds": self.word_kinds,
        }

    def kind_rows(self) -> list[dict[str, Any]]:
        """List a row for each kind of word, with plain values."""
        return [
            {"kind": kind, "share_a": a.mean, "share_b": b.mean, "difference": minus.mean}
            | {"low": minus.low, "high": minus.high}
            for kind, (a, b, minus) in self.kinds.items()
        ]


def metric_rows(rows: Mapping[str, PairedLength]) -> list[dict[str, Any]]:
    """List a row for each metric, with plain values. The number of words has no Holm-corrected p."""
    uncorrected = {"p_holm": None, "significant": None}
    return [{"metric": name} | at.row() | (uncorrected if name == WORDS else {}) for name, at in rows.items()]


def read_systems(files: Sequence[str], lists: Lists = "join") -> dict[str, Mapping[str, str | None]]:
    """Read the predictions of files, `file` or `name=file`, by their systems and then by the ids of their articles.

    Raises:
        CorpusError: a file cannot be read, see `read_predictions`.
        RecipeError: two systems have one name.
    """
    systems: dict[str, Mapping[str, str | None]] = {}
    for spec in map(parse_predictions, files):
        for found in read_predictions(Path(spec.file), spec.name, lists=lists):
            if found.name in systems:
                raise RecipeError(f"Two systems are called {found.name!r}. Name one before its file: name=file.")
            systems[found.name] = found.texts
    return systems


def compare_files(
    files: Sequence[str],
    dataset: Dataset,
    wanted: Sequence[str] = (),
    lists: Lists = "join",
    *,
    equal_length: bool = False,
    best_first: bool = False,
) -> TextsComparison:
    """Compare two systems of files of predictions on a dataset, by the ids of its articles.

    Args:
        files: one or several files of predictions, see `read_systems`.
        dataset: the articles and references.
        wanted: the names of the two systems, where the files have more than two.
        lists: the part that is read of predictions that are lists.
        equal_length: see `compare_texts`.
        best_first: see `compare_texts`.

    Raises:
        CorpusError: a file cannot be read, or no article has a prediction by both systems.
        RecipeError: it is not clear which two systems are meant.
    """
    systems = read_systems(files, lists)
    if unknown := [name for name in wanted if name not in systems]:
        raise RecipeError(f"There is no system {unknown[0]!r} in the files. They have {', '.join(systems)}.")
    names = [*(wanted or systems)]
    if len(names) != 2:
        raise RecipeError(
            f"A comparison has two sides, and the files have {counted(len(systems), 'system')}: {', '.join(systems)}. "
            "Name two with --system A --system B."
        )
    a, b = (systems[name] for name in names)
    articles = {article.key: article for article in open_dataset(dataset)}
    shared = [articles[key] for key in articles if key in a and key in b]
    if not shared:
        ids, keys = (", ".join(map(repr, [*some][:3])) for some in (a, articles))
        raise CorpusError(
            f"No article of {dataset.name} has a prediction by both {' and '.join(names)}. The ids of the predictions "
            f"look like {ids}; the articles' ids look like {keys}."
        )
    sides = [[texts[article.key] or "" for article in shared] for texts in (a, b)]
    references, sources = [article.references for article in shared], [article.text for article in shared]
    how = {"equal_length": equal_length, "best_first": best_first}
    result = compare_texts(sides[0], sides[1], references, (names[0], names[1]), sources=sources, **how)
    return replace(result, unknown=len({*a, *b} - articles.keys()), missing=len(articles) - len(shared))


def compare_texts(
    a: Sequence[str],
    b: Sequence[str],
    references: Sequence[Sequence[str]],
    names: tuple[str, str] = ("a", "b"),
    *,
    sources: Sequence[str] | None = None,
    equal_length: bool = False,
    best_first: bool = False,
) -> TextsComparison:
    """Compare texts of the same articles, in order.

    Args:
        a: the texts of one system.
        b: the texts of another system.
        references: one or several references for each article.
        names: the names of the systems.
        sources: the articles, which tell them apart where references are equal.
        equal_length: whether to compare the articles with length-matched texts, too.
        best_first: whether the system that keeps more content becomes `a`, where the caller gave no order.

    Raises:
        CorpusError: a row (named behind its system) has no reference, or a value that is no text.
    """
    metrics = [name for name in QUALITIES if name != "kept" or len({tuple(text[:1]) for text in references}) > 1]
    scored = [_scores(name, texts, references, sources, metrics) for name, texts in zip(names, (a, b), strict=True)]
    values = {QUALITIES[name]: np.stack([of.metrics[name].rows[:, -1] for of in scored]) for name in metrics}
    words = np.array([[count_words(one.row.prediction) for one in of.predictions] for of in scored], dtype=np.float64)
    values[WORDS] = words
    if best_first and CONTENT_KEPT in values and np.diff(values[CONTENT_KEPT].mean(axis=1)) > 0:
        names, scored, values = names[::-1], scored[::-1], {name: sides[::-1] for name, sides in values.items()}
    kinds_a, kinds_b = (of.kinds for of in scored)
    is_as_long = np.abs(words[0] - words[1]) <= _LENGTH_TOLERANCE * words.max(axis=0)
    rows, as_long = _compare(values, names), {}
    if equal_length and is_as_long.any():
        as_long = _compare({name: sides[:, is_as_long] for name, sides in values.items()}, names)
    signatures = {QUALITIES[name]: scored[0].metrics[name].signature for name in metrics}
    notes = tuple(dict.fromkeys(line for of in scored for line in of.notes))
    differences = differences_of(kinds_a, kinds_b).items()
    kinds = {kind: (kinds_a[kind].interval, kinds_b[kind].interval, minus) for kind, minus in differences}
    return TextsComparison(*names, rows, as_long, signatures, notes=notes, kinds=kinds, word_kinds=scored[0].word_kinds)


def _scores(
    name: str,
    texts: Sequence[str],
    references: Sequence[Sequence[str]],
    sources: Sequence[str] | None,
    metrics: Sequence[str],
) -> FileScore:
    rows: list[tuple[str, dict[str, object]]] = [
        (f"row {i + 1}", {"prediction": text, "references": [*references[i]], "source": sources and sources[i]})
        for i, text in enumerate(texts)
    ]
    return score_rows(name, rows, metrics, Options(), 0)


def _compare(values: Mapping[str, NDArray[np.float64]], names: tuple[str, str]) -> dict[str, PairedLength]:
    """Compare both systems' scores, (2, articles), by metric."""
    words = values[WORDS].mean(axis=1).tolist()
    pairs = [PairedScores(names, 0, a, b, 0, 0, None, *words) for a, b in values.values()]
    *qualities, of_words = paired_lengths(pairs)
    return dict(zip(values, (*holm_corrected(qualities), of_words), strict=True))


def print_texts_comparison(result: TextsComparison, console: Console) -> None:
    """Print a table with a row for each metric, what limits it, and sentences, of which the last is for a paper."""
    _table(result, result.rows, f"{result.a} − {result.b}, each text as it is").print(console)
    left_out = [f"{counted(result.missing, 'article')} without a prediction by both"] * bool(result.missing)
    left_out += [f"{counted(result.unknown, 'id')} that the dataset lacks"] * bool(result.unknown)
    if left_out:
        print_line(console, f"Left out: {' and '.join(left_out)}.", style="yellow")
    _print_cautions(result.rows, console)
    console.print()
    for sentence in sentences(result):
        print_line(console, sentence)
    if result.equal_length:
        articles = next(iter(result.equal_length.values())).articles
        other = next(iter(result.rows.values())).articles - articles
        _table(result, result.equal_length, "Length-matched: texts differ by at most 10 % in words").print(console)
        print_line(console, f"Left out: {counted(other, 'article')} whose texts differ more in length.", style="yellow")
        _print_cautions(result.equal_length, console)
    if result.kinds:
        cells = [(KIND_NAMES[kind], *map(kind_cell, of)) for kind, of in result.kinds.items()]
        columns = ("kind", result.a, result.b, "difference")
        notes = (FEW_OF_KIND, "CIs are not corrected over the kinds.")
        Table(columns, cells, "Content kept by kind of word, in %, and its 95 % CI", notes).print(console)
    console.print()
    print_line(console, "p: sign-flip test over the articles. Holm p: corrected over all metrics except words.", "dim")


def _print_cautions(rows: Mapping[str, PairedLength], console: Console) -> None:
    """Print what limits the verdicts: few articles, and skewed differences."""
    if caution := small_sample_caution(next(iter(rows.values())).articles):
        print_line(console, caution, style="yellow")
    if skewed := [
        _metric_heading(metric) for metric, at in rows.items() if metric != WORDS and at.significant and at.too_skewed
    ]:
        print_line(console, skewed_caution(f"by {listed(skewed)}"), style="yellow")


def sentences(result: TextsComparison) -> tuple[str, ...]:
    """Word the verdict for a reader, where there are enough articles for one, and the result for a paper."""
    metric = CONTENT_KEPT if CONTENT_KEPT in result.rows else next(iter(result.rows))
    at, is_share = result.rows[metric], metric == CONTENT_KEPT
    difference = _number(metric, at.difference.mean, "+") + " points" * is_share
    ends = _interval_text(metric, at)
    sure = f", 95 % CI {ends}" if ends else ""
    verb, what = ("keeps", "of the reference's content") if is_share else ("scores", f"in {metric_name(metric)}")
    if at.significant:
        more = f"{verb} significantly {'more' if at.better else 'less'}{' content' * is_share} than"
        verdict = f"{result.a} {more} {result.b} ({difference}{sure})."
    else:
        quality = "content kept" if is_share else metric_name(metric)
        verdict = f"{result.a} does not differ significantly from {result.b} in {quality} ({difference}{sure})."
    a, b = (_number(metric, mean) + " %" * is_share for mean in (at.mean_a, at.mean_b))
    paper = (
        f"On {counted(at.articles, 'article')}, {result.a} {verb} {a} and {result.b} {b} {what} (difference "
        f"{difference}{sure}; paired sign-flip test, p = {p_text(at.p)}, Holm-corrected p = {p_text(at.p_holm)})."
    )
    paper = paper.replace("p = <", "p < ")
    return (verdict, paper) if at.articles >= FEWEST_ARTICLES else (paper,)


def _table(result: TextsComparison, rows: Mapping[str, PairedLength], title: str) -> Table:
    cells = [
        (
            _metric_heading(metric) + " (%)" * (metric == CONTENT_KEPT),
            *(Cell(_number(metric, mean)) for mean in (at.mean_a, at.mean_b)),
            Cell(_number(metric, at.difference.mean, "+")),
            Cell(_interval_text(metric, at) or "–"),
            Cell(p_text(at.p)),
            Cell("") if metric == WORDS else Cell(p_text(at.p_holm), mark="*" if at.significant else ""),
        )
        for metric, at in rows.items()
    ]
    columns = ("metric", result.a, result.b, "difference", "95 % CI", "p", "Holm p")
    return Table(columns, cells, f"{title} ({counted(next(iter(rows.values())).articles, 'article')})")


def _metric_heading(metric: str) -> str:
    return WORDS if metric == WORDS else metric_name(metric)


def _number(metric: str, value: float, sign: str = "") -> str:
    """Write a value of a metric as it is printed, a difference with its `sign`: content kept in per cent."""
    if metric in (CONTENT_KEPT, WORDS):
        return f"{round(value * (100 if metric == CONTENT_KEPT else 1), 1) + 0.0:{sign}.1f}"  # no "-0.0"
    return signed(value) if sign else decimals(value)


def _interval_text(metric: str, at: PairedLength) -> str:
    """Write the ends of the interval; "" without one, or for too few articles."""
    shown = printed(at.difference, at.articles)
    if shown.low is None or shown.high is None:
        return ""
    return f"{_number(metric, shown.low)} to {_number(metric, shown.high)}"
