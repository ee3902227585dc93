"""WordNet 3.0 for NLTK, from NLTK's own data or from the files of a system package; nothing is downloaded.

Debian's `wordnet-base` holds the database but not `lexnames`, the names of the lexicographer files, which NLTK's reader
asks for. Nothing here uses these names, so they are numbers.
"""

import io
import warnings
from functools import cache
from pathlib import Path

import nltk
from nltk.corpus import wordnet as nltk_wordnet
from nltk.corpus.reader.wordnet import WordNetCorpusReader

SYSTEM_FOLDERS = (Path("/usr/share/wordnet"), Path("/usr/local/share/wordnet"))
HOW_TO_INSTALL = "install Debian's wordnet-base, or NLTK's data (`python -m nltk.downloader wordnet`)"
_LEXICOGRAPHER_FILES = 45


class _SystemWordNet(WordNetCorpusReader):  # type: ignore[misc]  # nltk has no types
    """NLTK's reader on a folder without `lexnames`."""

    def open(self, file: str) -> object:
        if file != "lexnames":
            return super().open(file)
        return io.StringIO("".join(f"{number:02d} {number} 0\n" for number in range(_LEXICOGRAPHER_FILES)))

    def map_wn(self, version: str = "wordnet") -> None:
        """No mapping of sense numbers to WordNet 3.0: this is WordNet 3.0 (and NLTK's own copy may be absent)."""


def find_wordnet() -> WordNetCorpusReader | None:
    """WordNet 3.0, or None where it is not installed.

    Looked for in NLTK's data, and in `SYSTEM_FOLDERS`. Loaded once per folder (about 2 s).
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
    with warnings.catch_warnings():  # that there are no other languages, which nobody asked for
        warnings.filterwarnings("ignore", message="The multilingual functions are not available")
        return _SystemWordNet(str(folder), omw_reader=None)
