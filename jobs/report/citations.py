"""What a paper cites that reports a run: NWS, the libraries, models, datasets, metrics and systems it used, as BibTeX.

Publications are those of `publications.bib`. A model or dataset of the Hub has an entry with its revision, too.
"""

import importlib.metadata
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.metrics.specs import BY_MODEL
from core.models import SMOLLM2
from core.text.dataset import BUNDLED
from jobs.installation import told_version
from jobs.report.table import latex_cell
from jobs.store import RunInfo

TITLE = "NWS: how few words can a news summary have and still keep the content?"
AUTHOR = "The NWS project"
_PUBLICATIONS = Path(__file__).with_name("publications.bib")
_ENTRY = re.compile(r"@\w+\s*\{\s*(?P<key>[^,\s{}]+)\s*,")
_REPOSITORY = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(?::[\w.-]+)?@(?P<revision>[\w.-]+)")
_MINILM = ("reimers2019sentence", "wang2020minilm")
_BART, _T5 = ("lewis2020bart",), ("raffel2020t5",)

_BY_METRIC = {
    "bertscore": "zhang2020bertscore",
    "rouge": "lin2004rouge",
    "coverage": "grusky2018newsroom",
    "fluency": "kann2018sentence",
    "faithfulness": "laban2022summac",
}
_BY_SYSTEM = {"lexrank": "erkan2004lexrank", "textrank": "mihalcea2004textrank"}
_BY_REPOSITORY = {
    "sentence-transformers/all-MiniLM-L6-v2": _MINILM,
    "google-bert/bert-base-uncased": ("devlin2019bert",),
    "xlnet/xlnet-base-cased": ("yang2019xlnet",),
    "google/electra-base-discriminator": ("clark2020electra",),
    "facebook/bart-large-xsum": _BART,
    "facebook/bart-large-cnn": _BART,
    "google-t5/t5-large": _T5,
    "google/pegasus-cnn_dailymail": ("zhang2020pegasus",),
    "openai-community/gpt2-xl": ("radford2019gpt2",),
    "abisee/cnn_dailymail": ("hermann2015teaching", "see2017get"),
    "EdinburghNLP/xsum": ("narayan2018xsum",),
    "Harvard/gigaword": ("rush2015neural",),
}


@dataclass(frozen=True, slots=True)
class Citations:
    """The references of a run.

    Attributes:
        entries: BibTeX, one entry each, none twice.
        without: what has no entry, and where to look for one: a sentence each.
    """

    entries: tuple[str, ...]
    without: tuple[str, ...]


def citations(run: RunInfo, systems: Iterable[str]) -> Citations:
    """The references to cite with the results of a run.

    Args:
        run: whose recipe, revisions and signatures say what it used.
        systems: names of those that wrote its summaries.
    """
    published = dict(_entries(_PUBLICATIONS.read_text(encoding="utf-8")))
    parts = {part for system in systems for part in system.split("|")}
    keys = [
        *_libraries(run),
        *(_BY_METRIC[name] for name in run.signatures if name in _BY_METRIC),
        *(key for part, key in _BY_SYSTEM.items() if part in parts),
        *["williams1992simple"] * (run.job == "phase2"),
    ]
    entries, without = {"nws": _software(run)}, []
    used = [(kind, text) for kind, texts in (("model", _models(run)), ("dataset", _datasets(run))) for text in texts]
    for kind, text in dict.fromkeys(used):
        if text.startswith(f"{SMOLLM2}@"):
            keys.append("allal2025smollm2")
        elif repository := _REPOSITORY.fullmatch(text):
            name = repository["name"]
            page = f"https://huggingface.co/{'datasets/' * (kind == 'dataset')}{name}"
            keys += _BY_REPOSITORY.get(name, ())
            entries[f"hub:{name}"] = _of_repository(name, repository["revision"], kind, page)
            if name not in _BY_REPOSITORY:
                without.append(f"The card of the {kind} {name} may say what else to cite: {page}")
        elif text not in BUNDLED:
            without.append(f"The {kind} {text} is not from the Hub: cite where you have it from.")
    without += [f"{name} is an endpoint: cite its model as its maker asks." for name in _endpoints(run)]
    entries |= {key: published[key] for key in keys}
    return Citations(tuple(entries.values()), tuple(without))


def bibtex(run: RunInfo, cited: Citations) -> str:
    """A .bib file. What has no entry stands in comments at its end."""
    head = f"% What run {run.id} of NWS used. How to report it: docs/reporting.md"
    # BibTeX takes whatever stands between entries for a comment, but for @.
    comments = "\n".join(f"% {line.replace('@', ' at ')}" for line in cited.without)
    return "\n\n".join(filter(None, (head, *cited.entries, comments))) + "\n"


def _software(run: RunInfo) -> str:
    """NWS itself. Its year is that of the run: the code has no release."""
    note = latex_cell(f"Code {told_version(run.code_version)}, run {run.id}, seed {run.seed}")
    more = {"note": note, "version": importlib.metadata.version("nws"), "year": str(run.created_at.year)}
    return _misc("nws", AUTHOR, TITLE, more)


def _of_repository(name: str, revision: str, kind: str, page: str) -> str:
    """The entry of a repository of the Hub."""
    more = {"howpublished": f"\\url{{{page}}}", "note": latex_cell(f"Revision {revision}")}
    return _misc(f"hub:{name}", name.partition("/")[0], f"{name} ({kind})", more)


def _misc(key: str, author: str, title: str, more: Mapping[str, str]) -> str:
    fields = {"author": f"{{{latex_cell(author)}}}", "title": f"{{{latex_cell(title)}}}", **more}
    return "\n".join([f"@misc{{{key},", *(f"  {name} = {{{value}}}," for name, value in fields.items()), "}"])


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """The entries of a .bib file by their keys: each goes to the brace that closes its first one."""
    for head in _ENTRY.finditer(text):
        depth = 0
        for end in range(head.start(), len(text)):
            depth += (text[end] == "{") - (text[end] == "}")
            if text[end] == "}" and depth == 0:
                yield head["key"], text[head.start() : end + 1]
                break


def _libraries(run: RunInfo) -> Iterator[str]:
    yield from ("ansel2024pytorch", "wolf2020transformers")
    if "spacy" in run.revisions.get("segmentation", ""):
        yield "honnibal2020spacy"
    if run.device is not None and not run.device.startswith("inline"):
        yield "moritz2018ray"


def _models(run: RunInfo) -> Iterator[str]:
    revisions = run.revisions
    yield from revisions.get("encoders", {}).values()
    yield from [revisions["bertscore"]] * ("bertscore" in revisions)
    for name, revision in revisions.get("generators", {}).items():
        if name not in _endpoints(run):
            yield revision.partition("|")[0]
    yield from (model for metric in BY_MODEL if (model := run.recipe.get(f"{metric}_model")))


def _endpoints(run: RunInfo) -> tuple[str, ...]:
    generators = run.revisions.get("generators", {})
    return tuple(name for name, revision in generators.items() if " at http" in revision.partition("|")[0])


def _datasets(run: RunInfo) -> Iterator[str]:
    for key in ("datasets", "train_datasets"):
        named: Iterable[Mapping[str, Any]] = run.recipe.get(key) or ()
        yield from (dataset["name"] for dataset in named)
