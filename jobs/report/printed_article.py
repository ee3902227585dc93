"""Articles with their summaries in the terminal: as wide as it is, with colour or without."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from core.metrics.specs import KEPT, SPECS
from core.text.alignment import bare_spans
from core.text.length import LengthUnit, length_of
from core.text.words import count_words
from core.types import Article
from jobs.report.shown_articles import Different, Extreme, Shown, ShownArticle, ShownSummary
from jobs.report.sweep.kept_answer import share_text
from jobs.terminal.console import printable, written_out
from jobs.terminal.numerals import counted, decimals, of_length
from jobs.terminal.system_names import SystemNames
from jobs.terminal.table_style import print_line, print_shared, print_title, role

_INDENT = 2
_WIDEST = 100
"""Columns beyond which lines of text are hard to follow."""
_MARK = "bold reverse"


def print_shown(shown: Shown, console: Console) -> None:
    """Print every article. Where there is no colour, the words that a summary has stand in [brackets]."""
    print_line(console, f"Run {shown.run.id}: {shown.run.state}, {counted(shown.run.articles_done, 'article')}")
    print_shared(shown.names, console)
    for number, article in enumerate(shown.articles, start=1):
        _print_article(shown, article, _why(shown, number), console)


def _why(shown: Shown, number: int) -> str | None:
    """Why this article was selected, if nobody named it."""
    wanted, place = shown.wanted, f"{number} of {len(shown.articles)}"
    at = f"at n = {shown.length.n}" if shown.length.n else "uncut"
    match wanted:
        case Extreme():
            return (
                f"{place}: {'highest' if wanted.highest else 'lowest'} BERTScore F1 of {shown.names[shown.system]} {at}"
            )
        case Different():
            a, b = shown.names[wanted.a], shown.names[wanted.b]
            return f"{place}: largest difference in BERTScore F1 between {a} and {b} {at}"
        case _:
            return None


def _print_article(shown: Shown, shown_article: ShownArticle, why: str | None, console: Console) -> None:
    article = shown_article.article
    print_title(console, f"{printable(article.dataset)} / {printable(article.key)}")
    if why:
        print_line(console, written_out(why))
    print_line(console, f"{count_words(article.text)} words, id {article.id}", style="dim")
    _print_references(article.references, console)
    for failure in shown_article.failures:
        console.print()
        failure_line = (
            f"{failure.stage}: {failure.error_class}: {failure.message} ({counted(failure.attempts, 'attempt')})"
        )
        print_line(console, f"Failed: {written_out(failure_line)}", style="bold red")
    if shown.length.n:
        at = f"n = {shown.length.n}" + (f" {unit}" if (unit := shown.run.length_unit) != "words" else "")
        _print_heading(console, f"Summaries at {at}, scores in F1", written_out(shown.length.why))
        if not shown_article.at_n:
            _print_indented(Text("There is none."), console)
        _print_all(shown_article.at_n, shown, console)
    if shown_article.uncut:
        _print_heading(console, "Summaries of their own length (n = 0), scores in F1")
        _print_all(shown_article.uncut, shown, console)
    _print_text(article, shown_article.by(shown.system), shown.names, console)


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
    _print_heading(console, "References" if several else "Reference", "Each score is that of the best one." * several)
    for number, reference in enumerate(references, start=1):
        _print_indented(Text(f"{number}. " * several + written_out(reference)), console)


def _print_text(article: Article, marked: ShownSummary | None, names: SystemNames, console: Console) -> None:
    has_colour = console.color_system is not None
    _print_heading(console, "Article", _legend(marked, names, has_colour))
    positions = marked.positions if marked else ()
    text = Text()
    for piece, is_marked in pieces(article.text, positions):
        shown = written_out(piece)
        if is_marked:
            text.append(shown if has_colour else f"[{shown}]", style=_MARK)
        else:
            text.append(shown)
    _print_indented(text, console)


def _legend(marked: ShownSummary | None, names: SystemNames, has_colour: bool) -> str:
    if marked is None:
        return ""
    marking = "Highlighted" if has_colour else "In [brackets]"
    missing = marked.positions.count(None)
    legend = f"{marking}: the words of {printable(names[marked.summary.system])} at n = {marked.summary.n}."
    if missing:
        legend += f" {missing} of its {len(marked.positions)} words are not in the article, or in another order."
    return legend


def pieces(text: str, positions: Sequence[int | None]) -> Iterator[tuple[str, bool]]:
    """All of `text`, cut where words at `positions` begin and end, and whether each piece is of such words.

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


def _print_all(many: Sequence[ShownSummary], shown: Shown, console: Console) -> None:
    for written in many:
        console.print()
        _print_written(written, shown.names, shown.run.length_unit, console)


def _print_written(written: ShownSummary, names: SystemNames, unit: LengthUnit, console: Console) -> None:
    summary = written.summary
    name = Text(printable(names[summary.system]), style="bold").append(role(written.kind), style="not bold dim")
    if unit != "words":
        length = of_length(length_of(summary.text, unit), unit)
        name.append(f"  {of_length(summary.words, 'words')}, {length}", style="not bold dim")
    elif summary.words != summary.n:
        name.append(f"  {summary.words} words", style="not bold dim")
    console.print(name)
    scores = f"{KEPT.label} {share_text(summary.scores[KEPT.column])}  " if KEPT.column in summary.scores else ""
    scores += "  ".join(f"{spec.label} {decimals(summary.scores[spec.column])}" for spec in SPECS if spec.has_parts)
    scores += "".join(f"  {name} {decimals(value)}" for name, value in summary.chosen_scores.items())
    _print_indented(Text(scores), console)
    draws = summary.extra.get("draws")
    if draws is not None:
        many = f"{draws:g}" if isinstance(draws, float | int) else str(len(draws))
        _print_indented(Text(f"These are means of {many} draws. The first of them:", style="dim"), console)
    _print_indented(Text(written_out(summary.text)), console)
