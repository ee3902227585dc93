import hashlib
import json
import socket
import time
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
from huggingface_hub.hf_api import RepoFile, RepoFolder

from core.errors import HubError
from core.hub_cache import download_model, is_reachable, offline_if_unreachable, resolve_commit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_a_commit_is_taken_as_it_is() -> None:
    assert resolve_commit("org/name", COMMIT, "model") == COMMIT


def test_a_branch_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def repo_info(self: object, repository: str, *, revision: str, repo_type: str) -> SimpleNamespace:
        asked.append((repository, revision, repo_type))
        return SimpleNamespace(sha=COMMIT)

    monkeypatch.setattr(huggingface_hub.HfApi, "repo_info", repo_info)
    assert resolve_commit("org/name", "main", "dataset") == COMMIT
    assert asked == [("org/name", "main", "dataset")]


@pytest.mark.parametrize("revision", ["main", COMMIT])
def test_a_name_that_no_repository_has(revision: str) -> None:
    with pytest.raises(HubError, match=r"'\.\./x' is no name of a dataset on the Hub \(organisation/name\)"):
        resolve_commit("../x", revision, "dataset")


def test_an_answer_that_is_not_the_hubs(monkeypatch: pytest.MonkeyPatch) -> None:
    def repo_info(self: object, repository: str, *, revision: str, repo_type: str) -> SimpleNamespace:
        return SimpleNamespace(sha=json.loads("<html>Log in to this network</html>"))

    monkeypatch.setattr(huggingface_hub.HfApi, "repo_info", repo_info)
    with pytest.raises(HubError, match="cannot be looked up"):
        resolve_commit("org/name", "main", "model")


def test_without_a_hub_the_error_says_how_to_do_without() -> None:
    with pytest.raises(HubError, match=r"`org/name@COMMIT`.*local folder"):
        resolve_commit("org/name", "main", "model")


def cached(root: Path, monkeypatch: pytest.MonkeyPatch, commit: str = COMMIT, weights: bytes = b"weights") -> Path:
    """A model in a cache of the Hub, as `huggingface_hub` lays it out; its snapshot."""
    files = {"config.json": b"{}", "model.safetensors": weights, "1_Pooling/config.json": b'{"mean": true}'}
    model, snapshot = root / "models--org--name", root / "models--org--name" / "snapshots" / commit
    for folder in ("blobs", "trees"):
        (model / folder).mkdir(parents=True, exist_ok=True)
    listed = {}
    for name, content in (files | {"README.md": b""}).items():
        sha256, is_large = hashlib.sha256(content).hexdigest(), name.endswith("safetensors")
        large = {"lfs_sha256": sha256, "lfs_size": len(content)} if is_large else {}
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {len(content)}\n".encode()
        kept = pointer if is_large else content
        git = hashlib.sha1(b"blob %d\0" % len(kept) + kept).hexdigest()
        listed[name] = {"size": len(content), "blob_id": git} | large
        if name in files:
            blob = model / "blobs" / (sha256 if is_large else git)
            blob.write_bytes(content)
            (snapshot / name).parent.mkdir(parents=True, exist_ok=True)
            (snapshot / name).symlink_to(blob)
    (model / "trees" / f"{commit}.json").write_text(json.dumps({"format_version": 1, "files": listed}))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(root))
    return snapshot


def test_a_model_of_which_the_cache_lacks_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = cached(tmp_path, monkeypatch)
    pooling = snapshot / "1_Pooling" / "config.json"
    content = pooling.resolve()
    content.rename(tmp_path / "kept")  # a link that leads nowhere
    with pytest.raises(HubError, match="is not in the local cache"):
        download_model("org/name", COMMIT)
    (tmp_path / "kept").rename(content)
    assert download_model("org/name", COMMIT) == snapshot
    pooling.unlink()
    with pytest.raises(HubError, match="is not in the local cache"):
        download_model("org/name", COMMIT)


