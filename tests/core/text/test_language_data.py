"""Trained pipelines and dictionaries are recognised by their files, not by the version of their package."""

import sys
from pathlib import Path

import pytest
import spacy
from korean_tokenizers import korean_tokenizer

from nws.core.errors import SegmentationError
from nws.core.metrics.config import BertScoreConfig, RougeConfig
from nws.core.models import KNOWN_MODELS
from nws.core.stage import MetricsConfig, Stage
from nws.core.systems.extractive_baselines import Lead
from nws.core.text.segmentation import first_sha256, language_data, require_same_data
from nws.core.text.spacy_segmentation import load_cutter
from nws.core.worker_factories import make_segmenter, make_sweeper
from nws.jobs.drive.reuse import reuse_keys
from nws.jobs.recipes.job import make_plan
from nws.jobs.recipes.load import load_recipe
from nws.jobs.recipes.sweep_recipe import Phase1Recipe

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
    for cached in (load_cutter, first_sha256):
        cached.cache_clear()
    yield data / "sentencizer.json"
    for cached in (load_cutter, first_sha256):
        cached.cache_clear()
    sys.modules.pop(NAME, None)


def stage_of(data: dict[str, str]) -> Stage:
    metrics = MetricsConfig(BertScoreConfig(KNOWN_MODELS["all-MiniLM-L6-v2"], 6), RougeConfig())
    return Stage("en", NAME, (), (Lead(),), (3,), metrics, 0, language_data=tuple(data.items()))


def test_a_pipeline_that_is_changed_under_its_version_is_another_work(pipeline: Path) -> None:
    def of() -> dict[str, str]:
        plan = make_plan(load_recipe(Phase1Recipe, "sample", {"datasets.limit": 1, "n": [3], "pipeline": NAME}))
        return reuse_keys(plan)

    old = of()
    pipeline.write_bytes(pipeline.read_bytes().replace(b".", b"!"))
    assert of() == old, "which this process may have in memory"
    first_sha256.cache_clear()  # as in another process
    new = of()
    assert old.keys() == new.keys()
    assert not set(old.values()) & set(new.values())


def test_a_process_that_has_another_pipeline_refuses_to_work(pipeline: Path) -> None:
    recorded = language_data(NAME, "rouge_score")
    assert list(recorded) == [NAME]
    make_segmenter(stage_of(recorded))
    pipeline.write_bytes(pipeline.read_bytes().replace(b".", b"!"))
    for make in (make_segmenter, lambda changed: make_sweeper(changed, "cpu")):
        with pytest.raises(
            SegmentationError,
            match=r"tiny_pipeline is different on this machine: the run recorded sha256:.* Install the same",
        ):
            make(stage_of(recorded))


def test_a_damaged_pipeline_is_an_error_in_words(pipeline: Path) -> None:
    pipeline.write_bytes(b"{")
    with pytest.raises(SegmentationError, match=r"'tiny_pipeline' cannot be loaded \(ValueError: .*damaged.* Install"):
        make_segmenter(stage_of(language_data(NAME, "rouge_score")))


def test_what_needs_no_data_has_none() -> None:
    assert language_data("blank", "rouge_score") == language_data("blank", "char") == {}
    require_same_data({})
    with pytest.raises(SegmentationError, match="no_such_package, which segments texts, is not installed"):
        require_same_data({"no_such_package": "sha256:0"})


def test_the_dictionaries_of_korean_count() -> None:
    korean_tokenizer("kiwi")
    assert list(language_data("kiwi", "kiwi")) == ["kiwipiepy_model"]
    korean_tokenizer("okt")
    data = language_data("kiwi", "okt")
    assert list(data) == ["kiwipiepy_model", "konlpy"]
    require_same_data(data)
