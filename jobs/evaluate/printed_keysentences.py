"""Keywords, key sentences and their recall in the terminal, made for 80 columns."""

import textwrap
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from jobs.evaluate.keysentences import N_KEYSENTS, N_KEYWORDS, KeySentences, Method, Recall
from jobs.terminal.numerals import counted
from jobs.terminal.table_style import WIDTH

_GAP = 3
_NUMBER = 4


def print_key_sentences(result: KeySentences, console: Console) -> None:
    """Print the keywords with their ranks, the sentences and the recall of both methods."""
    methods = {"KR-WordRank": result.wordrank, "TextRank": result.textrank}
    of_each = " and ".join(f"{counted(len(method.keywords), 'keyword')} of {name}" for name, method in methods.items())
    _line(console, f"{counted(result.documents, 'document')}, {of_each}")
    for name, method in methods.items():
        shown = dict(list(method.keywords.items())[: result.top])
        _title(console, f"Keywords of {name} by rank: {len(shown)}")
        if shown:
            _print_keywords(shown, console)
    for name, method in methods.items():
        _print_sentences(name, method, result.top, console)
    _title(console, "Keyword recall: the share of the best keywords that the best sentences hold")
    _print_recalls("KR-WordRank's keywords", [method.recalls for method in methods.values()], console)
    console.print()
    _print_recalls("Its own keywords", [method.own_recalls for method in methods.values()], console)
    _print_shortage(result, console)
    _line(console, "")
    _line(console, "How they were found:")
    for method in (result.wordrank, result.textrank):
        for line in textwrap.wrap(method.signature.replace("|", "| "), WIDTH, subsequent_indent="  "):
            _line(console, line.replace("| ", "|"))


def _line(console: Console, text: str, style: str = "") -> None:
    # Text, not str: a document may hold [brackets], which rich would read as markup.
    console.print(Text(text, style=style))


def _title(console: Console, text: str) -> None:
    console.print()
    _line(console, text, style="bold underline")


def _print_keywords(keywords: dict[str, float], console: Console) -> None:
    """As many columns as fit, to be read down. A Hangul syllable is two cells wide."""
    ranks = [f"{rank:.2f}" for rank in keywords.values()]
    rank_width = max(map(len, ranks))
    width = max(map(cell_len, keywords)) + 1 + rank_width
    cells = [
        word + " " * (width - rank_width - cell_len(word)) + rank.rjust(rank_width)
        for word, rank in zip(keywords, ranks, strict=True)
    ]
    columns = max(1, (WIDTH + _GAP) // (width + _GAP))
    rows = -(-len(cells) // columns)
    for row in range(rows):
        _line(console, (" " * _GAP).join(cells[row::rows]))


def _print_sentences(name: str, method: Method, top: int, console: Console) -> None:
    sentences = method.sentences[:top]
    _title(console, f"Key sentences of {name}: {len(sentences)}")
    for number, sentence in enumerate(sentences, start=1):
        for i, line in enumerate(Text(sentence).wrap(console, WIDTH - _NUMBER)):
            _line(console, f"{number if i == 0 else '':>{_NUMBER - 1}} {line.plain}")
    if len(sentences) < top:
        _line(console, "No other is far enough from these: a lower --diversity may give more.", style="yellow")


def _print_recalls(whose: str, of_methods: Sequence[Sequence[Recall]], console: Console) -> None:
    heads = "".join(f"{n:>6}" for n in N_KEYSENTS)
    _line(console, f"{whose:<22}{'KR-WordRank':>17}   {'TextRank':>30}")
    _line(console, f"{'sentences':<9}{heads}   {heads}")
    recalls = [{(recall.n_keywords, recall.n_keysents): recall.recall for recall in method} for method in of_methods]
    for n_keywords in N_KEYWORDS:
        left, right = (
            "".join(f"{recall_by_size[n_keywords, n]:>6.2f}" for n in N_KEYSENTS) for recall_by_size in recalls
        )
        _line(console, f"{f'{n_keywords} kw':<9}{left}   {right}")


def _print_shortage(result: KeySentences, console: Console) -> None:
    """How many there are, if a cell of the tables asks for more."""
    methods = (result.wordrank, result.textrank)
    if all(len(m.keywords) >= N_KEYWORDS[-1] and len(m.sentences) >= N_KEYSENTS[-1] for m in methods):
        return
    (words, sentences), of_textrank = ((len(method.keywords), len(method.sentences)) for method in methods)
    found = f"{counted(words, 'keyword')} and {counted(sentences, 'sentence')}"
    _line(console, f"KR-WordRank found {found}, TextRank {of_textrank[0]} and {of_textrank[1]}.", "yellow")
    _line(console, "Where a table asks for more, its recall is over these.", "yellow")
