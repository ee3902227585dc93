import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from core.text.dataset import Dataset, open_dataset
from jobs.report.warnings import warn_of_corpora

ENGLISH = "The council has agreed to repair the old bridge before the winter."
FRENCH = "Le conseil municipal a décidé de réparer le vieux pont avant l'hiver."


@pytest.mark.parametrize(("french", "told"), [(0, ""), (1, ""), (2, "2 of 10 articles"), (10, "English (ISO 639: fr)")])
def test_a_text_in_ten_is_no_reason_to_warn(tmp_path: Path, french: int, told: str) -> None:
    texts = [ENGLISH] * (10 - french) + [FRENCH] * french
    rows = [json.dumps({"text": f"{text} {i}", "summary": "S."}) for i, text in enumerate(texts)]
    (tmp_path / "news.jsonl").write_text("\n".join(rows))
    console = Console(file=io.StringIO(), width=1000)
    warn_of_corpora([open_dataset(Dataset(str(tmp_path / "news.jsonl")))], "en", console)
    said = console.file.getvalue()  # type: ignore[attr-defined]
    assert told in said
    assert bool(said) == bool(told)


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
