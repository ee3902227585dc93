"""METEOR (NLTK): the formula of Lavie and Agarwal 2007 with the matchers of NLTK. It is not METEOR 1.5.

Words are aligned in stages, each on the words that the stages before left over: equal words, equal Porter stems,
synonyms of WordNet. `meteor_score` of NLTK hands *stems* to its last stage, so that "car" does not match "automobile"
(whose stem is "automobil"). Here the last stage sees the words; without WordNet the numbers are NLTK's.

WordNet 3.0 is NLTK's own data or the files of a system package; nothing is downloaded. Debian's `wordnet-base` holds
the database but not `lexnames`, the names of the lexicographer files, which NLTK's reader asks for. Nothing here uses
these names, so they are numbers.
"""

import importlib.metadata
import io
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import nltk
from nltk.corpus import wordnet as nltk_wordnet
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import exact_match, stem_match, wordnetsyn_match

from nws.core.metrics.bleu import MTEVAL, translation_tokenizer
from nws.core.metrics.config import Options
from nws.core.metrics.metric import References, Row, RowMetric
from nws.core.text.tokenizers import Tokenizer

SYSTEM_FOLDERS = (Path("/usr/share/wordnet"), Path("/usr/local/share/wordnet"))
HOW_TO_INSTALL = "install Debian's wordnet-base, or NLTK's data (`python -m nltk.downloader wordnet`)"
_LEXICOGRAPHER_FILES = 45
# Lavie and Agarwal 2007, "METEOR: An Automatic Metric for MT Evaluation with High Levels of Correlation with Human
# Judgments", and NLTK's defaults.
ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5

_STEMMER = PorterStemmer()

# Positions of a word in the prediction and of its match in the reference.
Match = tuple[int, int]
# From the words of both to the matches, and the words left over.
Stage = Callable[..., Any]


def meteor(
    references: References = "best", stem: bool = True, wordnet: Any = None, tokenizer: Tokenizer = MTEVAL
) -> RowMetric:
    """Make the metric METEOR (NLTK). The score of a row is in [0, 1), and the score of many rows is the mean.

    Args:
        references: how several references count: the best one, or their mean.
        stem: whether equal Porter stems (of English words) are matched.
        wordnet: NLTK's reader of WordNet, for matching synonyms; None to leave them unmatched.
        tokenizer: the tokenizer of all texts.
    """
    stages: dict[str, Stage] = {"exact": exact_match}
    if stem:
        stages["porter"] = partial(stem_match, stemmer=_STEMMER)
    if wordnet is not None:
        stages[f"wordnet-{wordnet.get_version()}-of-words"] = partial(wordnetsyn_match, wordnet=wordnet)

    def tokens(text: str) -> list[str]:
        return [token.lower() for token in tokenizer.tokenize(text)]

    def score(row: Row) -> float:
        prediction = tokens(row.prediction)
        scores = [_pair_score(prediction, tokens(reference), stages.values()) for reference in row.references]
        return max(scores, default=0.0) if references == "best" else sum(scores) / max(len(scores), 1)

    signature = (
        f"meteor(nltk)|alpha:{ALPHA}|beta:{BETA}|gamma:{GAMMA}|case:lower|{tokenizer.signature}"
        f"|match:{','.join(stages)}|refs:{references}|version:nltk-{importlib.metadata.version('nltk')}"
    )
    return RowMetric("meteor", signature, lambda rows: [score(row) for row in rows])


def _pair_score(prediction: Sequence[str], reference: Sequence[str], stages: Iterable[Stage]) -> float:
    matches = _align(prediction, reference, stages)
    if not matches:
        return 0.0
    precision, recall = len(matches) / len(prediction), len(matches) / len(reference)
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    penalty: float = GAMMA * (_chunks(matches) / len(matches)) ** BETA
    return (1 - penalty) * mean


def _align(prediction: Sequence[str], reference: Sequence[str], stages: Iterable[Stage]) -> list[Match]:
    matched: dict[int, int] = {}
    for match in stages:
        unmatched = [i for i in range(len(prediction)) if i not in matched]
        taken = set(matched.values())
        free = [j for j in range(len(reference)) if j not in taken]
        pairs, _, _ = match([prediction[i] for i in unmatched], [reference[j] for j in free])
        matched |= {unmatched[i]: free[j] for i, j in pairs}
    return sorted(matched.items())


def make_meteor(name: str, options: Options) -> RowMetric:
    """Make METEOR with the options' tokenizer. Stems and synonyms are matched in English only."""
    tokenizer = translation_tokenizer(options)
    is_english = tokenizer is MTEVAL
    return meteor(options.references, is_english, find_wordnet() if is_english else None, tokenizer)


def _chunks(matches: Sequence[Match]) -> int:
    """Count the runs of matches that are adjacent, and in the same order, in both texts."""
    return 1 + sum(after != (before[0] + 1, before[1] + 1) for before, after in pairwise(matches))


class _SystemWordNet(WordNetCorpusReader):  # type: ignore[misc]  # nltk has no types
    """NLTK's reader on a folder without `lexnames`."""

    def open(self, file: str) -> object:
        if file != "lexnames":
            return super().open(file)
        return io.StringIO("".join(f"{number:02d} {number} 0\n" for number in range(_LEXICOGRAPHER_FILES)))

    def map_wn(self, version: str = "wordnet") -> None:
        """Do not map sense numbers to WordNet 3.0: this is WordNet 3.0 (and NLTK's own copy may be absent)."""


def find_wordnet() -> WordNetCorpusReader | None:
    """Return WordNet 3.0, or None where it is not installed.

    It is looked for in NLTK's data, then in `SYSTEM_FOLDERS`. Loading takes about 2 s, and is done once per folder.
    """
    for resource in ("corpora/wordnet", "corpora/wordnet.zip"):
        try:
            nltk.data.find(resource)
        except LookupError:
            continue
        return nltk_wordnet
    folder = next((folder for folder in SYSTEM_FOLDERS if (folder / "data.noun").is_file()), None)
    return None if folder is None else _reader(folder)


@cache
def _reader(folder: Path) -> WordNetCorpusReader:
    nltk.data.path.append(str(folder))  # NLTK refuses to open files anywhere else
    with warnings.catch_warnings():  # the warning is about other languages, which nobody asked for
        warnings.filterwarnings("ignore", message="The multilingual functions are not available")
        return _SystemWordNet(str(folder), omw_reader=None)
