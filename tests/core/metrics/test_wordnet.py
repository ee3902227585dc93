from pathlib import Path

import nltk
import pytest

from core.metrics import meteor
from core.metrics.meteor import HOW_TO_INSTALL, find_wordnet


@pytest.fixture
def installed():
    reader = find_wordnet()
    if reader is None:
        pytest.skip(f"WordNet's data is not here: {HOW_TO_INSTALL}")
    return reader


def test_a_car_is_an_automobile(installed) -> None:
    car = installed.synsets("car")[0]
    assert "automobile" in car.lemma_names()
    assert installed.get_version() == "3.0"
    assert installed.synsets("mice")[0].name() == "mouse.n.01"  # through the exception lists
    assert find_wordnet() is installed or find_wordnet() == installed


def test_where_it_is_not_installed_there_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    monkeypatch.setattr(meteor, "SYSTEM_FOLDERS", (tmp_path,))
    assert find_wordnet() is None
