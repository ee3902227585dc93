import json
from types import SimpleNamespace

import huggingface_hub
import pytest

from core.errors import HubError
from core.hub import resolve_commit

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
