"""The three Korean morpheme analysers, each loaded once per process and only when it is first used."""

import functools
import importlib
import importlib.metadata
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from core.errors import NwsError

INSTALL = "pip install kiwipiepy konlpy python-mecab-ko"
# The packages whose versions decide what an analyser gives.
PACKAGES = {
    "kiwi": ("kiwipiepy", "kiwipiepy_model"),
    "mecab": ("python-mecab-ko", "python-mecab-ko-dic"),
    "okt": ("konlpy",),
}
DATA = {"kiwi": "kiwipiepy_model", "mecab": "mecab_ko_dic", "okt": "konlpy"}
"""The package, as it is imported, that brings an analyser's model or dictionary."""
NOUNS_AND_ADJECTIVES = ("NNG", "NNP", "VA", "XR")
"""Kiwi's tags of common nouns, names, adjectives, and the roots from which others of these are made."""
_SPACE = re.compile(r"[^\S\n]|\0")
Morphs = Callable[[str], list[str]]


@functools.cache
def analyser(name: str) -> Morphs:
    """The analyser `name` of `PACKAGES`, which cuts any Unicode string into morphemes.

    Raises:
        NwsError: its package or Java is missing.
    """
    morphs = _LOADERS[name]()
    return lambda text: [morpheme for morpheme in morphs(readable(text)) if not morpheme.isspace()]


def versions(name: str) -> str:
    """The packages behind the analyser `name` with their versions, e.g. `konlpy-0.6.0`.

    Raises:
        NwsError: one of them is missing.
    """
    try:
        return ",".join(f"{package}-{importlib.metadata.version(package)}" for package in PACKAGES[name])
    except importlib.metadata.PackageNotFoundError as error:
        raise _missing(name, str(error.name)) from error


def readable(text: str) -> str:
    """`text` as every analyser can read it.

    Composed (NFC), since the dictionaries hold no decomposed Hangul; lone surrogates, which no analyser takes, become
    U+FFFD. NUL, at which MeCab stops reading, and every space but a newline, some of which make Okt drop the next
    word, become a plain space.
    """
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text))


@functools.cache
def load_kiwi() -> Any:
    """The one `kiwipiepy.Kiwi` of this process, of one thread, for morphemes and for sentences.

    Raises:
        NwsError: its package is missing.
    """
    kiwi = _module("kiwi", "kiwipiepy")
    return kiwi.Kiwi(num_workers=1)


def nouns_and_adjectives(text: str) -> list[str]:
    """The morphemes of `text` in order that Kiwi tags with one of `NOUNS_AND_ADJECTIVES`.

    Raises:
        NwsError: its package is missing.
    """
    tokens = load_kiwi().tokenize(readable(text))
    # VA-I is an irregular adjective.
    return [token.form for token in tokens if token.tag.partition("-")[0] in NOUNS_AND_ADJECTIVES]


def _load_kiwi() -> Morphs:
    kiwi = load_kiwi()
    return lambda text: [token.form for token in kiwi.tokenize(text)]


def _load_mecab() -> Morphs:
    mecab = _module("mecab", "mecab")
    morphs: Morphs = mecab.MeCab().morphs
    return morphs


def _load_okt() -> Morphs:
    jpype: Any = _module("okt", "jpype")
    jars = Path(str(_module("okt", "konlpy").__file__)).parent / "java"
    if not jpype.isJVMStarted():
        try:
            # KoNLPy would start it too, but neither headless nor leaving Ctrl-C and other signals to Python (-Xrs).
            jpype.startJVM(
                "-Djava.awt.headless=true",
                "-Dfile.encoding=UTF8",
                "-Xmx1024m",
                "-Xrs",
                classpath=[str(jars / "bin"), str(jars / "*")],
                convertStrings=True,
                interrupt=False,
            )
        except (jpype.JVMNotFoundException, OSError, RuntimeError) as error:
            raise NwsError(
                f"The tokenizer 'okt' needs Java, and none can be started ({error}). Install it "
                "(Debian, Ubuntu: `apt install default-jre-headless`), set JAVA_HOME if it lies in an unusual place, "
                "or choose the tokenizer `kiwi`, which needs none.",
                settings=("tokenizer",),
            ) from error
    morphs: Morphs = _module("okt", "konlpy.tag").Okt().morphs
    return morphs


_LOADERS: dict[str, Callable[[], Morphs]] = {"kiwi": _load_kiwi, "mecab": _load_mecab, "okt": _load_okt}


def _module(name: str, module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise _missing(name, module) from error


def _missing(name: str, package: str) -> NwsError:
    return NwsError(f"The tokenizer {name!r} needs the package {package}. Install it with `{INSTALL}`.")
