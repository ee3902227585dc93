"""The Hugging Face Hub and its cache on disk. Models and datasets are pinned to a commit before use."""

import functools
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit
from urllib.request import getproxies

import huggingface_hub
from huggingface_hub.errors import (
    CachedRepoTreeNotFoundError,
    HfHubHTTPError,
    HFValidationError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

from nws.core.errors import HubError

# The errors of `huggingface_hub` if the network, the Hub or the local cache fails. Without a connection, it raises the
# HTTP library's own error, which is the base of HfHubHTTPError.
HUB_FAILURES: tuple[type[Exception], ...] = (OSError, HfHubHTTPError.__bases__[0])
# ValueError: the answer is not JSON, for example the log-in page of a network.
_NO_ANSWER: tuple[type[Exception], ...] = (*HUB_FAILURES, ValueError)
_PATIENCE = 5.0  # seconds
_COMMIT = re.compile(r"[0-9a-f]{40}")
# Only these, since the same repositories have gigabytes of weights for other frameworks.
_CONFIGURATION_FILES = ["*.json", "*.txt", "*.model", "*.jinja", "*/config.json"]


@functools.cache
def is_reachable(endpoint: str = "") -> bool:
    """Return whether the Hub answers. Behind a proxy, it is assumed to answer.

    This is checked once, since `huggingface_hub` retries for half a minute before it fails.

    Args:
        endpoint: the address of the Hub; "" for that in `huggingface_hub`'s settings.
    """
    url = urlsplit(endpoint or huggingface_hub.constants.ENDPOINT)
    if url.hostname is None or getproxies().get(url.scheme) or getproxies().get("all"):
        return True
    try:
        socket.create_connection((url.hostname, url.port or (80 if url.scheme == "http" else 443)), _PATIENCE).close()
    except OSError:
        return False
    return True


@contextmanager
def offline_if_unreachable(libraries: Any) -> Iterator[None]:
    """Make `huggingface_hub` and `libraries`, which have the same setting, use only their caches if no Hub answers."""
    settings: tuple[Any, ...] = (huggingface_hub.constants, libraries)
    before = [setting.HF_HUB_OFFLINE for setting in settings]
    try:
        if not is_reachable():
            for setting in settings:
                setting.HF_HUB_OFFLINE = True
        yield
    finally:
        for setting, was in zip(settings, before, strict=True):
            setting.HF_HUB_OFFLINE = was


def is_repository_name(name: str) -> bool:
    """Return whether a Hub repository can have this name. It need not exist."""
    try:
        validate_repo_id(name)
    except HFValidationError:
        return False
    return True


def resolve_commit(repository: str, revision: str, kind: Literal["model", "dataset"]) -> str:
    """Look up the commit (40 hex digits) of a revision (a commit, branch or tag) of a repository.

    Raises:
        HubError: no repository can have this name, the Hub cannot be reached, or it has no such repository or revision.
    """
    if not is_repository_name(repository):
        raise HubError(f"{repository!r} cannot be the name of a {kind} on the Hub (organisation/name).")
    if _COMMIT.fullmatch(revision):
        return revision
    try:
        info = huggingface_hub.HfApi().repo_info(repository, revision=revision, repo_type=kind)
    except (RepositoryNotFoundError, RevisionNotFoundError) as error:
        raise HubError(f"The Hub has no {kind} {repository!r} with revision {revision!r}.") from error
    except _NO_ANSWER as error:
        raise HubError(
            f"The commit of revision {revision!r} of the {kind} {repository!r} cannot be looked up ({error}). "
            f"Pin it (`{repository}@COMMIT`), or give a local {'folder' if kind == 'model' else 'file'}."
        ) from error
    return str(info.sha)


def download_model(repository: str, commit: str, with_weights: bool = True) -> Path:
    """Return the folder with a model's files at `commit`, which are downloaded if they are not in the cache.

    Args:
        repository: the Hub id.
        commit: the commit, of 40 hex digits.
        with_weights: whether to download the weights, too, and not only configuration and tokenizer.

    Raises:
        HubError: the Hub cannot be reached, and the cache may lack a part of the model.
    """
    weights = ["*.safetensors"] if with_weights else []
    fetch = functools.partial(
        huggingface_hub.snapshot_download, repository, revision=commit, local_files_only=not is_reachable()
    )
    try:
        folder = Path(fetch(allow_patterns=[*_CONFIGURATION_FILES, *weights]))
        if with_weights and not any(folder.glob("*.safetensors")):
            fetch(allow_patterns=["pytorch_model*.bin"])
    except HUB_FAILURES as error:
        offline = f"the Hub ({huggingface_hub.constants.ENDPOINT}) cannot be reached"
        raise HubError(
            f"The model {repository} at commit {commit} is not in the local cache and cannot be downloaded "
            f"({error if is_reachable() else offline}). Download it on a machine with network, or give a local folder."
        ) from error
    _require_all(repository, commit, folder)
    return folder


def _require_all(repository: str, commit: str, folder: Path) -> None:
    """Refuse a folder of the cache that may lack files.

    Other programs download single files, and without the file that says how to pool, a model would give other numbers.
    `snapshot_download` compares the folder with the list of the commit's files, if the cache has that list.
    """
    try:
        huggingface_hub.get_cached_repo_tree(repository, revision=commit)
    except CachedRepoTreeNotFoundError as error:
        raise HubError(
            f"The cache has files of the model {repository} at commit {commit} from another program, but perhaps not "
            f"all files. Run NWS once with network access, or name the folder if it is complete: {folder}"
        ) from error
