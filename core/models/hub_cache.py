"""The Hugging Face Hub: every model and dataset from it is pinned to a commit before it is used."""

import functools
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit
from urllib.request import getproxies

import huggingface_hub
import yaml
from huggingface_hub.errors import (
    CachedRepoTreeNotFoundError,
    HfHubHTTPError,
    HFValidationError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

from core.errors import HubError

# What `huggingface_hub` raises when the network, the Hub or the local cache fails.
# Without a connection that is the HTTP library's own error, the base of HfHubHTTPError.
HUB_FAILURES: tuple[type[Exception], ...] = (OSError, HfHubHTTPError.__bases__[0])
# The last: an answer that is no JSON, such as a network's log-in page.
_NO_ANSWER: tuple[type[Exception], ...] = (*HUB_FAILURES, ValueError)
_PATIENCE = 5.0  # seconds
_COMMIT = re.compile(r"[0-9a-f]{40}")
# Weights for other frameworks lie in the same repositories, several gigabytes of them.
_CONFIGURATION_FILES = ["*.json", "*.txt", "*.model", "*.jinja", "*/config.json"]


@functools.cache
def is_reachable(endpoint: str = "") -> bool:
    """Whether the Hub answers, asked once: `huggingface_hub` tries again for half a minute before it says so.

    Behind a proxy nobody knows before it is tried.

    Args:
        endpoint: its address; the one that is set unless given.
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
    """Let `huggingface_hub`, and `libraries` with a setting of the same name, take what is cached without asking."""
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
    """Whether a repository of the Hub can have this name; there need not be one."""
    try:
        validate_repo_id(name)
    except HFValidationError:
        return False
    return True


def resolve_commit(repository: str, revision: str, kind: Literal["model", "dataset"]) -> str:
    """The commit (40 hex digits) that `revision` (a commit, branch or tag) of a repository means now.

    Raises:
        HubError: no repository can have this name, the Hub cannot be reached, or it has no such repository or revision.
    """
    if not is_repository_name(repository):
        raise HubError(f"{repository!r} is no name of a {kind} on the Hub (organisation/name).")
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


@dataclass(frozen=True, slots=True)
class RepositoryCard:
    """What a repository says of itself: its README, and the licence that its metadata name."""

    text: str
    license: str | None


def read_card(repository: str, revision: str, kind: Literal["model", "dataset"]) -> RepositoryCard | None:
    """The card of a repository at a revision; None if there is none in the cache, and none that can be fetched."""
    try:
        path = huggingface_hub.hf_hub_download(
            repository, "README.md", repo_type=kind, revision=revision, local_files_only=not is_reachable()
        )
        text = Path(path).read_text(encoding="utf-8")
    except _NO_ANSWER:  # a name that no repository can have is a ValueError
        return None
    try:
        license = huggingface_hub.RepoCard(text).data.get("license")
    except (yaml.YAMLError, ValueError):  # metadata that are none
        license = None
    if license is not None and not isinstance(license, str):  # several
        license = ", ".join(map(str, license))
    return RepositoryCard(text, license)


def download_model(repository: str, commit: str, with_weights: bool = True) -> Path:
    """The folder with a model's files at `commit`, downloaded if it is not in the cache already.

    Args:
        repository: Hub id.
        commit: 40 hex digits.
        with_weights: download its weights, too; without them what is there is configuration and tokenizer.

    Raises:
        HubError: the Hub cannot be reached and the cache may not hold all of the model.
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
    """Refuse a folder of the cache that may lack files: transformers takes what it needs, file by file.

    A model without the file that says how it pools would be another one. `snapshot_download` compares the folder with
    the list of the commit where it has one.
    """
    try:
        huggingface_hub.get_cached_repo_tree(repository, revision=commit)
    except CachedRepoTreeNotFoundError as error:
        raise HubError(
            f"The cache has files of the model {repository} at commit {commit}, but perhaps not all: another program "
            f"has put them there. Run NWS once with a network, or name the folder if it is complete: {folder}"
        ) from error
