"""`nws check`: the health card of a file of articles, and of predictions for them. Only a tokenizer is loaded."""

import itertools
import json
import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from tokenizers import Tokenizer

from nws.core.article import Article
from nws.core.metrics.config import Options
from nws.core.models import model_folder, parse_model, resolve_model
from nws.core.systems.predictions import parse_predictions, read_predictions
from nws.core.text.checks.all_checks import Checking, Finding, finding_lines
from nws.core.text.checks.finding import CheckedRow, Context
from nws.core.text.dataset import Dataset, OpenDataset, open_dataset
from nws.core.text.fragments import coverage_and_density
from nws.core.text.language import common_language
from nws.core.text.length import count_words
from nws.core.text.near_copies import near_copies, plain_words
from nws.jobs.recipes.outside import predictions_misfits
from nws.jobs.report.numerals import counted, decimals, percent
from nws.jobs.report.printed_lines import print_line
from nws.jobs.report.table import Table

SAMPLE = 2_000
"""Articles of which near copies are looked for: the first ones."""
_LANGUAGES, _WINDOWS = 500, 1_000
"""Texts whose language is told, spread over the file, and whose tokens are counted: the first ones."""

_NOTE = (
    "Words: median (range). Compression: words of the article for one word of the summary, as a mean. Coverage and "
    "density: means, of extractive fragments (Grusky et al. 2018). Cut: texts longer than BERTScore's model reads."
)


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of some numbers, the least and the greatest."""

    median: float
    least: int
    greatest: int


@dataclass(frozen=True, slots=True)
class Summaries:
    """References, or the predictions of one system.

    Attributes:
        count: the number of texts.
        words: the words of a text.
        compression: words of the article for one of the summary, the mean.
        fragment_coverage, fragment_density: means, see `nws.core.text.fragments`.
        cut, looked_at: the number of texts that the scorer's window cuts, and of texts that were looked at.
    """

    count: int
    words: Spread
    compression: float
    fragment_coverage: float
    fragment_density: float
    cut: int
    looked_at: int


@dataclass(frozen=True, slots=True)
class HealthCard:
    """What is known of a file.

    Attributes:
        dataset: its name and split.
        rows, repeats: the number of rows of the file, and of rows that repeat another one and are left out.
        articles: the number of articles that are left.
        references_each: the number of references of an article.
        words: the words of an article.
        references: all together.
        systems: those that have predictions.
        languages: the number of articles in each language, by ISO 639 code, of those that were looked at.
        near_copies, near_copies_of: the number of first articles with a near copy in the file, and of all first ones.
        in_train, near_train: how many articles stand word for word in the training file, and how many of the first ones
            have a near copy there; None without one.
        told: sentences on missing references, on articles that the training file has, too, and on predictions that
            belong to no article.
        findings: the findings of all checks.
    """

    dataset: str
    rows: int
    repeats: int
    articles: int
    references_each: Spread
    words: Spread
    references: Summaries
    systems: Mapping[str, Summaries]
    languages: Mapping[str, int]
    near_copies: int
    near_copies_of: int
    in_train: int | None
    near_train: int | None
    told: tuple[str, ...]
    findings: tuple[Finding, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return every number as plain JSON values, and each finding with its sentence."""
        says = [{**asdict(finding), "sentence": str(finding)} for finding in self.findings]
        return {**asdict(self), "findings": says}


def open_files(dataset: Dataset, train: str | None) -> tuple[OpenDataset, OpenDataset | None]:
    """Open the articles to check, and those that a model was trained on. Neither needs references.

    Raises:
        CorpusError: see `open_dataset`.
    """
    corpus = open_dataset(dataset, needs_reference=False)
    trained_on = replace(dataset, name=train or "", split="train", reference_field=None)
    return corpus, None if train is None else open_dataset(trained_on, needs_reference=False)


