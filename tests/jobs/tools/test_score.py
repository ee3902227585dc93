"""What `nws score` reads, computes and writes, without the command line (that is in test_cli.py)."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from rouge_score.rouge_scorer import RougeScorer

from nws.core.errors import CorpusError, LanguageError, RecipeError
from nws.core.metrics.config import Options
from nws.core.metrics.kept import kinds_of
from nws.core.metrics.metric import Row
from nws.core.text.reader import read_rows
from nws.core.text.text_marks import AS_IT_IS, Preparation
from nws.core.text.tokenizers import EnglishTokenizer
from nws.jobs.tools.score import FileScore, print_score, read_scored, row_lines, score_rows, to_predictions

ENGLISH = EnglishTokenizer()


def score_file(path: Path, names: list[str], options: Options, seed: int) -> FileScore:
    return score_rows(str(path), read_rows(path), names, options, seed)


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_reads_jsonl(tmp_path: Path) -> None:
    file = written(
        tmp_path / "p.jsonl",
        {"id": 7, "prediction": "a cat", "reference": "a cat sat", "source": "A cat sat down."},
        {"prediction": "", "references": ["one", " ", "two"]},
        {"prediction": "x\u0000\ud800", "summaries": ["three"], "source": None},
    )
    found = to_predictions("p", read_rows(file), ENGLISH, None, AS_IT_IS)
    assert [prediction.id for prediction in found] == [7, None, None]
    assert [prediction.row for prediction in found] == [
        Row("a cat", ("a cat sat",), "A cat sat down."),
        Row("", ("one", "two")),
        Row("x\ufffd\ufffd", ("three",)),
    ]


GOOD = json.dumps({"prediction": "a", "reference": "a"})


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("p.jsonl", f"{GOOD}\n{{", r"p\.jsonl, line 2: not valid JSON"),
        ("p.jsonl", GOOD + '\n{"reference": "a"}', r"line 2: Field 'prediction' is missing; the fields are: reference"),
        ("p.jsonl", GOOD + '\n{"prediction": 3, "reference": "a"}', r"line 2: Field 'prediction' holds 3, not text"),
        ("p.jsonl", GOOD + '\n{"prediction": "a"}', r"line 2: There is no reference: none of the fields references"),
        ("p.jsonl", GOOD + '\n{"prediction": "a", "references": [" "]}', r"line 2: There is no reference"),
        ("p.jsonl", GOOD + '\n{"prediction": "a", "reference": 5}', r"line 2: Field 'reference' holds 5, not text"),
        ("p.jsonl", GOOD + '\n{"prediction": "a", "reference": "a", "source": 1}', r"Field 'source' holds 1, not"),
        ("p.jsonl", "", r"p\.jsonl holds no row"),
        ("p.csv", "prediction,text\na,b\n", r"p\.csv, line 2: There is no reference"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(CorpusError, match=message):
        score_file(tmp_path / name, ["rouge1"], Options(), 0)


def test_thoughts_languages_and_nothing_are_counted_and_refuse_no_file(tmp_path: Path) -> None:
    texts = ["<think>Hm.</think>A **cat** sat.", "A cat sat.", "<think>Hm", float("nan"), None, "一只猫坐着。"]
    file = written(tmp_path / "p.jsonl", *({"prediction": text, "reference": "A cat sat."} for text in texts))
    score = score_file(file, ["rouge1", "bleu", "sacrebleu", "chrf", "meteor", "efficiency"], Options(), 0)
    assert score.metrics["rouge1"].rows[:, 2].tolist() == [1, 1, 0, 0, 0, 0]
    told = ["3 of 6 predictions .* have no word", "1 of 6 .*ISO 639: zh", "6 of 6 .* that other articles have, too"]
    told += ["1 of 6 .* end within their thoughts, such as “row 3”", "1 of 6 .* contained the thoughts of a model"]
    assert [bool(re.search(begins, line)) for begins, line in zip(told, score.notes, strict=True)] == [True] * 5
    kept = score_rows("p", read_rows(file), ["rouge1"], Options(), 0, clean_outputs=()).metrics["rouge1"]
    assert (kept.signature, kept.rows[0, 2]) != (score.metrics["rouge1"].signature, 1)


def test_korean_is_refused_with_the_flag_to_use(tmp_path: Path) -> None:
    row = {"prediction": "고양이가 매트 위에 있다", "reference": "고양이가 매트 위에 있다"}
    file = written(tmp_path / "p.jsonl", {"prediction": "a", "reference": "a"}, row)
    for name in ("rouge1", "bleu", "meteor", "sacrebleu", "bertscore"):
        with pytest.raises(LanguageError, match=r"p\.jsonl, line 2: .*language `ko`"):
            score_file(file, [name], Options(), 0)
    korean = written(tmp_path / "k.jsonl", row)
    found = score_file(korean, ["rouge1", "bleu"], Options(lang="ko", tokenizer="char"), 0).as_dict()
    assert found["metrics"] == {"rouge1": {"precision": 1, "recall": 1, "f1": 1}, "bleu": {"score": 1}}


GERMAN, CHINESE = "Die Brücke schließt am Montag, Fußgänger müssen die Fähre nehmen.", "桥关闭。"
ACCENTED = "The café of Zoë Müller in São Paulo closes on Monday, the mayor said."


@pytest.mark.parametrize(
    ("references", "chosen", "tokenizer"),
    [
        *(([GERMAN, GERMAN, ACCENTED], {}, "unicode"), ([CHINESE], {}, "unicode")),
        *(([GERMAN, ACCENTED], {}, "rouge_score"), ([ACCENTED], {}, "rouge_score")),
        ([GERMAN], {"lang": "en"}, "rouge_score"),
        ([GERMAN], {"tokenizer": "char"}, "char"),
    ],
)
def test_the_references_choose_the_tokenizer(
    nws, tmp_path: Path, references: list[str], chosen: dict[str, str], tokenizer: str
) -> None:
    file = written(tmp_path / "p.jsonl", *({"prediction": ACCENTED, "reference": text} for text in references))
    found = nws("score", str(file), "--json", *(word for name in chosen for word in (f"--{name}", chosen[name])))
    assert f"|tok:{tokenizer}" in found.json["signatures"]["rouge1"]
    assert found.err.count("the tokenizer unicode splits the words") == (tokenizer == "unicode")
    options = Options(**{"lang": "en", "tokenizer": tokenizer} | chosen)
    assert found.json["metrics"] == score_file(file, ["rouge1", "rouge2", "rougeL"], options, 0).as_dict()["metrics"]


def test_other_metrics_follow_the_tokenizer_of_the_references(tmp_path: Path) -> None:
    file = written(tmp_path / "p.jsonl", {"prediction": CHINESE, "reference": CHINESE})
    found = score_file(file, ["bleu2", "sacrebleu"], Options(), 0).as_dict()
    assert found["metrics"]["bleu2"]["score"] == 1
    assert "tok:char" in found["signatures"]["sacrebleu"]
    with pytest.raises(RecipeError, match="stemmer is for English"):
        score_file(file, ["rouge1"], Options(stemmer=True), 0)


def test_density_needs_a_source_in_every_row(tmp_path: Path) -> None:
    file = written(tmp_path / "p.jsonl", {"prediction": "a", "reference": "a", "source": "a"}, json.loads(GOOD))
    with pytest.raises(CorpusError, match=r"p\.jsonl, line 2: Field 'source' is missing or empty: density"):
        score_file(file, ["rouge1", "density"], Options(), 0)


def test_the_numbers_are_the_means_with_intervals(tmp_path: Path, sample_rows: list[dict[str, str]]) -> None:
    pairs = [(" ".join(row["article"].split()[:40]), row["highlights"]) for row in sample_rows]
    file = written(tmp_path / "p.jsonl", *({"prediction": p, "reference": r} for p, r in pairs))
    found = score_file(file, ["rouge1", "bleu", "sacrebleu"], Options(), seed=3).as_dict()
    keys = ["rows", "metrics", "intervals", "interval_methods", "signatures", "seed", "kept_by_kind", "word_kinds"]
    assert list(found) == keys
    assert (found["kept_by_kind"], found["word_kinds"]) == ({}, "")
    assert found["interval_methods"] == {"rouge1": "student-t", "bleu": "bootstrap", "sacrebleu": "bootstrap"}
    assert (found["rows"], found["seed"]) == (len(pairs), 3)
    scorer = RougeScorer(["rouge1"])
    expected = np.mean([scorer.score(r, p)["rouge1"] for p, r in pairs], axis=0)
    assert list(found["metrics"]["rouge1"].values()) == pytest.approx(expected.tolist())
    # With one reference, and matches of every order, the two BLEUs differ in their scale only.
    assert found["metrics"]["sacrebleu"]["score"] == pytest.approx(100 * found["metrics"]["bleu"]["score"])
    assert found["signatures"]["sacrebleu"].startswith("nrefs:1|")
    for name, parts in found["intervals"].items():
        for part, (low, high) in parts.items():
            assert low < found["metrics"][name][part] < high
    again = score_file(file, ["rouge1", "bleu", "sacrebleu"], Options(), seed=3).as_dict()
    assert again == found
    other = score_file(file, ["rouge1", "bleu"], Options(), seed=4).as_dict()["intervals"]
    assert other["rouge1"] == found["intervals"]["rouge1"]
    assert other["bleu"] != found["intervals"]["bleu"]


def test_the_mean_over_rows_is_the_score_of_those_metrics_that_say_so(tmp_path: Path) -> None:
    rows = [
        {"prediction": f"a b c d {i} e", "reference": f"a b c d{' e' * (i % 4)} f", "source": "a b"} for i in range(12)
    ]
    names = ["rouge1", "rougeLsum", "density", "bleu", "sacrebleu", "chrf", "meteor", "dialogsum"]
    score = score_file(written(tmp_path / "p.jsonl", *rows), names, Options(), seed=0)
    for name, metric in score.metrics.items():
        found = [interval.mean for interval in metric.intervals.values()]
        assert (found == pytest.approx(metric.rows.mean(axis=0).tolist())) == (metric.method == "student-t"), name


@pytest.mark.parametrize("row", [{"references": [], "reference": "a"}, {"references": "", "summary": "a"}])
def test_the_first_field_that_holds_a_reference_counts(tmp_path, row):
    file = tmp_path / "p.jsonl"
    file.write_text(json.dumps({"prediction": "a", **row}) + "\n")
    assert score_file(file, ["rouge1"], Options(), 0).as_dict()["metrics"]["rouge1"]["f1"] == 1.0


@pytest.mark.parametrize("name", ["bertscore", "efficiency"])
def test_a_backbone_must_read_the_texts(tmp_path: Path, tiny_models: dict[str, Path], name: str) -> None:
    file = written(tmp_path / "p.jsonl", {"prediction": "나는 학교에 갔다", "reference": "정부는 예산을 줄였다"})

    def scored(architecture: str) -> FileScore:
        options = Options(tokenizer="char", bertscore_model=str(tiny_models[architecture]), bertscore_layer=2)
        return score_file(file, [name], options, 0)

    with pytest.raises(RecipeError, match=r"tiny-bert cannot read these texts: .* 100 % of") as refused:
        scored("bert")
    assert refused.value.settings == ("bertscore_model",)
    assert set(scored("multilingual").metrics) == {name}


def test_each_row_has_its_scores_and_a_row_alone_no_interval(tmp_path: Path) -> None:
    rows = [{"id": "한", "prediction": "a b", "reference": "a b"}, {"prediction": "a", "reference": "b"}]
    one, other = row_lines({"": score_file(written(tmp_path / "p.jsonl", *rows), ["rouge1", "bleu2"], Options(), 0)})
    rouge = {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert one == {"row": 1, "id": "한", "words": 2, "metrics": {"rouge1": rouge, "bleu2": {"score": 1.0}}}
    assert (other["row"], other["id"], other["metrics"]["bleu2"]) == (2, None, {"score": 0.0})
    alone = score_file(written(tmp_path / "p.jsonl", rows[0]), ["rouge1"], Options(), 0)
    assert alone.as_dict()["intervals"]["rouge1"]["f1"] == [None, None]


def test_each_system_of_a_file_has_scores_of_its_own(nws, tmp_path: Path) -> None:
    rows = [
        {"id": i, "system": name, "prediction": text, "reference": "a b"}
        for name, text in (("good", "a b"), ("bad", "c d"))
        for i in (1, 2)
    ]
    both, good = (
        str(written(tmp_path / name, *some)) for name, some in (("both.jsonl", rows), ("good.jsonl", rows[:2]))
    )
    found = nws("score", both, "-m", "rouge1,bleu2", "--json", "--per-row", "rows.jsonl").json["systems"]
    assert found["good"] == nws("score", good, "-m", "rouge1,bleu2", "--json").json
    assert {name: of_system["metrics"]["rouge1"]["f1"] for name, of_system in found.items()} == {"good": 1, "bad": 0}
    lines = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [(line["system"], line["row"]) for line in lines] == [("good", 1), ("good", 2), ("bad", 1), ("bad", 2)]
    first, *lines = nws("score", both, "-m", "rouge1").out.splitlines()
    printed = [line.split() for line in lines]
    assert first == "4 rows of 2 systems, seed 0"
    assert ["good", "2", "1.0000"] in printed
    assert ["bad", "2", "0.0000"] in printed


def test_rows_to_score_as_other_tools_write_them(tmp_path: Path) -> None:
    hypo, target, samples = (tmp_path / name for name in ("test.hypo", "test.target", "samples.jsonl"))
    hypo.write_text("One.\nTwo.\n")
    target.write_text("1.\n2.\n")
    row = {
        "doc": {"id": "a", "highlights": "Other."},
        "target": "1.",
        "filtered_resps": ["One."],
        "resps": [["Three."]],
    }
    samples.write_text(json.dumps(row))

    def read(path: Path, text: str | None, told: str | None, file: str | None) -> list[tuple[object, ...]]:
        found = to_predictions("p", read_scored(path, (text, told), file), ENGLISH, None, AS_IT_IS)
        return [(one.id, one.row.prediction, one.row.references) for one in found]

    assert read(hypo, None, None, str(target)) == [(None, "One.", ("1.",)), (None, "Two.", ("2.",))]
    assert read(samples, None, None, None) == [("a", "One.", ("1.",))]
    assert read(samples, "resps.0.0", "doc.highlights", None) == [("a", "Three.", ("Other.",))]
    target.write_text("1.\n")
    with pytest.raises(CorpusError, match=r"test\.hypo has 2 rows, but .*test\.target has 1 lines"):
        read(hypo, None, None, str(target))
    with pytest.raises(CorpusError, match="has no row whose id is 'a'"):
        read(samples, None, None, str(samples))


@pytest.mark.parametrize("mark", [" <q> ", " [SEP] ", "<br>", "\\n", "&lt;n&gt;"])
def test_texts_are_cleaned_and_references_joined_and_signatures_say_so(tmp_path: Path, mark: str) -> None:
    pair = ["A storm came. It took ten roofs.", "Ten roofs fell. A storm came by."]
    names = ["rouge1", "rougeLsum"]

    def scored(between: str, preparation: Preparation, is_list: bool = False) -> FileScore:
        prediction, reference = (text.replace(". ", f".{between}") for text in pair)
        row = {"prediction": prediction, "references": reference.split(between) if is_list else reference}
        return score_rows("p", [("row 1", row)], names, Options(), 0, (), preparation)

    lines = scored("\n", AS_IT_IS)
    cleaned = scored(mark, Preparation("html,marks"))
    joined = scored(mark, Preparation(["marks", "html"], join_references=True), is_list=True)
    for name in names:
        assert np.array_equal(lines.metrics[name].rows, cleaned.metrics[name].rows)
        assert np.array_equal(lines.metrics[name].rows, joined.metrics[name].rows)
        assert cleaned.metrics[name].signature == f"{lines.metrics[name].signature}|clean:html+marks"
        assert joined.metrics[name].signature == f"{cleaned.metrics[name].signature}|references:joined"


def test_rows_of_one_id_and_prediction_are_one_row_with_the_references_of_all(tmp_path: Path) -> None:
    rows = [{"id": 1, "prediction": "A cat.", "reference": text} for text in ("A cat.", "A dog.", "A cat.")]
    file = written(tmp_path / "p.jsonl", rows[0], rows[1], {**rows[0], "id": "2 "}, {**rows[2], "id": 1.0})
    score = score_file(file, ["rouge1"], Options(), 0)
    assert [one.row.references for one in score.predictions] == [("A cat.", "A dog."), ("A cat.",)]
    assert score.notes[0].startswith("Left out: 2 rows, because another row has the same id and prediction")
    again = written(tmp_path / "again.jsonl", rows[0], {**rows[1], "prediction": "A dog."})
    with pytest.raises(CorpusError, match=r"again\.jsonl, line 2: an earlier row has the id 1 and another"):
        score_file(again, ["rouge1"], Options(), 0)
    systems = written(tmp_path / "s.jsonl", *({**rows[0], "system": name, "prediction": name} for name in "ab"))
    assert len(score_file(systems, ["rouge1"], Options(), 0).predictions) == 2
    without = written(tmp_path / "none.jsonl", *({**row, "id": None} for row in rows))
    assert len(score_file(without, ["rouge1"], Options(), 0).predictions) == 3


def test_all_references_of_an_id_count(tmp_path: Path) -> None:
    file = written(tmp_path / "p.jsonl", {"id": "1", "prediction": "A cat."}, {"id": "2", "prediction": "A dog."})
    texts = (1.0, "A cat."), (2, "A dog."), (1, "The end."), (2, "A dog.")
    references = written(tmp_path / "r.jsonl", *({"id": key, "summary": text} for key, text in texts))
    found = to_predictions("p", read_scored(file, (None, None), str(references)), ENGLISH)
    assert [one.row.references for one in found] == [("A cat.", "The end."), ("A dog.",)]


@pytest.mark.parametrize("key", ["key", "fname"])
def test_a_key_of_another_usual_name_is_the_id(tmp_path: Path, key: str) -> None:
    rows = [{key: 1, "prediction": "A cat.", "reference": text} for text in ("A cat.", "A dog.")]
    file = written(tmp_path / "p.jsonl", *rows)
    (found,) = to_predictions("p", read_scored(file, (None, None), None), ENGLISH)
    assert found.row.references == ("A cat.", "A dog.")
    table = pd.DataFrame({key: ["1"], "summary": ["A dog."], "picture": [b"\xff"]})  # no text, and not needed
    table.to_parquet(tmp_path / "r.parquet")
    (found,) = to_predictions("p", read_scored(file, (None, None), str(tmp_path / "r.parquet")), ENGLISH)
    assert (found.id, found.row.references) == (1, ("A dog.",))


SAMPLES = ["A storm took ten roofs in Hull.", "Nobody came.", "Shares fell on Monday."]
SENTENCES = ["A storm took", "ten roofs in Hull."]


@pytest.mark.parametrize("name", ["p.jsonl", "p.csv"])
def test_lists_that_look_like_samples_are_told_of_and_the_first_can_be_taken(tmp_path: Path, name: str) -> None:
    def score(parts: list[str], *lists: str) -> FileScore:
        pd.DataFrame({"prediction": [parts] * 3, "reference": SAMPLES[0]}).to_csv(tmp_path / "p.csv", index=False)
        written(tmp_path / "p.jsonl", *({"prediction": parts, "reference": SAMPLES[0]} for _ in range(3)))
        return score_rows("p", read_rows(tmp_path / name), ["rouge1"], Options(), 0, (), Preparation((), False, *lists))

    samples, first, sentences = score(SAMPLES), score(SAMPLES, "first"), score(SENTENCES)
    assert [one.predictions[0].row.prediction for one in (samples, first)] == [" ".join(SAMPLES), SAMPLES[0]]
    (told,) = (line for line in samples.notes if "samples" in line)
    assert told.startswith("Warning: 3 of 3 predictions of p are lists that look like samples, such as “A storm took")
    assert not any("samples" in line for line in (*first.notes, *sentences.notes))
    assert "|list_predictions=first" in first.metrics["rouge1"].signature
    assert "list_predictions" not in samples.metrics["rouge1"].signature


def test_what_is_kept_of_each_kind_of_word(tmp_path: Path, sample_rows: list[dict[str, str]], word_kinds: str) -> None:
    rows = [{"prediction": row["highlights"], "reference": row["highlights"]} for row in sample_rows]
    whole, none = (
        score_file(written(tmp_path / "p.jsonl", *of), ["kept"], Options(), seed=0)
        for of in (rows, [row | {"prediction": "x"} for row in rows])
    )
    assert [round(kept.interval.mean, 4) for kept in whole.kinds.values()] == [1] * len(whole.kinds)
    assert len(whole.kinds) == 8
    assert all(abs(kept.interval.mean) < 0.1 for kept in none.kinds.values())
    told = whole.as_dict()
    assert (told["word_kinds"], told["kept_by_kind"]["who"]["rows"]) == (word_kinds, whole.kinds["who"].articles)
    console = Console(file=io.StringIO(), width=120)
    print_score({"mine": whole, "theirs": none}, console)
    shown = console.file.getvalue()
    assert re.search(r"Content kept by kind of word.*\n.*kind +mine +theirs", shown)
    assert re.search(r"names +100", shown)
    assert "A share without an interval: fewer than 20 references have" in shown
    assert "kept by kind|en_core_web_sm" in shown.replace("\n", "")
    korean = {"prediction": "시장이 다리를 닫았다", "reference": "시장이 다리를 닫았다"}
    assert kinds_of(Options(lang="ko")) == ""
    assert score_file(written(tmp_path / "k.jsonl", korean), ["rouge1"], Options(lang="ko"), seed=0).kinds == {}
