import subprocess
from pathlib import Path

import pytest

from nws.core.errors import RecipeError
from nws.core.models import MINILM, MINILM_COMMIT
from nws.core.provenance import code_as_imported
from nws.jobs import installation
from nws.jobs.drive.driver import changed_software
from nws.jobs.installation import ROOT, VERSION_FILE, code_version, described_commit, is_of_commit, printed_version
from nws.jobs.recipes.job import make_plan
from nws.jobs.recipes.load import load_recipe
from nws.jobs.recipes.plan import require_same_revisions
from nws.jobs.recipes.sweep_recipe import Phase1Recipe


def test_pinning_names_everything_exactly_and_again_gives_the_same() -> None:
    plan = make_plan(load_recipe(Phase1Recipe, "sample", {}))
    assert plan.recipe.encoders == (f"{MINILM}@{MINILM_COMMIT}",)
    assert plan.revisions["encoders"] == {"all-MiniLM-L6-v2": f"{MINILM}@{MINILM_COMMIT}"}
    assert plan.revisions["bertscore"] == f"{MINILM}@{MINILM_COMMIT}"
    assert plan.revisions["datasets"]["sample"].startswith("all@sha256:")


def test_a_file_and_a_folder_are_pinned_by_their_content(
    tiny_models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "news.jsonl"
    file.write_text('{"article": "Text.", "summary": "T."}\n')
    monkeypatch.chdir(tmp_path)
    own = {"datasets": [{"name": "news.jsonl"}], "encoders": [str(tiny_models["bert"])]}
    plan = make_plan(load_recipe(Phase1Recipe, "sample", own))
    assert plan.recipe.datasets[0].name == str(file)  # found again from another folder
    assert plan.revisions["encoders"]["tiny-bert"].startswith(f"{tiny_models['bert']}@sha256:")
    file.write_text('{"article": "Another text.", "summary": "T."}\n')
    changed = make_plan(plan.recipe)
    with pytest.raises(RecipeError, match=r"Run r1 cannot be resumed: its datasets changed from .*news\.jsonl"):
        require_same_revisions(plan.revisions, changed.revisions, "r1")


def test_the_layer_of_a_backbone_is_the_tuned_one_unless_it_is_named(tiny_models: dict[str, Path]) -> None:
    tuned = make_plan(load_recipe(Phase1Recipe, "sample", {"bertscore.model": "bert-base-uncased"}))
    assert (tuned.metrics.bertscore.num_layers, tuned.recipe.bertscore.num_layers) == (9, 9)
    assert make_plan(tuned.recipe).recipe.hash == tuned.recipe.hash
    named = make_plan(load_recipe(Phase1Recipe, "sample", {"bertscore.num_layers": 2}))
    assert "all-MiniLM-L6-v2@" in named.metrics.signatures["bertscore"]
    assert "|layer:2|" in named.metrics.signatures["bertscore"]
    with pytest.raises(RecipeError, match="no tuned layer for tiny-bert: name one") as refused:
        make_plan(load_recipe(Phase1Recipe, "sample", {"bertscore.model": str(tiny_models["bert"])}))
    assert refused.value.settings == ("bertscore_layer",)


def test_changed_libraries_are_told_and_allowed() -> None:
    now = make_plan(load_recipe(Phase1Recipe, "sample", {})).revisions
    before = {**now, "libraries": {**now["libraries"], "torch": "1.0", "apex": "1"}}
    require_same_revisions(before, now, "r1")
    libraries = before["libraries"], now["libraries"]
    changed = {f"torch {now['libraries']['torch']}": "1.0", "no apex": "1"}
    assert changed_software("a+1, b+2", "c+1", *libraries) == changed
    assert changed_software("a+1", "c+2", *libraries) == changed | {"c+2": "a+1"}


@pytest.mark.parametrize("recorded", [{}, {"content_kept": "R:recall"}])
def test_a_run_that_measured_content_kept_otherwise_is_not_gone_on_with(recorded: dict[str, str]) -> None:
    now = make_plan(load_recipe(Phase1Recipe, "sample", {})).revisions
    before = {kind: revision for kind, revision in now.items() if kind != "content_kept"} | recorded
    was = recorded.get("content_kept", "none recorded")
    with pytest.raises(RecipeError, match=f"Run r1 cannot be resumed: its content_kept changed from {was} to R:"):
        require_same_revisions(before, now, "r1")


def test_what_cannot_run_is_refused_before_anything_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="A run is in one language"):
        make_plan(load_recipe(Phase1Recipe, "sample", {"datasets": [{"name": "sample"}, {"name": "sample-ko"}]}))
    rouge = {"tokenizer": "rouge_score"}
    with pytest.raises(RecipeError, match="deletes Korean text"):
        make_plan(load_recipe(Phase1Recipe, "sample", {"datasets": [{"name": "sample-ko"}], "rouge": rouge}))
    (tmp_path / "a.jsonl").write_text('{"text": "x", "summary": "y"}\n')
    twice = [{"name": str(tmp_path / "a.jsonl")}] * 2
    with pytest.raises(RecipeError, match="same name"):
        make_plan(load_recipe(Phase1Recipe, "sample", {"datasets": twice}))


