import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from core.text.dataset import Dataset, open_dataset
from jobs.report.warnings import warn_of_corpora, warn_of_texts

ENGLISH = "The council has agreed to repair the old bridge before the winter."
FRENCH = "Le conseil municipal a décidé de réparer le vieux pont avant l'hiver."


def warned(texts: list[str]) -> str:
    console = Console(file=io.StringIO(), width=1000)
    warn_of_texts("predictions", texts, "en", console)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_the_language_and_its_share_are_named() -> None:
    assert warned([ENGLISH, FRENCH]).startswith("Warning: 1 of 2 predictions may be in another language ")
    assert "than English (ISO 639: fr)" in warned([FRENCH])


def test_a_text_in_ten_is_no_reason_to_warn() -> None:
    assert warned([ENGLISH] * 9 + [FRENCH]) == ""
    assert warned([ENGLISH] * 8 + [FRENCH]) != ""
    assert warned([]) == ""


def test_texts_are_looked_at_from_beginning_to_end() -> None:
    assert "17 of 50 predictions may be" in warned([ENGLISH] * 330 + [FRENCH] * 170)


@pytest.mark.parametrize("size", [2, 120])
def test_one_warning_for_each_dataset(tmp_path: Path, size: int) -> None:
    for name, text in (("english", ENGLISH), ("french", FRENCH)):
        rows = [json.dumps({"text": f"{text} {i}", "summary": "S."}) for i in range(size)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows))
    corpora = [open_dataset(Dataset(str(tmp_path / f"{name}.jsonl"))) for name in ("english", "french")]
    console = Console(file=io.StringIO(), width=1000)
    warn_of_corpora(corpora, "en", console)
    (line,) = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert line.startswith(f"Warning: {min(size, 50)} of {min(size, 50)} articles of french.jsonl (all) may be")
