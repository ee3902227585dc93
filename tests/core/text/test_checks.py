"""What every check finds, and that plain texts have nothing of it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from nws.core.text.checks.all_checks import CHECKS, Finding, check_rows, finding_lines
from nws.core.text.checks.finding import CheckedRow, Context
from nws.core.text.checks.sentences import SENTENCES

PLACES = ["Hull", "Dover", "Leeds", "York", "Bath", "Derby", "Exeter", "Luton", "Oxford", "Poole", "Ripon", "Truro"]
PLACES += ["Wells", "Ely"]
ENGLISH = Context("en")


def article(place: str) -> str:
    return f"{place} will repair its old bridge in spring. The council of {place} has the money for {place}."


def rows(
    article_has: str = "{}", reference_has: str = "{}", prediction_has: str | None = None, some: int = 14
) -> Iterator[CheckedRow]:
    """Rows of which the first `some` have something in a text, in place of `{}`."""
    for i, place in enumerate(PLACES):
        has = [text if i < some and text is not None else "{}" for text in (article_has, reference_has, prediction_has)]
        texts = (article(place), f"{place} mends a bridge in spring.", f"Bridge of {place}: the council has money.")
        made = [form.replace("{}", text) for form, text in zip(has, texts, strict=True)]
        yield CheckedRow(place, made[0], (made[1],), None if prediction_has is None else made[2])


def found(rows: Iterator[CheckedRow], context: Context = ENGLISH) -> list[Finding]:
    return check_rows(rows, "x", context)


@pytest.mark.parametrize(
    ("name", "prediction"),
    [
        ("html", "{} Tom &amp; Ann."),
        ("marks", "{} [SEP] <q> "),
        ("ptb", "-LRB- x -RRB- {}"),
        ("subwords", "bri@@ dge {}"),
        ("subwords", "{} ▁the ▁bridge"),
        ("subwords", "{} brid ##ges"),
        ("subwords", "{} Ġthe Ġbridge"),
        *(
            ("special_tokens", f"{{}} {token}")
            for token in ("<extra_id_0>", "[/INST]", "<end_of_turn>", "<unk>", "[MASK]")
        ),
        ("ligatures", "{} oﬃcial"),
        ("hyphens", "{} coun-\ncillors"),
        ("escapes", r"{} the town\u2019s"),
        ("mojibake", "{} the townâ€™s"),
        ("mojibake", "{} cafÃ©"),
        ("bbcode", "[b]{}[/b]"),
        ("formulas", "{} @xmath12"),
        ("no_words", "..."),
        ("placeholder", "N/A"),
        ("placeholder", "No summary available."),
        ("language", "Le conseil municipal a décidé de réparer le vieux pont avant l'hiver prochain. {}"[:-2]),
        ("opening", "Here is a summary: {}"),
        ("markdown", "**{}**"),
        ("common_prediction", "I cannot"),
    ],
)
def test_what_half_of_the_predictions_have_is_found(name: str, prediction: str) -> None:
    of = [finding for finding in found(rows(prediction_has=prediction, some=7)) if finding.check == name]
    assert [(finding.count, finding.total) for finding in of] == [(7, 14)]
    assert str(of[0]).startswith("7 of 14 ")


def test_plain_rows_have_nothing() -> None:
    assert found(rows(prediction_has="{}")) == []
    rich = "{} R&D, 5 < 6, the ##th, Ġorġ Borg, pre- and post-war, C:\\users, [I]t, <John>, a 20-year-old, exposé, ﬂ"[
        :-3
    ]
    assert found(rows(prediction_has=rich)) == []


def test_one_text_in_fourteen_may_be_chance() -> None:
    assert found(rows(prediction_has="{} &amp;", some=1)) == []


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("beginning", [CheckedRow(p, f"By. Daily Mail Reporter. {article(p)}") for p in PLACES]),
        ("beginning", [CheckedRow(p, f"Share with{' ' * (i % 2)}Email {article(p)}") for i, p in enumerate(PLACES)]),
        ("end", [CheckedRow(p, f"{article(p)} Follow us on Twitter.") for p in PLACES]),
        ("same_text", [CheckedRow(f"{p}{i}", article(p), (f"{i}",)) for p in PLACES for i in (1, 2)]),
        ("same_prediction", [CheckedRow(p, None, (str(i),), f"Of {p}.") for p in PLACES for i in (1, 2)]),
        ("several_references", [CheckedRow(p, article(p), (f"Of {p}.", f"Of {p} and us.")) for p in PLACES]),
        ("common_reference", [CheckedRow(p, article(p), ("Bridge is mended.",)) for p in PLACES]),
        ("begins_article", [CheckedRow(p, article(p), (article(p),)) for p in PLACES]),
        ("begins_article", [CheckedRow(p, article(p), (f"{p} will repair its old bridge",)) for p in PLACES]),
        ("repeats_article", [CheckedRow(p, article(p), (), f"Summarise: {article(p)} TL;DR: {p}") for p in PLACES]),
        ("cut_thoughts", [CheckedRow(p, None, (), "", f"<think>Of {p}") for p in PLACES]),
        ("thoughts", [CheckedRow(p, None, (), f"{p}.", f"<think>Of</think>{p}.") for p in PLACES]),
    ],
)
def test_what_rows_have_together_is_found(name: str, changed: list[CheckedRow]) -> None:
    (of,) = [finding for finding in found(iter(changed)) if finding.check == name]
    assert (of.detail, of.count >= len(PLACES) - 1) == ("", True)


@pytest.mark.parametrize(("step", "where"), [(1, "next"), (-1, "previous")])
def test_references_of_the_neighbouring_article_are_found(step: int, where: str) -> None:
    shifted = (CheckedRow(p, article(p), (f"{PLACES[(i + step) % 14]} mends it.",)) for i, p in enumerate(PLACES))
    assert [(one.check, one.detail, one.count >= 13) for one in found(shifted)] == [("shifted_references", where, True)]


def test_every_check_has_a_name_of_its_own_and_a_sentence_with_advice() -> None:
    assert len({(check.name, check.part) for check in CHECKS}) == len(CHECKS)
    assert {check.name for check in CHECKS} == set(SENTENCES)
    for sentence in SENTENCES.values():
        assert re.fullmatch(r"[^.]+\{such\}\. [A-Z].+\.", sentence)


def test_what_several_systems_have_is_one_line() -> None:
    of_articles = [Finding("end", "articles", "n.jsonl", 5, 9, example) for example in ("Share.", "Like.")]
    of_systems = [Finding("html", "predictions", name, i, 9, "<p>") for i, name in enumerate("xyz", start=4)]
    first, second, systems = finding_lines([*of_articles, *of_systems])
    assert [first, second] == list(map(str, of_articles))
    assert systems == f"{of_systems[0]} The same check found something in y (5 of 9), z (6 of 9)."


def test_references_are_counted_by_their_articles() -> None:
    copies = [CheckedRow(p, article(p), (article(p), f"{p} and us.")) for p in PLACES]
    told = [str(finding) for finding in found(iter(copies))]
    assert told[0].startswith("14 of 14 articles of x have several references, such as “Hull with 2”. ")
    assert told[1].startswith("14 of 14 articles of x have references that repeat the beginning of their article, or")


def test_an_empty_article_has_no_word_and_an_unknown_one_is_not_looked_at() -> None:
    empty = [CheckedRow(p, "" if p == "Ely" else article(p), (f"Of {p}.",)) for p in PLACES]
    assert [(one.check, one.count, one.example) for one in found(iter(empty))] == [("no_words", 1, "(empty)")]
    assert found(CheckedRow(p, None, (f"Of {p}.",)) for p in PLACES) == []


def test_rows_with_one_article_have_no_words_in_common_with_each_other() -> None:
    names = {one.check for one in found(CheckedRow(str(i), article("Ely"), (f"Of {i} places.",)) for i in range(20))}
    assert names == {"same_text"}


def test_an_end_is_found_whatever_number_stands_in_it() -> None:
    ends = [CheckedRow(p, f"{article(p)} © {1999 + i} The Evening Echo. Page {i}") for i, p in enumerate(PLACES)]
    assert [one.check for one in found(iter(ends))] == ["end"]


def test_empty_predictions_are_no_common_text() -> None:
    assert [one.check for one in found(CheckedRow(p, None, (), "") for p in PLACES)] == ["no_words"]


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("cnn_dailymail", {"ptb", "lower_cased"}),
        ("frank_cnn", set()),
        ("frank_xsum", {"beginning", "mojibake", "lower_cased"}),  # the originals have “willâ€¦”, too
        ("gigaword", {"ptb", "same_text", "lower_cased"}),
        ("dialogsum", {"several_references"}),
    ],
)
def test_real_datasets_get_no_false_finding(shared_data: Path, file: str, expected: set[str]) -> None:
    read = [json.loads(line) for line in (shared_data / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = [next(row[name] for name in ("article", "document", "dialogue", "text") if name in row) for row in read]
    references = [next(row[name] for name in ("highlights", "summary", "summaries") if name in row) for row in read]
    made = [
        CheckedRow(row["id"], text, (of,) if isinstance(of, str) else of)
        for row, text, of in zip(read, texts, references, strict=True)
    ]
    findings = check_rows(made, file, Context("en", every=10))
    assert {finding.check for finding in findings} == expected
    if file == "frank_xsum":
        assert max(finding.count for finding in findings if finding.check == "beginning") == 18
