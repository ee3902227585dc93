"""WordNet 3.0 for NLTK, from NLTK's own data or from the files of a system package; nothing is downloaded.

Debian's `wordnet-base` holds the database but not `lexnames`, the table of lexicographer files that NLTK's reader asks
for. It is short and fixed, so it is written out here, from the manual page lexnames(5WN).
"""

import io
import os
import warnings
from functools import cache
from pathlib import Path

import nltk
from nltk.corpus import wordnet as nltk_wordnet
from nltk.corpus.reader.wordnet import WordNetCorpusReader

from core.errors import CorpusError

SYSTEM_FOLDERS = (Path("/usr/share/wordnet"), Path("/usr/local/share/wordnet"))
HOW_TO_INSTALL = (
    "install Debian's wordnet-base, or NLTK's data (`python -m nltk.downloader wordnet`), or name a folder with "
    "WordNet 3.0's database in NWS_WORDNET"
)

_PARTS = ("noun", "verb", "adj", "adv")
_FILES = tuple(name for part in _PARTS for name in (f"index.{part}", f"data.{part}", f"{part}.exc"))

# In the order of their numbers, 00 to 44.
_LEXICOGRAPHER_FILES = """
adj.all adj.pert adv.all noun.Tops noun.act noun.animal noun.artifact noun.attribute noun.body noun.cognition
noun.communication noun.event noun.feeling noun.food noun.group noun.location noun.motive noun.object noun.person
noun.phenomenon noun.plant noun.possession noun.process noun.quantity noun.relation noun.shape noun.state
noun.substance noun.time verb.body verb.change verb.cognition verb.communication verb.competition verb.consumption
verb.contact verb.creation verb.emotion verb.motion verb.perception verb.possession verb.social verb.stative
verb.weather adj.ppl
"""
_SYNTACTIC_CATEGORIES = {"noun": 1, "verb": 2, "adj": 3, "adv": 4}


def lexnames() -> str:
    """The file `lexnames`: number, name and syntactic category of each lexicographer file, separated by tabs."""
    return "".join(
        f"{number:02d}\t{name}\t{_SYNTACTIC_CATEGORIES[name.partition('.')[0]]}\n"
        for number, name in enumerate(_LEXICOGRAPHER_FILES.split())
    )


class _SystemWordNet(WordNetCorpusReader):  # type: ignore[misc]  # nltk has no types
    """NLTK's reader on a folder without `lexnames`."""

    def open(self, file: str) -> object:
        return io.StringIO(lexnames()) if file == "lexnames" else super().open(file)

    def map_wn(self, version: str = "wordnet") -> None:
        """No mapping of sense numbers to WordNet 3.0: this is WordNet 3.0 (and NLTK's own copy may be absent)."""


def find_wordnet() -> WordNetCorpusReader | None:
    """WordNet 3.0, or None where it is not installed.

    Looked for in the folder that NWS_WORDNET names, in NLTK's data, and in `SYSTEM_FOLDERS`. Loaded once per folder
    (about 2 s).

    Raises:
        CorpusError: the folder in NWS_WORDNET does not hold WordNet's database.
    """
    named = os.environ.get("NWS_WORDNET")
    if named:
        missing = _missing(Path(named))
        if missing:
            raise CorpusError(f"NWS_WORDNET={named} does not hold WordNet's database: {missing} is missing.")
        return _reader(Path(named).resolve())
    if _is_nltk_data():
        return nltk_wordnet
    folder = next((folder for folder in SYSTEM_FOLDERS if not _missing(folder)), None)
    return None if folder is None else _reader(folder)


def _missing(folder: Path) -> str | None:
    return next((name for name in _FILES if not (folder / name).is_file()), None)


def _is_nltk_data() -> bool:
    for resource in ("corpora/wordnet", "corpora/wordnet.zip"):
        try:
            nltk.data.find(resource)
        except LookupError:
            continue
        return True
    return False


@cache
def _reader(folder: Path) -> WordNetCorpusReader:
    nltk.data.path.append(str(folder))  # NLTK refuses to open files anywhere else
    with warnings.catch_warnings():  # that there are no other languages, which nobody asked for
        warnings.filterwarnings("ignore", message="The multilingual functions are not available")
        return _SystemWordNet(str(folder), omw_reader=None)
