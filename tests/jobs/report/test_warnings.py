import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from nws.core.text.dataset import Dataset, open_dataset
from nws.jobs.report.warnings import check_corpora

ENGLISH = "The council has agreed to repair the old bridge before the winter."
FRENCH = "Le conseil municipal a décidé de réparer le vieux pont avant l'hiver."


@pytest.mark.parametrize(("french", "told"), [(0, ""), (1, ""), (2, "2 of 10 articles"), (10, "English (ISO 639: fr)")])
def test_a_text_in_ten_is_no_reason_to_warn(tmp_path: Path, french: int, told: str) -> None:
    texts = [ENGLISH] * (10 - french) + [FRENCH] * french
    rows = [json.dumps({"text": f"{i} {text} {i}", "summary": "S."}) for i, text in enumerate(texts)]
    (tmp_path / "news.jsonl").write_text("\n".join(rows))
    console = Console(file=io.StringIO(), width=1000)
    check_corpora([open_dataset(Dataset(str(tmp_path / "news.jsonl")))], "en", console)
    said = console.file.getvalue()  # type: ignore[attr-defined]
    assert told in said
    assert bool(said) == bool(told)


@pytest.mark.parametrize("size", [2, 120])
def test_one_warning_for_each_dataset(tmp_path: Path, size: int) -> None:
    for name, text in (("english", ENGLISH), ("french", FRENCH)):
        rows = [json.dumps({"text": f"{i} {i}. {text} {i} {i} {i}", "summary": "S."}) for i in range(size)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows))
    corpora = [open_dataset(Dataset(str(tmp_path / f"{name}.jsonl"))) for name in ("english", "french")]
    console = Console(file=io.StringIO(), width=1000)
    check_corpora(corpora, "en", console)
    (line,) = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert line.startswith(f"Warning: {min(size, 50)} of {min(size, 50)} articles of french.jsonl (all) look like")


def told_of(tmp_path: Path, rows: list[dict[str, object]], **settings: object) -> list[str]:
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    corpus = open_dataset(Dataset(str(tmp_path / "x.jsonl"), **settings))  # type: ignore[arg-type]
    console = Console(file=io.StringIO(), width=1000)
    check_corpora([corpus], "en", console)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("marked", "size", "is_told"), [(1, 14, False), (2, 14, True), (9, 1000, False), (10, 1000, True)]
)
def test_marks_are_told_of_unless_hardly_any_text_has_them(
    tmp_path: Path, marked: int, size: int, is_told: bool
) -> None:
    signs = ["&amp;"] * marked + ["and"] * (size - marked)
    rows = [{"text": f"{i}: {ENGLISH} {i} {i} {i}", "summary": f"One {sign} two {i}."} for i, sign in enumerate(signs)]
    told = told_of(tmp_path, rows)
    assert bool(told) == is_told
    about = "such as “One &amp; two 0.”. To remove them: --clean-texts html."
    assert all(f"{marked} of {size} rows of x.jsonl (all) hold HTML, {about}" in line for line in told)
    assert told_of(tmp_path, rows, clean_texts="html") == []


def test_several_references_and_what_is_alike_are_told_of(tmp_path: Path) -> None:
    rows = [
        {"text": f"By. Daily Mail Reporter. {i} {i} {i}", "summary": ["One.", "Two."][: 1 + i % 2]} for i in range(6)
    ]
    alike, references = told_of(tmp_path, rows)[::-1]
    assert alike.startswith('Warning: Of the 6 articles of x.jsonl (all), 6 begin with "By. Daily Mail Reporter.". ')
    assert references.startswith("9 references of 6 articles of x.jsonl (all): the best one counts. ")
    assert references.endswith("--join-references")
    assert told_of(tmp_path, rows, join_references=True) == [alike]


def test_texts_that_stand_again_under_other_ids_are_told_of(tmp_path: Path) -> None:
    rows = [{"id": i, "text": text, "summary": "S."} for i, text in enumerate([ENGLISH, FRENCH, ENGLISH, "", ""])]
    assert any("Texts stand again in 1 of the 5 articles" in line for line in told_of(tmp_path, rows))
    assert not any("stand again" in line for line in told_of(tmp_path, rows[1:]))
