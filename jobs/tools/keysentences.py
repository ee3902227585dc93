"""`nws keysentences`: keywords and key sentences of a file of Korean texts, by KR-WordRank and by TextRank."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from rich.console import Console

from nws.core.errors import CorpusError, RecipeError
from nws.core.systems.korean_key_sentences import (
    TEXTRANK_KEYWORDS,
    share_found,
    stopwords_text,
    textrank_keywords,
    textrank_sentences,
    textrank_signature,
    wordrank_keywords,
    wordrank_sentences,
    wordrank_signature,
)
from nws.core.text.korean import nouns_and_adjectives, readable
from nws.core.text.language import hangul_share
from nws.core.text.reader import begins_a_table, is_data_file, is_file
from nws.core.text.tokenizers import named_tokenizer
from nws.jobs.report.metric_names import signature_lines
from nws.jobs.report.numerals import counted, percent
from nws.jobs.report.printed_lines import WIDTH, print_line, print_title
from nws.jobs.report.table import Cell, Table

N_KEYWORDS = (10, 20, 30, 50, 100)
N_KEYSENTS = (3, 5, 10, 20, 30)
MOST_WITHOUT_HANGUL = 0.05

# By how many of the best keywords, and of the best sentences: the share of the keywords that the sentences hold.
Recalls: TypeAlias = Mapping[tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class Method:
    """The keywords and key sentences of one method, and their recall.

    Attributes:
        signature: every option that changes the sentences and keywords.
        keywords: its own with their ranks, the best first.
        sentences: the best first, as many as are printed or evaluated, or all that there are.
        recalls: the recall of KR-WordRank's keywords, for all of `N_KEYWORDS` x `N_KEYSENTS`, in that order.
        own_recalls: the recall of its own keywords, likewise.
    """

    signature: str
    keywords: dict[str, float]
    sentences: tuple[str, ...]
    recalls: Recalls
    own_recalls: Recalls


@dataclass(frozen=True, slots=True)
class KeySentences:
    """The keywords and the key sentences of both methods in a file; `top` of them are shown."""

    documents: int
    wordrank: Method
    textrank: Method
    top: int

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as `nws keysentences --json` prints them."""
        return {
            **self._method(self.wordrank),
            "textrank": {
                **self._method(self.textrank),
                "own_keyword_recall": _recall_rows(self.textrank.own_recalls),
                "signature": self.textrank.signature,
            },
            "signature": self.wordrank.signature,
        }

    def _method(self, method: Method) -> dict[str, Any]:
        return {
            "keywords": [[word, rank] for word, rank in list(method.keywords.items())[: self.top]],
            "sentences": list(method.sentences[: self.top]),
            "keyword_recall": _recall_rows(method.recalls),
        }


def _recall_rows(recalls: Recalls) -> list[dict[str, float]]:
    return [
        {"n_keywords": n_keywords, "n_keysents": n_keysents, "recall": recall}
        for (n_keywords, n_keysents), recall in recalls.items()
    ]


def find_key_sentences(documents: Sequence[str], top: int, stopwords: frozenset[str], diversity: float) -> KeySentences:
    """Find and evaluate the keywords and key sentences of `documents`.

    Args:
        documents: one sentence or short text each.
        top: the number of keywords and sentences that will be printed.
        stopwords: the words that no keyword of either method may be.
        diversity: the least cosine distance between key sentences, in [0, 1].

    Raises:
        CorpusError: there is no keyword.
        NwsError: krwordrank or kiwipiepy is not installed.
    """
    tokenizer = named_tokenizer("kiwi")
    keywords = wordrank_keywords(documents, stopwords)
    count = max(top, *N_KEYSENTS)
    by_wordrank = wordrank_sentences(keywords, documents, count, diversity)
    by_textrank = textrank_sentences(documents, tokenizer, count, diversity)
    own = textrank_keywords(documents, stopwords)
    of_wordrank, of_textrank = (_recalls(list(keywords), texts, _prefix_recall) for texts in (by_wordrank, by_textrank))
    wordrank = wordrank_signature(stopwords, diversity)
    textrank = f"{textrank_signature(tokenizer, diversity)}|{TEXTRANK_KEYWORDS}"
    textrank += f"|stopwords:{stopwords_text(stopwords)}|own-recall:morphemes"
    own_recalls = _recalls(list(own), by_textrank, _morpheme_recall)
    of_words = Method(wordrank, keywords, tuple(by_wordrank), of_wordrank, of_wordrank)
    of_texts = Method(textrank, own, tuple(by_textrank), of_textrank, own_recalls)
    return KeySentences(len(documents), of_words, of_texts, top)


def _recalls(
    keywords: Sequence[str], sentences: Sequence[str], recall: Callable[[Sequence[str], Sequence[str]], float]
) -> Recalls:
    return {
        (n_keywords, n_keysents): recall(keywords[:n_keywords], sentences[:n_keysents])
        for n_keywords in N_KEYWORDS
        for n_keysents in N_KEYSENTS
    }


def _prefix_recall(keywords: Sequence[str], sentences: Sequence[str]) -> float:
    """Compute the share of keywords with which a word begins. A morpheme analyser would cut keywords into pieces."""
    words = {word for text in sentences for word in text.split()}
    return share_found(set(keywords), {left for left in keywords if any(word.startswith(left) for word in words)})