def test_a_model_that_may_lack_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As another program leaves it, which takes file by file and has no list of them."""
    snapshot = cached(tmp_path, monkeypatch)
    list_of_files = tmp_path / "models--org--name" / "trees" / f"{COMMIT}.json"
    listed = json.loads(list_of_files.read_text())["files"]
    list_of_files.unlink()
    with pytest.raises(HubError, match=rf"perhaps not all.*Run NWS once with a network, or name .*{snapshot}"):
        download_model("org/name", COMMIT)

    def log_in(*_: object, **__: object) -> None:
        raise ValueError("no JSON")  # as where a network asks to log in

    monkeypatch.setattr(huggingface_hub.HfApi, "list_repo_tree", log_in)
    with pytest.raises(HubError, match="perhaps not all"):
        download_model("org/name", COMMIT)
    # Where the list cannot be kept, the Hub was asked for it.
    folder = RepoFolder(path="1_Pooling", oid="1" * 40)
    tree = [RepoFile(path=path, size=file["size"], oid=file["blob_id"]) for path, file in listed.items()]
    monkeypatch.setattr(huggingface_hub.HfApi, "list_repo_tree", lambda *_, **__: iter([folder, *tree]))
    assert download_model("org/name", COMMIT) == snapshot
    (snapshot / "config.json").resolve().write_bytes(b"others")
    with pytest.raises(HubError, match="is not what the Hub sent"):
        download_model("org/name", COMMIT)


@pytest.mark.parametrize("changed", ["config.json", "model.safetensors", "1_Pooling/config.json"])
def test_a_file_that_was_changed_in_the_cache_is_refused(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = cached(tmp_path, monkeypatch)
    assert download_model("org/name", COMMIT) == snapshot
    (snapshot / changed).resolve().write_bytes(b"others")
    with pytest.raises(HubError, match=rf"{changed} in the cache is not what the Hub sent.*Delete .*models--org--name"):
        download_model("org/name", COMMIT)


def test_a_file_that_was_replaced_in_the_cache_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by `sed -i`, which puts a file in place of the link."""
    snapshot = cached(tmp_path, monkeypatch)
    config = snapshot / "config.json"
    config.unlink()
    config.write_bytes(b"{}")  # what the Hub sent, as in a copy of the cache that has no links
    assert download_model("org/name", COMMIT) == snapshot
    for content in (b'{"a": 1}', b"[]"):
        config.write_bytes(content)
        with pytest.raises(HubError, match=r"config\.json in the cache is not what the Hub sent.*Delete .*org--name,"):
            download_model("org/name", COMMIT)
    config.unlink()
    (tmp_path / "other").write_bytes(b"[]")
    config.symlink_to(tmp_path / "other")
    with pytest.raises(HubError, match="is not what the Hub sent"):
        download_model("org/name", COMMIT)
    config.unlink()
    config.write_bytes(b"{}")
    (snapshot / ".DS_Store").touch()
    assert download_model("org/name", COMMIT) == snapshot
    (snapshot / "tokenizer.json").write_bytes(b"{}")  # which the Hub never had
    with pytest.raises(HubError, match=r"tokenizer\.json in the cache is not one of the Hub's.* Delete it"):
        download_model("org/name", COMMIT)


def test_a_link_to_a_file_of_another_commit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = cached(tmp_path, monkeypatch, "1" * 40, b"other weights")
    snapshot = cached(tmp_path, monkeypatch)
    assert download_model("org/name", COMMIT) == snapshot
    (snapshot / "model.safetensors").unlink()
    (snapshot / "model.safetensors").symlink_to((other / "model.safetensors").resolve())
    with pytest.raises(HubError, match=r"model\.safetensors in the cache is not what the Hub sent"):
        download_model("org/name", COMMIT)


def test_where_links_cannot_be_made_a_changed_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = cached(tmp_path, monkeypatch)
    for link in [path for path in snapshot.rglob("*") if path.is_symlink()]:
        content = link.resolve()
        link.unlink()
        content.rename(link)
    assert download_model("org/name", COMMIT) == snapshot
    (snapshot / "model.safetensors").write_bytes(b"others")
    with pytest.raises(HubError, match="is not what the Hub sent"):
        download_model("org/name", COMMIT)


def test_a_hub_that_does_not_answer_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its library asks six times within half a minute."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        open_port, closed = server.getsockname()[1], f"http://127.0.0.1:{server.getsockname()[1]}/"
        assert is_reachable(f"http://127.0.0.1:{open_port}")
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", closed)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    is_reachable.cache_clear()
    began = time.monotonic()
    with pytest.raises(HubError, match=r"cannot be reached, and the model org/name at commit .* is not in the local"):
        download_model("org/name", COMMIT)
    assert time.monotonic() - began < 1
    with offline_if_unreachable(SimpleNamespace(HF_HUB_OFFLINE=False)):
        assert huggingface_hub.constants.HF_HUB_OFFLINE
    is_reachable.cache_clear()
