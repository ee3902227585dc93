"""Keywords, key sentences and their recall in the terminal, made for 80 columns."""

import textwrap

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from jobs.keysentences.compute import N_KEYSENTS, N_KEYWORDS, KeySentences, Method
from jobs.terminal.numerals import counted
from jobs.terminal.table_style import WIDTH

_GAP = 3
_NUMBER = 4


def print_key_sentences(result: KeySentences, console: Console) -> None:
    """Print the keywords with their ranks, the sentences and the recall of both methods."""
    _line(console, f"{counted(result.documents, 'document')}, {counted(len(result.keywords), 'keyword')}")
    shown = dict(list(result.keywords.items())[: result.top])
    _title(console, f"Keywords by rank: {len(shown)}")
    _print_keywords(shown, console)
    for name, method in (("KR-WordRank", result.wordrank), ("TextRank", result.textrank)):
        _print_sentences(name, method, result.top, console)
    _print_recalls(result, console)
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


def _print_recalls(result: KeySentences, console: Console) -> None:
    _title(console, "Keyword recall: the share of the best keywords that the best sentences hold")
    heads = "".join(f"{n:>6}" for n in N_KEYSENTS)
    _line(console, f"{'':<9}{'KR-WordRank':>30}   {'TextRank':>30}")
    _line(console, f"{'sentences':<9}{heads}   {heads}")
    recalls = [
        {(recall.n_keywords, recall.n_keysents): recall.recall for recall in method.recalls}
        for method in (result.wordrank, result.textrank)
    ]
    for n_keywords in N_KEYWORDS:
        left, right = (
            "".join(f"{recall_by_size[n_keywords, n]:>6.2f}" for n in N_KEYSENTS) for recall_by_size in recalls
        )
        _line(console, f"{f'{n_keywords} kw':<9}{left}   {right}")
    numbers = (len(result.keywords), len(result.wordrank.sentences), len(result.textrank.sentences))
    if numbers[0] < N_KEYWORDS[-1] or min(numbers[1:]) < N_KEYSENTS[-1]:
        found_sentences = f"KR-WordRank found {counted(numbers[1], 'sentence')}, TextRank {numbers[2]}"
        _line(console, f"{counted(numbers[0], 'keyword')}; {found_sentences}.", "yellow")
        _line(console, "Where the table asks for more, its recall is over these.", "yellow")
