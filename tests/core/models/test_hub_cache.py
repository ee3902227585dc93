import json
import socket
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest

from nws.core.errors import HubError
from nws.core.models.hub_cache import download_model, is_reachable, offline_if_unreachable, resolve_commit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_a_branch_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [COMMIT, json.JSONDecodeError("of a network's log-in page", "<html>", 0)]

    def repo_info(self: object, repository: str, *, revision: str, repo_type: str) -> SimpleNamespace:
        assert (repository, revision, repo_type) == ("org/name", "main", "dataset")
        if isinstance(answer := answers.pop(0), Exception):
            raise answer
        return SimpleNamespace(sha=answer)

    monkeypatch.setattr(huggingface_hub.HfApi, "repo_info", repo_info)
    assert resolve_commit("org/name", "main", "dataset") == COMMIT
    with pytest.raises(HubError, match="cannot be looked up"):
        resolve_commit("org/name", "main", "dataset")
    for revision in ("main", COMMIT):
        with pytest.raises(
            HubError, match=r"'\.\./x' cannot be the name of a dataset on the Hub \(organisation/name\)"
        ):
            resolve_commit("../x", revision, "dataset")


def cached(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model in a cache of the Hub, as `huggingface_hub` lays it out; its snapshot."""
    model, snapshot = root / "models--org--name", root / "models--org--name" / "snapshots" / COMMIT
    files = ("config.json", "model.safetensors", "1_Pooling/config.json")
    for name in files:
        (snapshot / name).parent.mkdir(parents=True, exist_ok=True)
        (snapshot / name).write_text("{}")
    (model / "trees").mkdir()
    listed = {name: {"size": 2, "blob_id": "0" * 40} for name in (*files, "README.md")}
    (model / "trees" / f"{COMMIT}.json").write_text(json.dumps({"format_version": 1, "files": listed}))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(root))
    return snapshot


def test_a_model_of_which_the_cache_lacks_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = cached(tmp_path, monkeypatch)
    assert download_model("org/name", COMMIT) == snapshot
    (snapshot / "1_Pooling" / "config.json").unlink()
    with pytest.raises(HubError, match="is not in the local cache"):
        download_model("org/name", COMMIT)


def test_a_model_that_may_lack_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As another program leaves it, which takes file by file and has no list of them."""
    snapshot = cached(tmp_path, monkeypatch)
    (tmp_path / "models--org--name" / "trees" / f"{COMMIT}.json").unlink()
    with pytest.raises(HubError, match=rf"perhaps not all.*Run NWS once with network access, or name .*{snapshot}"):
        download_model("org/name", COMMIT)


def test_a_hub_that_does_not_answer_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its library asks six times within half a minute."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        open_port, closed = server.getsockname()[1], f"http://127.0.0.1:{server.getsockname()[1]}/"
        assert is_reachable(f"http://127.0.0.1:{open_port}")
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", closed)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    is_reachable.cache_clear()
    with pytest.raises(HubError, match=r"org/name at commit .* is not in the local cache .*cannot be reached"):
        download_model("org/name", COMMIT)
    with offline_if_unreachable(SimpleNamespace(HF_HUB_OFFLINE=False)):
        assert huggingface_hub.constants.HF_HUB_OFFLINE
    is_reachable.cache_clear()
