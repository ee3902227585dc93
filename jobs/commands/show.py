"""`nws show`: an article, its references, and what every system wrote of it."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from core.errors import RecipeError
from jobs.commands.options import DEFAULT_STORE, Json, StoreUrl
from jobs.commands.shared import newest, reading
from jobs.terminal.busy import busy
from jobs.terminal.console import PrintableConsole

if TYPE_CHECKING:
    from jobs.show.compute import Wanted


def show(
    article: Annotated[
        str | None,
        typer.Argument(help="An article's key, its id or the beginning of that, or a part of its text."),
    ] = None,
    run: Annotated[
        str | None,
        typer.Argument(
            help="Run id; default: the newest run with summaries. With --worst, --best or --differ, leave ARTICLE out."
        ),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(
            help="The system whose words are marked in the article, and whose F1 --worst and --best compare: its name "
            "in `nws report`, or a part of it. Default: the first one that is neither a control nor an upper bound."
        ),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option(min=0, help="Length in words, 0: uncut. Default: the best candidate; the output says why."),
    ] = None,
    worst: Annotated[
        int | None, typer.Option(min=1, help="Instead of ARTICLE: this many articles with the lowest BERTScore F1.")
    ] = None,
    best: Annotated[
        int | None, typer.Option(min=1, help="Instead of ARTICLE: this many articles with the highest BERTScore F1.")
    ] = None,
    differ: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Instead of ARTICLE: articles where the F1 of two systems differs most."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many articles --differ shows.")] = 5,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Show an article and its summaries.

    Prints its references, its text, and the summary of every system with its scores. The words of one system are marked
    in the article.
    """
    from jobs.show.compute import show as find_and_align
    from jobs.show.printed_article import print_shown

    wanted, run = _wanted(article, run, worst, best, differ, limit)
    with reading(store) as opened:
        info = opened.run_info(run or newest(opened, with_summaries=True))
        with busy("Looking for articles"):
            shown = find_and_align(opened, info, wanted, system, n)
    if as_json:
        print(json.dumps(shown.as_dict(), allow_nan=False))
    else:
        print_shown(shown, PrintableConsole())


def _wanted(
    article: str | None,
    run: str | None,
    worst: int | None,
    best: int | None,
    differ: tuple[str, str] | None,
    limit: int,
) -> "tuple[Wanted, str | None]":
    """What the options select, and in which run.

    Raises:
        RecipeError: they select nothing, or two things.
    """
    from jobs.show.compute import Different, Extreme

    ways = [(worst, "--worst"), (best, "--best"), (differ, "--differ")]
    given = [name for value, name in ways if value is not None]
    if not given:
        if article is None or not article.strip():
            raise RecipeError("Which article? Name its key, its id or a part of its text, or use --worst 5.")
        return article, run
    if len(given) > 1 or run is not None:
        both = given if len(given) > 1 else [given[0], "ARTICLE"]
        raise RecipeError(f"{' and '.join(both)} choose articles in different ways: give one of them.")
    if differ is not None:
        return Different(*differ, limit), article
    return Extreme(worst or best or 0, highest=best is not None), article