def test_a_version_is_told_in_words() -> None:
    assert printed_version("0123456789ab+1a2b3c") == "0123456789ab (hash of its sources: 1a2b3c)"
    changed = "0123456789ab-dirty+1a2b3c"
    assert printed_version(changed) == "0123456789ab with changes that are in no commit (hash of its sources: 1a2b3c)"
    assert is_of_commit("0123456789ab+1a2b3c")
    assert not is_of_commit(changed)


def test_sources_that_git_does_not_know_are_in_no_commit(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True)

    source = tmp_path / "core" / "lead.py"
    source.parent.mkdir()
    source.write_text("CUT = 1\n")
    (tmp_path / "nws").mkdir()
    (tmp_path / "nws" / "__init__.py").touch()
    git("init", "-q")
    git("add", "-A")
    git("-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "First")
    clean = described_commit(tmp_path)
    assert clean is not None
    assert is_of_commit(clean)
    (tmp_path / "notes.py").touch()  # which is not imported
    assert described_commit(tmp_path) == clean
    hiding = tmp_path / "core" / "lead" / "__init__.py"
    hiding.parent.mkdir()
    hiding.write_text("CUT = 2\n")
    assert described_commit(tmp_path) == f"{clean}-dirty"
    hiding.unlink()
    assert described_commit(tmp_path) == clean


def test_the_commit_of_another_project_around_the_code_is_not_taken(tmp_path: Path) -> None:
    git = ("git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@localhost")
    subprocess.run([*git[:3], "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "Theirs"], check=True)
    (tmp_path / "copy" / "nws").mkdir(parents=True)
    (tmp_path / "copy" / "nws" / "__init__.py").touch()
    assert described_commit(tmp_path / "copy") is None


def test_a_git_of_the_environment_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook of another repository sets these variables."""
    known = described_commit(ROOT)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    assert described_commit(ROOT) == known


@pytest.mark.parametrize(
    ("written", "as_imported", "named"),
    [
        ("0123456789ab+{sources}", True, "0123456789ab"),
        ("0123456789ab+ba9876543210", True, "0123456789ab-dirty"),
        ("0123456789ab+{sources}", False, "0123456789ab-dirty"),
        ("0123456789ab-dirty+ba9876543210", False, "0123456789ab-dirty"),
    ],
)
def test_a_commit_is_named_as_it_is_if_the_sources_are_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, as_imported: bool, named: str
) -> None:
    (tmp_path / VERSION_FILE).parent.mkdir()
    (tmp_path / VERSION_FILE).write_text(written.format(sources=code_as_imported()))
    monkeypatch.setattr(installation, "ROOT", tmp_path)
    monkeypatch.setattr(installation, "are_as_imported", lambda: as_imported)
    assert code_version.__wrapped__() == f"{named}+{code_as_imported()}"
