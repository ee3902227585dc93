"""`nws show`: an article, its references, and what every system wrote of it."""

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from core.errors import RecipeError
from jobs.commands import complete
from jobs.commands.groups import grouped, plain
from jobs.commands.options import DEFAULT_STORE, LABEL, Json, StoreUrl, parse_labels
from jobs.commands.shared import chosen_run, reading
from jobs.terminal.console import PrintableConsole, busy

if TYPE_CHECKING:
    from jobs.report.shown_articles import Wanted

_RUN_ID = re.compile(r"[a-z0-9]+-\d{8}-[0-9a-f]{6}")


@dataclass(frozen=True, slots=True)
class ShowOptions:
    """Which articles are shown where none is named, and which summary is marked in them."""

    system: str | None = plain(
        "--system NAME",
        "The system whose words are marked in the article, and whose F1 --worst and --best compare: its name in `nws "
        "report`, or a part of it. Default: the first one that is neither a control nor an upper bound.",
        autocompletion=complete.systems,
    )
    n: int | None = plain(
        "--n N", "Length in words, 0: uncut. Default: the n that the answer names; the output says why.", min=0
    )
    worst: int | None = plain(
        "--worst N", "Instead of ARTICLE: this many articles with the lowest BERTScore F1.", min=1
    )
    best: int | None = plain("--best N", "Instead of ARTICLE: this many articles with the highest BERTScore F1.", min=1)
    differ: tuple[str, str] | None = plain(
        "--differ A B", "Instead of ARTICLE: articles where the F1 of two systems differs most."
    )
    limit: int = plain("--limit N", "How many articles --differ shows.", 5, min=1)
    labels: list[str] | None = plain(*LABEL)


@grouped
def show(
    how: ShowOptions,
    article: Annotated[
        str | None,
        typer.Argument(help="An article's key, its id or the beginning of that, or a part of its text."),
    ] = None,
    run: Annotated[
        str | None,
        typer.Argument(
            help="Run id; default: the newest run with summaries. With --worst, --best or --differ, leave ARTICLE out.",
            autocompletion=complete.runs,
        ),
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Show an article and its summaries.

    Prints its references, its text, and the summary of every system with its scores. The words of one system are marked
    in the article.
    """
    from jobs.report.printed_article import print_shown
    from jobs.report.shown_articles import show as find_and_align

    wanted, run = _wanted(article, run, how)
    with reading(store) as opened:
        info = opened.run_info(chosen_run(opened, run, with_summaries=True))
        with busy("Looking for articles"):
            shown = find_and_align(opened, info, wanted, how.system, how.n, parse_labels(how.labels))
    if as_json:
        print(json.dumps(shown.as_dict(), allow_nan=False))
    else:
        print_shown(shown, PrintableConsole())


def _wanted(article: str | None, run: str | None, how: ShowOptions) -> "tuple[Wanted, str | None]":
    """What the options select, and in which run.

    Raises:
        RecipeError: they select nothing, or two things.
    """
    from jobs.report.shown_articles import Different, Extreme

    ways = [(how.worst, "--worst"), (how.best, "--best"), (how.differ, "--differ")]
    given = [name for value, name in ways if value is not None]
    if not given:
        if article is None or not article.strip():
            raise RecipeError("Which article? Name its key, its id or a part of its text, or use --worst 5.")
        if run is not None and _RUN_ID.fullmatch(article) and not _RUN_ID.fullmatch(run):
            raise RecipeError(f"{article} is a run: the article comes first, as in nws show {run!r} {article}.")
        return article, run
    if len(given) > 1 or run is not None:
        both = given if len(given) > 1 else [given[0], "ARTICLE"]
        raise RecipeError(f"{' and '.join(both)} choose articles in different ways: give one of them.")
    if how.differ is not None:
        return Different(*how.differ, how.limit), article
    return Extreme(how.worst or how.best or 0, highest=how.best is not None), article
