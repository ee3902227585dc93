"""`nws show`: an article of a run, the summaries of it at one n, and where the words of one of them stand in it.

It is printed as wide as the terminal is, with colour or without.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.text import Text

from nws.core.article import Article
from nws.core.errors import RecipeError, StoreError
from nws.core.findings.scores import system_order
from nws.core.metrics.specs import KEPT_SPEC, SPECS
from nws.core.text.alignment import align, bare_spans
from nws.core.text.length import bare_words, count_characters, count_words, length_of
from nws.core.types import Summary, SystemKind
from nws.jobs.report.console import escape_controls, printable
from nws.jobs.report.numerals import counted, decimals, length_text, percent
from nws.jobs.report.printed_lines import print_line, print_shortened, print_title, role
from nws.jobs.report.run_status import plain_values
from nws.jobs.report.system_names import SystemNames, names_of
from nws.jobs.store import FailureInfo, RunInfo, Store

_MOST_NAMED = 5
"""How many articles an error lists if a name fits several."""
_INDENT = 2
_WIDEST = 100
"""Columns beyond which lines of text are hard to follow."""
_MARK = "bold reverse"


@dataclass(frozen=True, slots=True)
class ShownSummary:
    """A summary, what its system is, and the position in the article of each of its words (see `align`)."""

    summary: Summary
    kind: SystemKind
    positions: tuple[int | None, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain JSON values; a position counts the words of the article from 0."""
        values = asdict(self.summary)
        scores = {**values["scores"], **values.pop("chosen_scores")}
        characters = count_characters(self.summary.text)
        return values | {"scores": scores, "kind": self.kind, "characters": characters, "positions": self.positions}


