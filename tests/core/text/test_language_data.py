"""Trained pipelines and dictionaries are recognised by their files, not by the version of their package."""

import os
import py_compile
import sys
from pathlib import Path
from typing import Any

import pytest
import spacy
from korean_tokenizers import korean_tokenizer

from core.errors import ModelError, SegmentationError
from core.metrics.config import BertScoreConfig, RougeConfig
from core.models import KNOWN_MODELS
from core.summarizers.lead import Lead
from core.sweep_plan import MetricsConfig, SweepPlan
from core.text import korean_analysers, package_data
from core.text.language_data import language_data, load_with_data, require_same_data
from core.text.segmentation import Segmenter
from core.text.spacy_segmentation import load_cutter
from core.worker_factories import make_segmenter, make_sweeper
from jobs.plan import sweep
from jobs.plan.work import works
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep import Phase1Recipe

NAME = "tiny_pipeline"


@pytest.fixture
def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed spaCy pipeline, which ends sentences at full stops. Returns the file that says so."""
    folder = tmp_path / NAME
    data = folder / f"{NAME}-1.0"
    data.mkdir(parents=True)
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer", config={"punct_chars": ["."]})
    nlp.to_disk(data)
    (data / "meta.json").write_text((data / "meta.json").read_text().replace('"name":"pipeline"', f'"name":"{NAME}"'))
    (folder / "__init__.py").write_text(
        "from pathlib import Path\nfrom spacy.util import load_model_from_path\n"
        f"def load(**options):\n    return load_model_from_path(Path(__file__).parent / '{NAME}-1.0', **options)\n"
    )
    (tmp_path / f"{NAME}-1.0.dist-info").mkdir()
    (tmp_path / f"{NAME}-1.0.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(package_data, "_loaded", {})
    load_cutter.cache_clear()
    yield data / "sentencizer.json"
    load_cutter.cache_clear()
    sys.modules.pop(NAME, None)


def plan(data: dict[str, str]) -> SweepPlan:
    metrics = MetricsConfig(BertScoreConfig(KNOWN_MODELS["all-MiniLM-L6-v2"], 6), RougeConfig())
    return SweepPlan("en", NAME, (), (Lead(),), (3,), metrics, 0, language_data=tuple(data.items()))


def test_a_pipeline_that_is_changed_under_its_version_is_another_work(pipeline: Path) -> None:
    def of() -> dict[str, str]:
        pinned = sweep.pin(load_recipe(Phase1Recipe, "sample", {"limit": 1, "n": [3], "pipeline": NAME}))
        return works(pinned, "0123456789ab")

    old = of()
    assert of() == old
    pipeline.write_bytes(pipeline.read_bytes().replace(b".", b"!"))
    new = of()
    assert old.keys() == new.keys()
    assert not set(old.values()) & set(new.values())


def test_a_pipeline_behind_older_bytecode_is_refused(pipeline: Path) -> None:
    initial = pipeline.parents[1] / "__init__.py"
    for text in ("# 1", "# 2\nCUT = 2"):  # which are as long as each other below
        source = initial.read_text().partition("\n#")[0] + f"\n{text:<12}"
        initial.write_text(source)
        os.utime(initial, ns=(10**18, 10**18))
        if text == "# 1":
            py_compile.compile(str(initial))
    with pytest.raises(SegmentationError, match=r"older bytecode in place of .*tiny_pipeline.*Delete the folder"):
        make_segmenter(plan(language_data(NAME, "rouge_score")))


@pytest.mark.parametrize("how", ["returned", "source of a component"])
def test_a_pipeline_that_loads_another_one_is_refused(pipeline: Path, how: str) -> None:
    """Whose files are not hashed."""
    wrapper = pipeline.parents[2] / "wrapping_pipeline"
    wrapper.mkdir()
    source = f"import spacy\ndef load(**options):\n    nlp = spacy.load({NAME!r})\n"
    if how == "source of a component":
        source += "    other, nlp = nlp, spacy.blank('en')\n    nlp.add_pipe('sentencizer', source=other)\n"
    (wrapper / "__init__.py").write_text(f"{source}    return nlp\n")
    info = wrapper.parent / "wrapping_pipeline-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: wrapping_pipeline\nVersion: 1.0\n")
    recorded = language_data("wrapping_pipeline", "rouge_score")
    try:
        with pytest.raises(SegmentationError, match=rf"wrapping_pipeline loads another pipeline, from .*{NAME}-1.0"):
            load_with_data(recorded, lambda: Segmenter("wrapping_pipeline"))
        assert package_data.loaded_sha256("wrapping_pipeline") == "changed while it was loaded"
        load_with_data(language_data(NAME, "rouge_score"), lambda: Segmenter(NAME))
    finally:
        sys.modules.pop("wrapping_pipeline", None)


def test_a_process_that_has_another_pipeline_refuses_to_work(pipeline: Path) -> None:
    recorded = language_data(NAME, "rouge_score")
    assert list(recorded) == [NAME]
    make_segmenter(plan(recorded))
    pipeline.write_bytes(pipeline.read_bytes().replace(b".", b"!"))
    for make in (make_segmenter, lambda changed: make_sweeper(changed, "cpu")):
        with pytest.raises(SegmentationError, match=r"tiny_pipeline differs here: sha256:.* Install the same on every"):
            make(plan(recorded))


@pytest.mark.parametrize("put_back", [True, False])
def test_a_pipeline_that_is_changed_while_it_is_loaded_is_refused(
    pipeline: Path, monkeypatch: pytest.MonkeyPatch, put_back: bool
) -> None:
    recorded, was, load = language_data(NAME, "rouge_score"), pipeline.read_bytes(), spacy.load

    def meanwhile(*args: Any, **options: Any) -> Any:
        pipeline.write_bytes(was.replace(b".", b"!"))
        loaded = load(*args, **options)
        if put_back:
            pipeline.write_bytes(was)
        return loaded

    with monkeypatch.context() as patch:
        patch.setattr(spacy, "load", meanwhile)
        with pytest.raises(SegmentationError, match="tiny_pipeline were written to or moved while they were loaded"):
            load_with_data(recorded, lambda: Segmenter(NAME))
    pipeline.write_bytes(was)
    # A process may keep parts of what it has loaded.
    with pytest.raises(SegmentationError, match=r"tiny_pipeline was changed after this process had loaded it\. Start"):
        load_with_data(recorded, lambda: Segmenter(NAME))


def test_a_pipeline_that_is_changed_between_looking_and_loading_is_refused(pipeline: Path) -> None:
    recorded, was = language_data(NAME, "rouge_score"), pipeline.read_bytes()

    def swap() -> Segmenter:
        pipeline.write_bytes(was.replace(b".", b"!"))
        segmenter = Segmenter(NAME)
        pipeline.write_bytes(was)
        return segmenter

    with pytest.raises(SegmentationError, match=r"tiny_pipeline was changed after this process had loaded it\. Start"):
        load_with_data(recorded, swap)


def test_a_process_that_has_another_pipeline_in_memory_refuses_to_work(pipeline: Path) -> None:
    Segmenter(NAME)  # whoever it was that loaded it
    pipeline.write_bytes(pipeline.read_bytes().replace(b".", b"!"))
    changed = language_data(NAME, "rouge_score")
    with pytest.raises(SegmentationError, match=r"tiny_pipeline was changed after this process had loaded it\. Start"):
        load_with_data(changed, lambda: Segmenter(NAME))


def test_what_was_loaded_before_something_else_failed_is_compared_too(pipeline: Path) -> None:
    def fail() -> None:
        Segmenter(NAME)
        raise ModelError("The Hub cannot be reached.")

    with pytest.raises(ModelError):
        load_with_data(language_data(NAME, "rouge_score"), fail)
    pipeline.write_bytes(pipeline.read_bytes().replace(b".", b"!"))
    with pytest.raises(SegmentationError, match="tiny_pipeline was changed after this process had loaded it"):
        load_with_data(language_data(NAME, "rouge_score"), lambda: Segmenter(NAME))


@pytest.mark.parametrize("name", korean_analysers.DATA)
def test_what_a_korean_analyser_has_loaded_is_compared(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    korean_tokenizer(name)
    monkeypatch.setattr(package_data, "_loaded", {})
    korean_analysers.load_kiwi.cache_clear()
    korean_analysers.analyser.__wrapped__(name)("눈이 내린다")
    package = korean_analysers.DATA[name]
    recorded = {package: f"sha256:{package_data.loaded_sha256(package)}"}
    assert recorded.items() <= language_data("kiwi", name).items()

    def changed() -> None:
        package_data._loaded[package] = "0" * 64

    with pytest.raises(SegmentationError, match=f"{package} was changed after this process had loaded it"):
        load_with_data(recorded, changed)


def test_a_damaged_pipeline_is_an_error_in_words(pipeline: Path) -> None:
    pipeline.write_bytes(b"{")
    with pytest.raises(SegmentationError, match=r"'tiny_pipeline' cannot be loaded \(ValueError: .*damaged.* Install"):
        make_segmenter(plan(language_data(NAME, "rouge_score")))


def test_what_needs_no_data_has_none() -> None:
    assert language_data("blank", "rouge_score") == language_data("blank", "char") == {}
    require_same_data({})
    with pytest.raises(SegmentationError, match="no_such_package, by which texts are cut, is not installed"):
        require_same_data({"no_such_package": "sha256:0"})


def test_the_dictionaries_of_korean_and_java_count() -> None:
    korean_tokenizer("kiwi")
    assert list(language_data("kiwi", "kiwi")) == ["kiwipiepy_model"]
    korean_tokenizer("okt")
    data = language_data("kiwi", "okt")
    assert list(data) == ["kiwipiepy_model", "konlpy", "java"]
    require_same_data(data)
    with pytest.raises(SegmentationError, match=r"java differs here: 1\.8\.0 was recorded"):
        require_same_data(data | {"java": "1.8.0"})
