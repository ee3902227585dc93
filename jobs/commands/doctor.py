"""`nws doctor`: is this machine able to run NWS, and what is missing?"""

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

from core.errors import NwsError
from jobs.commands.options import DEFAULT_STORE, Json, StoreUrl
from jobs.commands.shared import out

State = Literal["ok", "missing", "warning", "broken"]
_LIBRARIES = ("ray", "torch", "transformers", "sentence-transformers", "spacy", "bert-score", "sqlalchemy")
_NEEDED_DISK_GB = 5


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `missing` limits what can be run, a `warning` what is safe; `broken` has to be mended."""

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
            out.print(f"{check.state:<8} {check.name:<13} {check.text}", markup=False)
    if any(check.state == "broken" for check in checks):
        raise typer.Exit(1)


def check_all(store: str) -> list[Check]:
    """All checks, in the order in which a person would fix problems."""
    checks: tuple[Callable[[], Check], ...] = (
        _libraries,
        _accelerators,
        _bundled_model,
        _packaged_model,
        _trained_pipeline,
        _hub,
        _disk,
        _ray,
        lambda: check_store(store),
    )
    return [check() for check in checks]


def _libraries() -> Check:
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _LIBRARIES)
    return Check("libraries", "ok", f"Python {sys.version.split()[0]}, {versions}")


def _accelerators() -> Check:
    import torch

    names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    if names:
        return Check("accelerators", "ok", ", ".join(names))
    return Check("accelerators", "ok", f"no GPU: runs use the {os.cpu_count()} CPU cores")


def _bundled_model() -> Check:
    from core.models import KNOWN_MODELS, model_folder

    ref = KNOWN_MODELS["all-MiniLM-L6-v2"]
    try:
        model_folder(ref)
    except NwsError as error:
        return Check("model", "broken", str(error))
    return Check("model", "ok", f"{ref}, bundled and verified: no network needed")


def _packaged_model() -> Check:
    from core.models.smollm2 import smollm2_gguf
    from core.summarizers.generators import KNOWN_GENERATORS

    try:
        smollm2_gguf()
    except NwsError as error:
        return Check("SmolLM2", "missing", str(error))
    if importlib.util.find_spec("gguf") is None:
        return Check("SmolLM2", "missing", "the package gguf, which reads it, is not installed: `pip install gguf`")
    return Check("SmolLM2", "ok", f"{KNOWN_GENERATORS['smollm2'].model}, installed and verified: no network needed")


def _trained_pipeline() -> Check:
    from core.text.segmentation import (
        DEFAULT_TRAINED_PIPELINE,
        REUPLOADED_PIPELINE,
        pipeline_revision,
        resolve_pipeline,
    )

    try:
        return Check("spaCy", "ok", pipeline_revision(resolve_pipeline(DEFAULT_TRAINED_PIPELINE)))
    except NwsError as error:
        missing = str(error)
    try:
        revision = pipeline_revision(resolve_pipeline(REUPLOADED_PIPELINE))
    except NwsError:
        return Check("spaCy", "missing", missing)
    text = f"{revision}, a re-upload of {DEFAULT_TRAINED_PIPELINE}: it runs where it is named, `auto` does not take it"
    return Check("spaCy", "ok", text)


def _hub() -> Check:
    import huggingface_hub

    from core.models import KNOWN_MODELS
    from core.models.hub_cache import HUB_FAILURES

    try:
        huggingface_hub.HfApi().model_info(KNOWN_MODELS["bert-base-uncased"].source, timeout=5)
    except HUB_FAILURES as error:
        text = f"the Hugging Face Hub cannot be reached ({error}): only cached and local models and datasets"
        return Check("Hub", "missing", text)
    return Check("Hub", "ok", "the Hugging Face Hub answers")


def _disk() -> Check:
    folder = os.environ.get("RAY_TMPDIR", tempfile.gettempdir())
    free = shutil.disk_usage(folder).free / 1e9
    text = f"{free:.0f} GB free in {folder}, where Ray keeps objects and logs"
    if free < _NEEDED_DISK_GB:
        return Check("disk", "broken", f"{text}: it needs {_NEEDED_DISK_GB} GB. Name another folder with RAY_TMPDIR")
    return Check("disk", "ok", text)


def _ray() -> Check:
    from cluster.session import local_session

    try:
        with local_session() as session:
            return Check("Ray", "ok", f"starts, bound to loopback, dashboard at {session.dashboard_url}")
    except NwsError as error:
        return Check("Ray", "broken", str(error))


def check_store(url: str) -> Check:
    """Whether the store can be used, and by whom."""
    from jobs.store import open_store
    from jobs.store.address import parse_address
    from jobs.store.engine import may_do_everything

    try:
        address = parse_address(url)
        if address.path is not None and not os.path.exists(address.path):
            return Check("store", "ok", f"{address.shown} does not exist yet; the first run creates it")
        open_store(url, read_only=True).close()
        is_superuser = may_do_everything(address)
    except NwsError as error:
        return Check("store", "broken", str(error))
    if is_superuser:
        text = f"{address.shown} is the URL of a superuser: `nws query` could read files of the server with it."
        return Check("store", "warning", f"{text} Use a role of its own, see docs/security.md")
    return Check("store", "ok", address.shown)
