"""The Hugging Face Hub: every model and dataset from it is pinned to a commit before it is used."""

import functools
import hashlib
import io
import re
import socket
from collections.abc import Iterator, Sequence
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
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

from core.errors import HubError, RecipeError
from core.fingerprint import State, file_sha256, file_state, files_below

# What `huggingface_hub` raises when the network, the Hub or the local cache fails.
# Without a connection that is the HTTP library's own error, the base of HfHubHTTPError.
HUB_FAILURES: tuple[type[Exception], ...] = (OSError, HfHubHTTPError.__bases__[0])
# The last: an answer that is no JSON, such as a network's log-in page.
_NO_ANSWER: tuple[type[Exception], ...] = (*HUB_FAILURES, ValueError)
_PATIENCE = 5.0  # seconds
_LARGE = 1_000_000  # bytes; of larger files, most are kept as pointers
_COMMIT = re.compile(r"[0-9a-f]{40}")
# Weights for other frameworks lie in the same repositories, several gigabytes of them.
_CONFIGURATION_FILES = ["*.json", "*.txt", "*.model", "*.jinja", "*/config.json"]


NOT_READ = frozenset({".md", ".h5", ".msgpack", ".ot", ".onnx", ".tflite", ".mlmodel"})
"""Endings of files of a model that nobody reads here: text for people, and weights for other frameworks."""


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
class Card:
    """What a repository says of itself: its README, and the licence that its metadata name."""

    text: str
    license: str | None


def read_card(repository: str, revision: str, kind: Literal["model", "dataset"]) -> Card | None:
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
    return Card(text, license if license is None or isinstance(license, str) else ", ".join(map(str, license)))


def download_model(repository: str, commit: str, with_weights: bool = True) -> Path:
    """The folder with a model's files at `commit`, downloaded if it is not in the cache already.

    Args:
        repository: Hub id.
        commit: 40 hex digits.
        with_weights: download its weights, too; without them what is there is configuration and tokenizer.

    Raises:
        HubError: the Hub cannot be reached and the cache does not hold all of the model, or a file of it was changed
            there.
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
        if not is_reachable():
            raise HubError(
                f"The Hub ({huggingface_hub.constants.ENDPOINT}) cannot be reached, and the model {repository} at "
                f"commit {commit} is not in the local cache. Download it on a machine with network, or give a local "
                "folder."
            ) from error
        raise HubError(
            f"The model {repository} at commit {commit} is not in the local cache and cannot be downloaded ({error}). "
            "Download it on a machine with network, or give a local folder."
        ) from error
    blobs = _listed_blobs(repository, commit, folder)
    for file in files_below(folder):
        path = file.relative_to(folder)
        is_left = any(part.startswith(".") or part == "__pycache__" for part in path.parts)  # by some other program
        if file.suffix in NOT_READ or is_left:
            continue
        if path.as_posix() not in blobs:
            raise HubError(f"The file {file} in the cache is not one of the Hub's at commit {commit}. Delete it.")
        _require_as_listed(file, file_state(file), blobs[path.as_posix()], folder.parents[1])
    return folder


def _listed_blobs(repository: str, commit: str, folder: Path) -> dict[str, str]:
    """What git calls the blob of each file of a commit, by its path.

    transformers takes what it needs, file by file, so a model may lie in the cache without the file that says how it
    pools. `snapshot_download` has compared the folder with this list where it had one.

    Raises:
        HubError: nobody can tell which files there are.
    """
    try:
        try:
            listed = huggingface_hub.get_cached_repo_tree(repository, revision=commit)
        except CachedRepoTreeNotFoundError:  # it could not be kept in a cache that one may only read
            found = huggingface_hub.HfApi().list_repo_tree(repository, recursive=True, revision=commit)
            listed = [file for file in found if isinstance(file, RepoFile)]
    except _NO_ANSWER as error:
        raise HubError(
            f"The cache has files of the model {repository} at commit {commit}, but perhaps not all: another program "
            f"has put them there, and the Hub cannot be asked ({error}). Run NWS once with a network, or name the "
            f"folder if it is complete: {folder}"
        ) from error
    return {file.path: file.blob_id for file in listed}


@functools.lru_cache(maxsize=1024)  # weights are read for it, but not again while their file is what it was
def _require_as_listed(file: Path, state: State, blob: str, cached: Path) -> None:
    """Refuse a file of the cache that is not the commit's: changed, replaced, or a link to another."""
    # Of most files git has the content, of large ones a pointer to it.
    hashings = [_content_sha1, _pointer_sha1]
    if file.stat().st_size > _LARGE:
        hashings.reverse()
    if not any(hashing(file) == blob for hashing in hashings):
        raise HubError(
            f"The file {file} in the cache is not what the Hub sent. Delete {cached}, and it is downloaded again."
        )


def _content_sha1(file: Path) -> str:
    return _git_sha1(file.stat().st_size, file.open("rb"))


def _pointer_sha1(file: Path) -> str:
    """Of what git has in place of a large file (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md)."""
    size = file.stat().st_size
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{file_sha256(file)}\nsize {size}\n".encode()
    return _git_sha1(len(pointer), io.BytesIO(pointer))


def _git_sha1(size: int, content: io.BufferedReader | io.BytesIO) -> str:
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with content:
        return hashlib.file_digest(content, lambda: digest).hexdigest()


def upload_model(folder: Path, files: Sequence[str], repository: str, private: bool) -> str:
    """Upload files of a folder to a model repository, which is made if need be, in one commit. Returns its address.

    The token is that of `huggingface_hub`: `HF_TOKEN`, or what `hf auth login` has kept.

    Args:
        folder: with the files.
        files: which of them, as glob patterns. Files that are there already and have another name stay.
        repository: `organisation/name`.
        private: of a new repository; one that is there stays as it is.

    Raises:
        RecipeError: the name is none that a repository can have.
        HubError: there is no token, the Hub cannot be reached, or it refuses.
    """
    if not huggingface_hub.get_token():
        raise HubError(
            "There is no token of the Hub. Make one that may write at https://huggingface.co/settings/tokens, and keep "
            "it with `hf auth login` or in HF_TOKEN."
        )
    api = huggingface_hub.HfApi()
    try:
        url = api.create_repo(repository, private=private, exist_ok=True)
        api.upload_folder(
            repo_id=url.repo_id, folder_path=folder, allow_patterns=list(files), commit_message="Upload policies"
        )
    except HFValidationError as error:
        raise RecipeError(f"{repository!r} is no name of a repository such as organisation/name: {error}") from error
    except HfHubHTTPError as error:
        raise HubError(_refusal(repository, error)) from error
    except HUB_FAILURES as error:
        raise HubError(f"The Hub cannot be reached, so nothing was uploaded to {repository}: {error}") from error
    except ValueError as error:  # what it says of the metadata in README.md
        raise HubError(f"The Hub refuses the model card: {error} Mend README.md, or export again.") from error
    return str(url)


def _refusal(repository: str, error: HfHubHTTPError) -> str:
    """The Hub's message, and how to solve the problem."""
    advice = {
        401: "The token is not valid: make a new one, and keep it with `hf auth login` or in HF_TOKEN.",
        403: "The token may not write there: take one that may, or name a repository of your own.",
    }
    message = error.server_message or str(error)
    cure = advice.get(error.response.status_code, "Try again later.")
    return f"The Hub refuses the upload to {repository} ({error.response.status_code}): {message} {cure}"