@dataclass(frozen=True, slots=True)
class ShownArticle:
    """An article with its summaries at the n that was chosen, its uncut ones, and what failed.

    `system` is the one whose words are marked, and `names` is what systems are called.
    """

    run: RunInfo
    article: Article
    system: str
    n: int
    summaries: tuple[ShownSummary, ...]
    failures: tuple[FailureInfo, ...]
    names: SystemNames

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain JSON values."""
        run, article = self.run, self.article
        return {
            "run": {name: getattr(run, name) for name in ("id", "job", "state", "seed", "code_version", "signatures")},
            "system": self.system,
            "n": self.n,
            "unit": run.length_unit,
            **{name: getattr(article, name) for name in ("dataset", "split", "key", "id", "text", "references")},
            "words": count_words(article.text),
            "summaries": [written.as_dict() for written in self.summaries],
            "failures": [plain_values(failure) for failure in self.failures],
        }


def show(
    store: Store,
    run: RunInfo,
    wanted: str | None = None,
    system: str | None = None,
    n: int | None = None,
    labels: Mapping[str, str] | None = None,
) -> ShownArticle:
    """Choose an article with its summaries.

    Args:
        store: the store of the run.
        run: the run.
        wanted: an article's key, its id or the beginning of that, or a part of its key or text;
            default: the first by id.
        system: whose words are marked: a name, or a part of it that no other system has. Default: the one that keeps
            most, by the answer of the run; without one the first that is neither a control nor an oracle.
        n: the length of the summaries; default: the one that the answer names for the system, or else the middle one
            of its lengths, 0 if it has written uncut summaries only.
        labels: the labels of systems, over those of the recipe.

    Raises:
        StoreError: the run has no summaries.
        RecipeError: there is no such system, article or n, or more than one article or system.
    """
    kinds = store.systems(run.id)
    if not kinds:
        raise StoreError(
            f"Run {run.id!r} ({run.state}) has no summaries to show: {run.articles_done} articles finished, "
            f"{run.failures} failed. See `nws status {run.id}`."
        )
    there = sorted({length for name in kinds for length in store.lengths(run.id, name)}) if n is not None else []
    if n is not None and n not in there:
        raise RecipeError(f"Run {run.id} has no summaries at n = {n}, but at n = {', '.join(map(str, there))}.")
    names = names_of([run], kinds, labels)
    chosen = names.find(system, sorted(kinds), f"run {run.id}") if system else ""
    article = _find_article(store, run, wanted) if wanted else store.find_articles(run.id, "", 1)[0]
    named = store.document([run.id]).headline(article.dataset)
    first = min(kinds, key=lambda name: system_order(name, kinds[name]))
    chosen = chosen or (named.system if named else first)
    if n is None and named and chosen == named.system:
        n = named.n
    elif n is None:
        lengths = [n for n in store.lengths(run.id, chosen) if n] or [0]
        n = lengths[len(lengths) // 2]
    words = bare_words(article.text)
    summaries = [
        ShownSummary(summary, kinds[summary.system], tuple(align(bare_words(summary.text), words)))
        for summary in store.summaries(run.id, article.id)
        if summary.n in (n, 0)
    ]
    summaries.sort(key=lambda shown: (shown.summary.n == 0, system_order(shown.summary.system, shown.kind)))
    return ShownArticle(run, article, chosen, n, tuple(summaries), tuple(store.failures(run.id, article.id)), names)


def _find_article(store: Store, run: RunInfo, name: str) -> Article:
    articles = store.find_articles(run.id, name, _MOST_NAMED + 1)
    if len(articles) == 1:
        return articles[0]
    if not articles:
        raise RecipeError(
            f"Run {run.id} has no article with the key or id {name!r}, and none whose key or text contains it. "
            f"See its first article with: nws show {run.id}"
        )
    listed = [f"{article.id} ({article.dataset}, {article.key})" for article in articles[:_MOST_NAMED]]
    listed += ["and more"] * (len(articles) > _MOST_NAMED)
    raise RecipeError(f"Run {run.id} has more than one article for {name!r}: {'; '.join(listed)}. Name one by its id.")


def print_shown(shown: ShownArticle, console: Console) -> None:
    """Print an article. Where there is no colour, the words that a summary has stand in [brackets]."""
    run, article = shown.run, shown.article
    print_line(console, f"Run {run.id}: {run.state}, {counted(run.articles_done, 'article')}")
    print_shortened(shown.names, console)
    print_title(console, f"{printable(article.dataset)} / {printable(article.key)}")
    print_line(console, f"{count_words(article.text)} words, article_id {article.id}", style="dim")
    _print_references(article.references, console)
    for failure in shown.failures:
        why = f"{failure.stage}: {failure.error_class}: {failure.message} ({counted(failure.attempts, 'attempt')})"
        console.print()
        print_line(console, f"Failed: {escape_controls(why)}", style="bold red")
    for n in dict.fromkeys((shown.n, 0)):
        summaries = [written for written in shown.summaries if written.summary.n == n]
        if n or summaries:
            unit = "" if run.length_unit == "words" else f" {run.length_unit}"
            called = f"Summaries at n = {n}{unit}" if n else "Uncut summaries"
            _print_heading(console, f"{called}; scores are F1")
            for written in summaries:
                _print_summary(shown, written, console)
            if not summaries:
                _print_indented(Text("There are none."), console)
    _print_text(shown, console)


def _print_heading(console: Console, text: str, note: str = "") -> None:
    console.print()
    console.print(Text(text, style="bold"))
    if note:
        console.print(Text(note, style="dim"))


def _print_indented(text: Text, console: Console) -> None:
    for line in text.wrap(console, max(1, min(console.width, _WIDEST) - _INDENT)):
        line.rstrip()
        console.print(Text(" " * _INDENT).append_text(line))


def _print_references(references: Sequence[str], console: Console) -> None:
    several = len(references) > 1
    _print_heading(console, "References" if several else "Reference", "Scores: the best over all." * several)
    for number, reference in enumerate(references, start=1):
        _print_indented(Text(f"{number}. " * several + escape_controls(reference)), console)


def _print_text(shown: ShownArticle, console: Console) -> None:
    has_colour, at = console.color_system is not None, (shown.system, shown.n)
    of_system = (one for one in shown.summaries if shown.n and (one.summary.system, one.summary.n) == at)
    marked = next(of_system, None)
    legend = ""
    if marked is not None:
        marking, missing = "Highlighted" if has_colour else "In [brackets]", marked.positions.count(None)
        legend = f"{marking}: the words of {printable(shown.names[shown.system])} at n = {shown.n}."
        if missing:
            legend += f" {missing} of its {len(marked.positions)} words are not in the article, or in another order."
    _print_heading(console, "Article", legend)
    text = Text()
    for piece, is_marked in pieces(shown.article.text, marked.positions if marked else ()):
        plain = escape_controls(piece)
        text.append(f"[{plain}]" if is_marked and not has_colour else plain, style=_MARK if is_marked else "")
    _print_indented(text, console)


def pieces(text: str, positions: Sequence[int | None]) -> Iterator[tuple[str, bool]]:
    """Cut `text` where words at `positions` begin and end, and say whether each piece is of such words.

    Neighbours among them are one piece, with what stands between them.
    """
    spans = bare_spans(text)
    chosen = sorted(position for position in positions if position is not None)
    end = 0
    for _, group in groupby(enumerate(chosen), key=lambda place: place[1] - place[0]):
        run = [position for _, position in group]
        start, after = spans[run[0]][0], spans[run[-1]][1]
        yield text[end:start], False
        yield text[start:after], True
        end = after
    yield text[end:], False


def _print_summary(shown: ShownArticle, written: ShownSummary, console: Console) -> None:
    summary, unit = written.summary, shown.run.length_unit
    name = Text(printable(shown.names[summary.system]), style="bold").append(role(written.kind), style="not bold dim")
    length = length_text(summary.words, "words")
    if unit != "words":
        length += f", {length_text(length_of(summary.text, unit), unit)}"
    if unit != "words" or summary.words != summary.n:
        name.append(f"  {length}", style="not bold dim")
    console.print()
    console.print(name)
    scores = (
        f"{KEPT_SPEC.label} {percent(summary.scores[KEPT_SPEC.column])}  " if KEPT_SPEC.column in summary.scores else ""
    )
    scores += "  ".join(f"{spec.label} {decimals(summary.scores[spec.column])}" for spec in SPECS if spec.has_parts)
    scores += "".join(f"  {name} {decimals(value)}" for name, value in summary.chosen_scores.items())
    _print_indented(Text(scores), console)
    draws = summary.extra.get("draws")
    if draws is not None:
        many = f"{draws:g}" if isinstance(draws, float | int) else str(len(draws))
        _print_indented(Text(f"Scores are means over {many} draws. The first draw:", style="dim"), console)
    _print_indented(Text(escape_controls(summary.text)), console)