def _morpheme_recall(keywords: Sequence[str], sentences: Sequence[str]) -> float:
    # The keywords are morphemes already: alone, the analyser might take them for others.
    return share_found(set(keywords), {morpheme for text in sentences for morpheme in nouns_and_adjectives(text)})


def read_documents(path: Path) -> list[str]:
    """Read the documents of a UTF-8 text file, one a line: what stands before a tab, if that is not blank.

    Among comments in Korean some are in English, and stay: up to `MOST_WITHOUT_HANGUL` of the lines.

    Raises:
        CorpusError: the file does not exist, is a table or not UTF-8, or holds no document; or more lines than that
            hold no Hangul.
    """
    try:
        content = path.read_bytes()
        if is_data_file(path.name) or begins_a_table(content.partition(b"\n")[0].decode("utf-8-sig", "replace")):
            raise CorpusError(f"{path} is a table: write its texts to a file of text (.txt), one on each line.")
        lines = content.decode("utf-8-sig").split("\n" if b"\n" in content else "\r")
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error}.") from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CorpusError(f"{path}, line {line}: not valid UTF-8 ({error}). Convert the file to UTF-8.") from error
    numbered = {number: readable(line.partition("\t")[0]).strip() for number, line in enumerate(lines, start=1)}
    documents = {number: text for number, text in numbered.items() if text}
    if not documents:
        raise CorpusError(f"{path} holds no document: write one on each line (what follows a tab is not read).")
    others = [number for number, text in documents.items() if _is_without_hangul(text)]
    if len(others) > MOST_WITHOUT_HANGUL * len(documents):
        raise CorpusError(
            f"{path}: {len(others)} of {len(documents)} documents have no Hangul ({percent(MOST_WITHOUT_HANGUL)} may). "
            f"The first is on line {others[0]}. Key sentences are found only in Korean texts: remove the others. "
            "If the texts are another column than the first, write that column to a file: cut -f2 FILE."
        )
    return list(documents.values())


def _is_without_hangul(text: str) -> bool:
    """Whether a text has letters or digits, and no Hangul. Names of brands in a Korean text do not matter."""
    return any(map(str.isalnum, text)) and hangul_share(text) == 0


def read_stopwords(stopwords: str) -> frozenset[str]:
    """Read stop words: those of the file `stopwords`, one a line; without such a file, the words between its commas.

    Raises:
        RecipeError: the file cannot be read.
    """
    if is_file(Path(stopwords)):
        try:
            words = Path(stopwords).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise RecipeError(f"--stopwords {stopwords}: the file cannot be read as UTF-8 text ({error}).") from error
    elif "," not in stopwords and ("/" in stopwords or stopwords.endswith(".txt")):
        raise RecipeError(f"--stopwords {stopwords}: there is no such file.")
    else:
        words = stopwords.split(",")
    return frozenset(stripped for word in words if (stripped := readable(word).strip()))


def print_key_sentences(result: KeySentences, console: Console) -> None:
    """Print the keywords with their ranks, the sentences and the recall of both methods."""
    methods = {"KR-WordRank": result.wordrank, "TextRank": result.textrank}
    of_each = " and ".join(f"{counted(len(method.keywords), 'keyword')} of {name}" for name, method in methods.items())
    print_line(console, f"{counted(result.documents, 'document')}, {of_each}")
    _keywords_table(methods, result.top).print(console)
    for name, method in methods.items():
        sentences = method.sentences[: result.top]
        print_title(console, f"Key sentences of {name}: {len(sentences)}")
        for number, sentence in enumerate(sentences, start=1):
            print_line(console, f"{number:>3} {sentence}")
        if len(sentences) < result.top:
            print_line(console, "No other sentence differs enough: a lower --diversity may give more.", style="yellow")
    print_title(console, "Keyword recall: the share of the best keywords that are in the best sentences")
    for title, recalls in (
        ("Keywords of KR-WordRank, sentences of KR-WordRank", result.wordrank.recalls),
        ("Keywords of KR-WordRank, sentences of TextRank", result.textrank.recalls),
        ("Keywords of TextRank, sentences of TextRank", result.textrank.own_recalls),
    ):
        _recall_table(recalls, title).print(console)
    console.print()
    print_line(console, "How they were found:")
    for method in methods.values():
        for line in signature_lines(method.signature, WIDTH):
            print_line(console, line)


def _keywords_table(methods: Mapping[str, Method], top: int) -> Table:
    """Make the table of the keywords of each method beside each other, with their ranks."""
    columns = [column for name in methods for column in (name, "rank")]
    best = [list(method.keywords.items())[:top] for method in methods.values()]
    rows = [
        [cell for word, rank in row for cell in (word, Cell(f"{rank:.2f}" if word else ""))]
        for row in itertools.zip_longest(*best, fillvalue=("", 0.0))
    ]
    return Table(columns, rows, "Keywords by rank")


def _recall_table(recalls: Recalls, title: str) -> Table:
    rows = [
        (n_keywords, *(Cell(f"{recalls[n_keywords, n_keysents]:.2f}") for n_keysents in N_KEYSENTS))
        for n_keywords in N_KEYWORDS
    ]
    return Table(("keywords", *(f"{n} sentences" for n in N_KEYSENTS)), rows, title)
