import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from nws.core.text.dataset import Dataset, open_dataset
from nws.jobs.report.warnings import check_corpora

ENGLISH = "The council has agreed to repair the old bridge before the winter."
FRENCH = "Le conseil municipal a décidé de réparer le vieux pont avant l'hiver."


def rows_of(texts: list[str]) -> list[dict[str, object]]:
    """Rows of which no two begin or end alike, or have one reference."""
    names = [f"{i:014b}".translate({ord("0"): "o", ord("1"): "i"}) for i in range(len(texts))]
    return [{"text": f"{name} {text} {name}", "summary": f"S {name}."} for name, text in zip(names, texts, strict=True)]


def told_of(tmp_path: Path, *files: list[dict[str, object]], **settings: object) -> list[str]:
    corpora = []
    for name, rows in zip("xyz", files, strict=False):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
        corpora.append(open_dataset(Dataset(str(tmp_path / f"{name}.jsonl"), **settings)))  # type: ignore[arg-type]
    console = Console(file=io.StringIO(), width=1000)
    check_corpora(corpora, "en", console)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("french", "told"), [(0, ""), (1, ""), (2, "2 of 10 articles"), (10, "English (ISO 639: fr)")])
def test_a_text_in_ten_is_no_reason_to_warn(tmp_path: Path, french: int, told: str) -> None:
    said = told_of(tmp_path, rows_of([ENGLISH] * (10 - french) + [FRENCH] * french))
    assert [told in line for line in said] == [True] * bool(told)


@pytest.mark.parametrize("size", [2, 120])
def test_one_warning_for_each_dataset(tmp_path: Path, size: int) -> None:
    (line,) = told_of(tmp_path, rows_of([ENGLISH] * size), rows_of([FRENCH] * size))
    looked_at = min(size, 60)  # of 120 every second
    assert line.startswith(f"Warning: {looked_at} of {looked_at} articles of y.jsonl (all) look like another language")


@pytest.mark.parametrize(
    ("marked", "size", "is_reported"), [(1, 14, False), (2, 14, True), (9, 1000, False), (10, 1000, True)]
)
def test_marks_are_told_of_unless_hardly_any_text_has_them(
    tmp_path: Path, marked: int, size: int, is_reported: bool
) -> None:
    signs = ["&amp;"] * marked + ["and"] * (size - marked)
    rows = rows_of([f"{ENGLISH} One {sign} two." for sign in signs])
    told = told_of(tmp_path, rows)
    assert [line.startswith(f"Warning: {marked} of {size} rows of x.jsonl (all) contain HTML") for line in told] == (
        [True] * is_reported
    )
    assert all(line.endswith("To remove it, use --clean-texts html with nws submit or nws score.") for line in told)
    assert told_of(tmp_path, rows, clean_texts="html") == []


def test_references_that_may_be_sentences_are_told_of_unless_they_are_joined(tmp_path: Path) -> None:
    rows = [row | {"summary": [f"One {i}.", f"Two {i}."]} for i, row in enumerate(rows_of([ENGLISH] * 6))]
    (line,) = told_of(tmp_path, rows)
    assert line.endswith(
        "If they are the sentences of one reference, use --join-references with nws submit or nws score."
    )
    assert told_of(tmp_path, rows, join_references=True) == []
