"""`nws check`: the health card of a file of articles, and of predictions for them. Only a tokenizer is loaded."""

import itertools
import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from tokenizers import Tokenizer

from nws.core.article import Article
from nws.core.metrics.config import Options
from nws.core.models import model_folder, parse_model, resolve_model
from nws.core.text.checks.all_checks import Checking, Finding
from nws.core.text.checks.finding import CheckedRow, Context
from nws.core.text.dataset import OpenDataset
from nws.core.text.fragments import coverage_and_density
from nws.core.text.language import common_language, foreign_language
from nws.core.text.length import count_words
from nws.core.text.near_copies import near_copies, plain_words
from nws.jobs.report.numerals import decimals, percent
from nws.jobs.report.printed_lines import print_line
from nws.jobs.report.table import Table
from nws.jobs.tools.compare_texts import read_systems

SAMPLE = 2_000
"""Articles of which near copies are looked for: the first ones."""
_LANGUAGES, _WINDOWS = 500, 1_000
"""Texts whose language is told, spread over the file, and whose tokens are counted: the first ones."""

_NOTE = (
    "Words: median (range). Means of compression (words of the article for one of the summary), and of coverage and "
    "density of extractive fragments (Grusky et al. 2018). Cut: longer than BERTScore's model reads."
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
        count: how many there are.
        words: of each.
        compression: words of the article for one of the summary, the mean.
        fragment_coverage, fragment_density: means, see `nws.core.text.fragments`.
        cut, looked_at: how many texts the scorer's window cuts, of how many that were looked at.
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
        rows, repeats: how many rows the file has, and how many of them repeat another one and are left out.
        articles: how many are left.
        references_each: how many references an article has.
        words: of the articles.
        summaries: "reference", and each system that has predictions.
        languages: how many of the articles that were looked at are in each language, by ISO 639 code.
        near_copies, near_copies_of: how many of the first articles have a near copy in the file, of how many.
        in_train: how many articles stand word for word in the training file, and how many of the first ones have a near
            copy there; None without one.
        findings: of all checks.
    """

    dataset: str
    rows: int
    repeats: int
    articles: int
    references_each: Spread
    words: Spread
    summaries: Mapping[str, Summaries]
    languages: Mapping[str, int]
    near_copies: int
    near_copies_of: int
    in_train: tuple[int, int] | None
    findings: tuple[Finding, ...]

    def as_dict(self) -> dict[str, Any]:
        """Every number, as plain JSON values."""
        return asdict(self)


class _Summaries:
    """Numbers of summaries, gathered one by one."""

    def __init__(self, cut: Callable[[str], bool]) -> None:
        self.words, self.numbers = array("q"), np.zeros(3)
        self.cut, self.is_cut, self.looked_at = 0, cut, 0

    def add(self, text: str, article: list[str]) -> None:
        """Measure a summary; `article` has the article's words."""
        words = plain_words(text)
        self.words.append(count_words(text))
        if words:
            self.numbers += (len(article) / len(words), *coverage_and_density(article, words))
        if self.looked_at < _WINDOWS:
            self.looked_at += 1
            self.cut += self.is_cut(text)

    def made(self) -> Summaries:
        """All of them."""
        compression, coverage, density = (self.numbers / max(1, sum(map(bool, self.words)))).tolist()
        words = _spread(self.words)
        return Summaries(len(self.words), words, compression, coverage, density, self.cut, self.looked_at)


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
        advance: is told how many articles are done.

    Raises:
        CorpusError: a file cannot be read, or a row is malformed.
        ModelError: the tokenizer of the default BERTScore model cannot be found.
    """
    language = common_language(corpus)
    size = corpus.size or 0
    is_cut = _window()
    written = {} if predictions is None else read_systems([str(predictions)])
    context = Context(language, every=max(1, size // _LANGUAGES))
    removed = corpus.dataset.preparation.clean_texts
    checking = Checking(context, removed)
    of_systems = {name: Checking(Context(language, size), removed, "predictions") for name in written}
    gathered = {name: _Summaries(is_cut) for name in ("reference", *written)}
    words, references, languages, hashes = array("q"), array("q"), Counter[str](), set[int]()

    def seen() -> Iterator[Article]:
        for index, article in enumerate(corpus):
            checking.add(CheckedRow(article.key, article.text, article.references))
            own = plain_words(article.text)
            words.append(count_words(article.text))
            references.append(len(article.references))
            hashes.add(hash(article.text))
            if index % context.every == 0:
                languages[foreign_language(article.text, language) or language] += 1
            for text in article.references:
                gathered["reference"].add(text, own)
            for name, texts in written.items():
                if article.key in texts:
                    text = texts[article.key] or ""
                    gathered[name].add(text, own)
                    of_systems[name].add(CheckedRow(article.key, article.text, (), text))
            advance(1, 0)
            yield article

    first = list(itertools.islice(corpus, SAMPLE))
    near = {pair.first.id for pair in near_copies(first, seen()) if pair.first.id != pair.second.id}
    findings = checking.findings(f"{corpus.name} ({corpus.split})")
    for name, of_system in of_systems.items():
        findings += of_system.findings(name)
    return HealthCard(
        f"{corpus.name} ({corpus.split})",
        size + corpus.repeats,
        corpus.repeats,
        size,
        _spread(references),
        _spread(words),
        {name: numbers.made() for name, numbers in gathered.items() if numbers.words},
        dict(languages.most_common()),
        len(near),
        len(first),
        None if train is None else _in_train(first, hashes, train),
        tuple(findings),
    )


def _window() -> Callable[[str], bool]:
    """Whether the default model of BERTScore reads less than all of a text. Only its tokenizer is loaded."""
    folder = model_folder(resolve_model(parse_model(Options().bertscore_model)), with_weights=False)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    window = int(json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))["model_max_length"])
    return lambda text: len(text.encode()) > window // 2 and len(tokenizer.encode(text).ids) > window


def _spread(numbers: "array[int]") -> Spread:
    return Spread(float(np.median(numbers)), min(numbers), max(numbers)) if numbers else Spread(0, 0, 0)


def _in_train(first: list[Article], hashes: set[int], train: OpenDataset) -> tuple[int, int]:
    """How many articles are word for word in a training file, and how many of the first ones have a near copy there."""
    same = set[int]()

    def seen() -> Iterator[Article]:
        for article in train:
            same.update({hash(article.text)} & hashes)
            yield article

    near = {pair.first.id for pair in near_copies(first, seen())}
    return len(same), len(near)


def print_card(card: HealthCard, console: Console) -> None:
    """Print the card, and what was found, in at most two lines each."""
    rows = [
        (
            "rows",
            f"{card.rows:,}" + (f" ({card.repeats:,} repeat another one and are left out)" if card.repeats else ""),
        ),
        ("articles", f"{card.articles:,}"),
        ("references of an article", _text(card.references_each)),
        ("words of an article", _text(card.words)),
        (
            "languages",
            ", ".join(f"{code} {percent(n / sum(card.languages.values()))}" for code, n in card.languages.items()),
        ),
        ("near copies", f"{card.near_copies} of the first {card.near_copies_of:,} articles have one in the file"),
    ]
    if card.in_train is not None:
        same, near = card.in_train
        rows.append(
            ("in the training file", f"{same:,} word for word; of the first {card.near_copies_of:,}, {near} nearly")
        )
    Table(("", card.dataset), rows).print(console)
    columns = ("", "texts", "words", "compression", "coverage", "density", "cut")
    cells = [
        (
            name,
            f"{of.count:,}",
            _text(of.words),
            f"{of.compression:.1f}",
            decimals(of.fragment_coverage, 2),
            f"{of.fragment_density:.1f}",
            percent(of.cut / of.looked_at),
        )
        for name, of in card.summaries.items()
    ]
    if cells:
        Table(columns, cells, notes=(_NOTE,)).print(console)
    for finding in card.findings:
        print_line(console, str(finding), style="yellow")
    if not card.findings:
        print_line(console, "No check found anything.")


def _text(spread: Spread) -> str:
    return f"{spread.median:,.0f}" + (
        f" ({spread.least:,}–{spread.greatest:,})" if spread.least < spread.greatest else ""
    )
