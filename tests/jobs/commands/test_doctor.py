"""What `nws doctor` says of models that come in packages."""

import pytest

from core.text import segmentation
from core.text.segmentation import DEFAULT_TRAINED_PIPELINE
from jobs.commands import doctor


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