def check_corpus(
    corpus: OpenDataset,
    predictions: Path | None = None,
    train: OpenDataset | None = None,
    advance: Callable[[int, int], None] = lambda done, failed: None,
) -> HealthCard:
    """Make the card of a dataset, which is read once more than it was to open it.

    Args:
        corpus: the articles.
        predictions: file of what systems wrote for them.
        train: articles that a model was trained on.
        advance: the function that gets the number of articles done, those of `train` among them.

    Raises:
        CorpusError: a file cannot be read, or a row is malformed.
        ModelError: the tokenizer of the default BERTScore model cannot be found.
        RecipeError: a system has no prediction for any of the articles.
    """
    language = common_language(corpus)
    size = corpus.size or 0
    is_cut = _window()
    spec = parse_predictions(str(predictions))
    written = [] if predictions is None else read_predictions(Path(spec.file), spec.name)
    keys = Counter(article.key for article in corpus) if written else Counter[str]()
    told = [line for system in written for line in predictions_misfits(system, keys)]
    removed = corpus.dataset.preparation.clean_texts
    checking = Checking(Context(language, every=max(1, size // _LANGUAGES)), removed)
    of_systems = [Checking(Context(language), removed, "predictions") for _ in written]
    measured, *of_written = [array("d") for _ in (None, *written)]
    words, references, hashes = array("q"), array("q"), set[int]()

    def seen() -> Iterator[Article]:
        for article in corpus:
            checking.add(CheckedRow(article.key, article.text, article.references))
            own = plain_words(article.text)
            words.append(count_words(article.text))
            references.append(len(article.references))
            hashes.add(hash(article.text))
            for text in article.references:
                _measure(measured, text, own, is_cut)
            for system, of_system, numbers in zip(written, of_systems, of_written, strict=True):
                if (row := system.checked_row(article)) is not None:
                    of_system.add(row)
                    if row.prediction is not None:
                        _measure(numbers, row.prediction, own, is_cut)
            advance(1, 0)
            yield article

    first = list(itertools.islice(corpus, SAMPLE))
    near = {pair.first.id for pair in near_copies(first, seen()) if pair.first.id != pair.second.id}
    place = f"{corpus.name} ({corpus.split})"
    findings = checking.findings(place)
    for system, of_system in zip(written, of_systems, strict=True):
        findings += of_system.findings(system.name)
    if not measured:
        told.append("No article has a reference. If a field has references, name it with --reference-field.")
    in_train, near_train = (None, None) if train is None else _in_train(first, hashes, train, advance)
    if in_train or near_train:
        told.append(
            "The training file has articles of this file: a model may have seen their summaries. Remove them from one."
        )
    return HealthCard(
        place,
        size + corpus.repeats,
        corpus.repeats,
        size,
        _spread(references),
        _spread(words),
        _summaries(measured),
        {system.name: _summaries(numbers) for system, numbers in zip(written, of_written, strict=True)},
        checking.languages,
        len(near),
        len(first),
        in_train,
        near_train,
        tuple(told),
        tuple(findings),
    )


def _window() -> Callable[[str], bool]:
    """Whether the default model of BERTScore reads less than all of a text. Only its tokenizer is loaded."""
    folder = model_folder(resolve_model(parse_model(Options().bertscore_model)), with_weights=False)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    window = int(json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))["model_max_length"])
    return lambda text: len(text.encode()) > window // 2 and len(tokenizer.encode(text).ids) > window


_MEASURES = 5
"""Of a summary: words, compression, coverage, density, and 1 where it is cut, each nan where it is not known."""


def _measure(measured: "array[float]", text: str, article: list[str], is_cut: Callable[[str], bool]) -> None:
    """Add the numbers of a summary; `article` has the article's words."""
    words = plain_words(text)
    known = words and article
    numbers = (len(article) / len(words), *coverage_and_density(article, words)) if known else (math.nan,) * 3
    cut = is_cut(text) if len(measured) < _MEASURES * _WINDOWS else math.nan
    measured.extend((count_words(text), *numbers, cut))


def _summaries(measured: "array[float]") -> Summaries:
    table = np.reshape(np.array(measured), (-1, _MEASURES))
    sums, known = np.nansum(table, axis=0), np.count_nonzero(~np.isnan(table), axis=0)
    _, compression, coverage, density, _ = (sums / np.maximum(known, 1)).tolist()
    words = _spread(table[:, 0])
    return Summaries(len(table), words, compression, coverage, density, int(sums[4]), int(known[4]))


def _spread(numbers: npt.ArrayLike) -> Spread:
    known = np.asarray(numbers) if np.size(numbers) else np.zeros(1)
    return Spread(float(np.median(known)), int(known.min()), int(known.max()))


def _in_train(
    first: list[Article], hashes: set[int], train: OpenDataset, advance: Callable[[int, int], None]
) -> tuple[int, int]:
    """Count articles that are word for word in a training file, and first ones that have a near copy there."""
    same = set[int]()

    def seen() -> Iterator[Article]:
        for article in train:
            same.update({hash(article.text)} & hashes)
            advance(1, 0)
            yield article

    near = {pair.first.id for pair in near_copies(first, seen())}
    return len(same), len(near)


def print_card(card: HealthCard, console: Console) -> None:
    """Print the card, and what was found."""
    repeats = f" ({card.repeats:,} repeat another row and are left out)" if card.repeats else ""
    looked_at, languages = sum(card.languages.values()), card.languages.items()
    first = f"of the first {counted(card.near_copies_of, 'article')}"
    rows = [
        ("rows", f"{card.rows:,}{repeats}"),
        ("articles", f"{card.articles:,}"),
        ("references of an article", _spread_text(card.references_each)),
        ("words of an article", _spread_text(card.words)),
        ("languages", ", ".join(f"{code} {percent(count / looked_at)}" for code, count in languages)),
        ("near copies in the file", f"{card.near_copies} {first}"),
    ]
    if card.in_train is not None:
        rows += [
            ("in the training file", f"{card.in_train:,} of {card.articles:,} articles, word for word"),
            ("near copies in the training file", f"{card.near_train} {first}"),
        ]
    Table(("", card.dataset), rows).print(console)
    columns = ("", "texts", "words", "compression", "coverage", "density", "cut")
    cells = [
        (
            name,
            f"{of.count:,}",
            _spread_text(of.words),
            f"{of.compression:.1f}",
            decimals(of.fragment_coverage, 2),
            f"{of.fragment_density:.1f}",
            percent(of.cut / of.looked_at),
        )
        for name, of in (("references", card.references), *card.systems.items())
        if of.count
    ]
    if cells:
        Table(columns, cells, notes=(_NOTE,)).print(console)
    lines = (*card.told, *finding_lines(card.findings))
    for line in lines:
        print_line(console, line, style="yellow")
    if not lines:
        print_line(console, "No check found anything.")


def _spread_text(spread: Spread) -> str:
    ends = f" ({spread.least:,}–{spread.greatest:,})" if spread.least < spread.greatest else ""
    return f"{spread.median:,.0f}{ends}"
