"""`nws doctor`: check whether this machine can run NWS, and what is missing."""

import importlib.metadata
import importlib.util
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Literal

import typer

from nws.core.errors import ClusterError, NwsError
from nws.jobs.commands.options import DEFAULT_STORE, Json, StoreUrl
from nws.jobs.commands.shared import out

State = Literal["ok", "missing", "warning", "broken"]
_LIBRARIES = ("ray", "torch", "transformers", "sentence-transformers", "spacy", "bert-score", "sqlalchemy")
_NEEDED_DISK_GB = 5


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `missing` limits what can be run, `warning` is about safety, and `broken` must be fixed."""

    name: str
    state: State
    text: str


def doctor(store: StoreUrl = DEFAULT_STORE, as_json: Json = False) -> None:
    """Check that NWS can run on this machine.

    Looks at libraries, models, spaCy pipelines, Ray, accelerators and the store. Exit 1 if one is broken.
    """
    checks = check_all(store)
    if as_json:
        print(json.dumps([asdict(check) for check in checks]))
    else:
        for check in checks:
            out.print(f"{check.state:<8} {check.name:<13} {check.text}")
    if any(check.state == "broken" for check in checks):
        raise typer.Exit(1)


def check_all(store: str) -> list[Check]:
    """Run all checks, in the order in which a person would fix problems."""
    return [
        _check("libraries", "broken", _libraries),
        _check("accelerators", "broken", _accelerators),
        _check("model", "broken", _bundled_model),
        _check("SmolLM2", "missing", _packaged_model),
        _check("spaCy", "missing", _trained_pipeline),
        _check("word kinds", "missing", _word_kinds),
        _check("disk", "broken", _disk),
        _check("Ray", "broken", _ray),
        check_store(store),
    ]


def _check(name: str, otherwise: State, find: Callable[[], str]) -> Check:
    """Return what `find` found, or its error with the state `otherwise`."""
    try:
        return Check(name, "ok", find())
    except NwsError as error:
        return Check(name, otherwise, str(error))


def _libraries() -> str:
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _LIBRARIES)
    return f"Python {sys.version.split()[0]}, {versions}"


def _accelerators() -> str:
    import torch

    names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return ", ".join(names) or f"no GPU; runs use the {os.cpu_count()} CPU cores"


def _bundled_model() -> str:
    from nws.core.models import KNOWN_MODELS, model_folder

    ref = KNOWN_MODELS["all-MiniLM-L6-v2"]
    model_folder(ref)
    return f"{ref}, bundled and verified; needs no network"


def _packaged_model() -> str:
    from nws.core.models.generators import KNOWN_GENERATORS
    from nws.core.models.smollm2 import smollm2_gguf

    smollm2_gguf()
    return f"{KNOWN_GENERATORS['smollm2'].model}, installed and verified; needs no network"


def _trained_pipeline() -> str:
    from nws.core.text.segmentation import DEFAULT_TRAINED_PIPELINE, pipeline_revision, resolve_pipeline

    try:
        return pipeline_revision(resolve_pipeline(DEFAULT_TRAINED_PIPELINE))
    except NwsError as error:
        raise type(error)(f"{error} Among the bundled recipes, only `paper` needs it.") from error


def _word_kinds() -> str:
    from nws.core.text.word_kinds import INSTALL, find_kinds

    if not (found := find_kinds("en")):
        raise NwsError(f"Content kept is not split by kind of word: {INSTALL}.")
    return found


def _disk() -> str:
    folder = os.environ.get("RAY_TMPDIR", tempfile.gettempdir())
    free = shutil.disk_usage(folder).free / 1e9
    text = f"{free:.0f} GB free in {folder}, where Ray keeps objects and logs"
    if free < _NEEDED_DISK_GB:
        raise ClusterError(f"{text}, which needs {_NEEDED_DISK_GB} GB. Name another folder with RAY_TMPDIR")
    return text


def _ray() -> str:
    from nws.cluster.session import local_session

    with local_session() as session:
        return f"starts, bound to loopback, dashboard at {session.dashboard_url}"


def check_store(url: str) -> Check:
    """Check whether the store can be used, and whether its URL has a superuser."""
    from nws.jobs.store import open_store
    from nws.jobs.store.address import parse_address

    try:
        address = parse_address(url)
        if address.path is not None and not os.path.exists(address.path):
            return Check("store", "ok", f"{address.shown} does not exist yet; the first run creates it")
        with open_store(url, read_only=True) as opened:
            is_superuser = opened.may_do_everything()
    except NwsError as error:
        return Check("store", "broken", str(error))
    if is_superuser:
        text = f"{address.shown} is the URL of a superuser, with which `nws query` could read files of the server."
        return Check("store", "warning", f"{text} Give NWS a role of its own, see docs/security.md")
    return Check("store", "ok", address.shown)
