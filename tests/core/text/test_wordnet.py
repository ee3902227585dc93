from pathlib import Path

import nltk
import pytest

from core.errors import CorpusError
from core.text import wordnet
from core.text.wordnet import HOW_TO_INSTALL, find_wordnet, lexnames


@pytest.fixture
def installed():
    reader = find_wordnet()
    if reader is None:
        pytest.skip(f"WordNet's data is not here: {HOW_TO_INSTALL}")
    return reader


def test_lexnames_has_the_45_files_of_the_manual_page() -> None:
    lines = [line.split("\t") for line in lexnames().splitlines()]
    assert [number for number, _, _ in lines] == [f"{i:02d}" for i in range(45)]
    names = {name: (number, category) for number, name, category in lines}
    assert len(names) == 45
    assert (names["adj.all"], names["noun.Tops"], names["verb.body"]) == (("00", "3"), ("03", "1"), ("29", "2"))
    assert (names["adv.all"], names["noun.time"], names["adj.ppl"]) == (("02", "4"), ("28", "1"), ("44", "3"))


def test_a_car_is_an_automobile(installed) -> None:
    car = installed.synsets("car")[0]
    assert "automobile" in car.lemma_names()
    assert car.lexname() == "noun.artifact"
    assert installed.synset("run.v.01").lexname() == "verb.motion"
    assert installed.get_version() == "3.0"
    assert installed.synsets("mice")[0].name() == "mouse.n.01"  # through the exception lists
    assert find_wordnet() is installed or find_wordnet() == installed


def test_where_it_is_not_installed_there_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NWS_WORDNET", raising=False)
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    monkeypatch.setattr(wordnet, "SYSTEM_FOLDERS", (tmp_path,))
    assert find_wordnet() is None


def test_a_folder_that_is_named_must_hold_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NWS_WORDNET", str(tmp_path))
    with pytest.raises(CorpusError, match=r"does not hold WordNet's database: index\.noun is missing"):
        find_wordnet()


def test_a_folder_can_be_named(installed, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = next((folder for folder in wordnet.SYSTEM_FOLDERS if folder.is_dir()), None)
    if folder is None:
        pytest.skip("WordNet is in NLTK's data here, not in a folder of its own")
    monkeypatch.setenv("NWS_WORDNET", str(folder))
    assert find_wordnet().synsets("automobile")
