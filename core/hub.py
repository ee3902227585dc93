"""The Hugging Face Hub: every model and dataset from it is pinned to a commit before it is used."""

import re
from pathlib import Path
from typing import Literal

import huggingface_hub
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError, RevisionNotFoundError

from core.errors import HubError

# What `huggingface_hub` raises when the network, the Hub or the local cache fails.
# Without a connection that is the HTTP library's own error, the base of HfHubHTTPError.
HUB_FAILURES: tuple[type[Exception], ...] = (OSError, HfHubHTTPError.__bases__[0])
_COMMIT = re.compile(r"[0-9a-f]{40}")
# Weights for other frameworks lie in the same repositories, several gigabytes of them.
_CONFIGURATION_FILES = ["*.json", "*.txt", "*.model", "*/config.json"]


def resolve_commit(repository: str, revision: str, kind: Literal["model", "dataset"]) -> str:
    """The commit (40 hex digits) that `revision` (a commit, branch or tag) of a repository means now.

    Raises:
        HubError: the Hub cannot be reached, or has no such repository or revision.
    """
    if _COMMIT.fullmatch(revision):
        return revision
    try:
        info = huggingface_hub.HfApi().repo_info(repository, revision=revision, repo_type=kind)
    except (RepositoryNotFoundError, RevisionNotFoundError) as error:
        raise HubError(f"The Hub has no {kind} {repository!r} with revision {revision!r}.") from error
    except HUB_FAILURES as error:
        raise HubError(
            f"The commit of revision {revision!r} of the {kind} {repository!r} cannot be looked up ({error}). "
            f"Pin it (`{repository}@COMMIT`), or give a local {'folder' if kind == 'model' else 'file'}."
        ) from error
    return str(info.sha)


def download_model(repository: str, commit: str, with_weights: bool = True) -> Path:
    """The folder with a model's files at `commit`, downloaded if it is not in the cache already.

    Args:
        repository: Hub id.
        commit: 40 hex digits.
        with_weights: download its weights, too; without them what is there is configuration and tokenizer.

    Raises:
        HubError: the Hub cannot be reached and the cache does not hold the model.
    """
    weights = ["*.safetensors"] if with_weights else []
    try:
        folder = Path(
            huggingface_hub.snapshot_download(
                repository, revision=commit, allow_patterns=[*_CONFIGURATION_FILES, *weights]
            )
        )
        if with_weights and not any(folder.glob("*.safetensors")):
            huggingface_hub.snapshot_download(repository, revision=commit, allow_patterns=["pytorch_model*.bin"])
    except HUB_FAILURES as error:
        raise HubError(
            f"The model {repository} at commit {commit} is not in the local cache and cannot be downloaded ({error}). "
            "Download it on a machine with network, or give a local folder."
        ) from error
    return folder
