"""Two systems by files of predictions: each metric's difference, interval and p, and what is left out."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from rich.console import Console

import nws as api
from nws.core.analysis import sign_flip
from nws.core.errors import CorpusError, RecipeError
from nws.core.text.dataset import Dataset
from nws.jobs.tools.compare_texts import (
    TextsComparison,
    compare_files,
    compare_texts,
    print_texts_comparison,
    sentences,
)

ARTICLES = [
    {"id": f"a{i}", "article": f"The {name} in {town} closes after {i + 3} years, said its owner.", "summary": text}
    for i, (name, town, text) in enumerate(
        [
            ("bakery", "Corwen", "A bakery in Corwen closes."),
            ("school", "Hull", "Hull loses a school."),
            ("ferry", "Larne", "The ferry from Larne stops."),
            ("mine", "Essen", "Essen shuts its mine."),
        ]
    )
]


def written(folder: Path, name: str, rows: list[dict[str, object]]) -> str:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(folder / name)


@pytest.fixture
def news(tmp_path: Path) -> Dataset:
    return Dataset(written(tmp_path, "news.jsonl", ARTICLES), "test")


def own(name: str) -> list[dict[str, object]]:
    texts = {"good": [row["summary"] for row in ARTICLES], "bad": ["It rained."] * 4}[name]
    return [{"id": row["id"], "prediction": text} for row, text in zip(ARTICLES, texts, strict=True)]


def test_two_files_are_compared_by_id_and_what_does_not_fit_is_counted(news: Dataset, tmp_path: Path) -> None:
    good = written(tmp_path, "good.jsonl", [*reversed(own("good")), {"id": "none", "prediction": "x"}])
    bad = written(tmp_path, "bad.jsonl", own("bad")[1:])
    found = compare_files([good, bad], news)
    assert (found.a, found.b, found.unknown, found.missing) == ("good", "bad", 1, 1)
    assert list(found.rows) == ["kept", "bertscore_f1", "rouge1_f1", "rouge2_f1", "rougel_f1", "words"]
    assert found.rows["rouge1_f1"].mean_a == 1
    assert all(at.articles == 3 for at in found.rows.values())
    assert found.rows["words"].difference.mean == pytest.approx(found.rows["words"].mean_a - 2)


def test_one_file_has_several_systems(news: Dataset, tmp_path: Path) -> None:
    rows = [row | {"system": name} for name in ("bad", "good") for row in own(name)]
    both = written(tmp_path, "both.jsonl", rows)
    assert [compare_files([both], news, best_first=best).a for best in (False, True)] == ["bad", "good"]
    assert compare_files([both], news, ("good", "bad")).a == "good"
    with pytest.raises(RecipeError, match=r"no system 'mine' in the files\. They have bad, good\."):
        compare_files([both], news, ("mine", "bad"))
    three = written(tmp_path, "three.jsonl", [*rows, *(row | {"system": "third"} for row in own("bad"))])
    with pytest.raises(RecipeError, match=r"the files have 3 systems: bad, good, third\. Name two with --system A"):
        compare_files([three], news)
    with pytest.raises(CorpusError, match="line 5: line 1 has the id 'a0', too"):
        compare_files([written(tmp_path, "twice.jsonl", [*own("good"), own("bad")[0]])], news)
    with pytest.raises(RecipeError, match=r"Two systems are called 'good'\. Name one before its file: name=file\."):
        compare_files([both, written(tmp_path, "good.jsonl", own("good"))], news, ("good", "bad"))
    mine = f"mine={written(tmp_path, 'good.jsonl', own('good'))}"
    assert compare_files([both, mine], news, ("mine", "bad")).a == "mine"


def test_ids_of_other_articles_are_told_beside_those_of_the_dataset(news: Dataset, tmp_path: Path) -> None:
    files = [written(tmp_path, f"{name}.jsonl", [{"id": "x", "prediction": "y"}]) for name in ("one", "two")]
    with pytest.raises(
        CorpusError, match=r"ids of the predictions look like 'x'; the articles' ids look like 'a0', 'a1'"
    ):
        compare_files(files, news)


def test_turned_around_every_number_has_the_other_sign(news: Dataset, tmp_path: Path) -> None:
    files = [written(tmp_path, f"{name}.jsonl", own(name)) for name in ("bad", "good")]
    found, turned = (compare_files(files, news, best_first=best) for best in (False, True))
    assert (turned.a, turned.b) == (found.b, found.a)
    for metric, at in turned.rows.items():
        other = found.rows[metric]
        assert (at.difference.mean, at.wins, at.mean_a) == (-other.difference.mean, other.losses, other.mean_b)
        assert at.p == other.p


THINGS = ("snow", "trams", "bread", "ships", "goats", "mines", "wool", "bees", "salt", "coal", "corn", "milk")
TEXTS = [f"In week {i} we read about {word}." for i, word in enumerate((*THINGS, *reversed(THINGS)))]


def shown(found: TextsComparison) -> str:
    console = Console(width=300, record=True, file=io.StringIO())
    print_texts_comparison(found, console)
    return console.export_text()


@pytest.mark.parametrize(
    ("articles", "caution", "has_verdict"),
    [
        (6, "With 6 articles, no interval is printed and nothing is called significant", False),
        (19, "With 19 articles, the intervals understate the uncertainty and nothing is called significant", False),
        (20, "With 20 articles, the intervals understate the uncertainty: treat them as indicative.", True),
    ],
)
def test_few_articles_have_a_caution_in_place_of_a_verdict(articles: int, caution: str, has_verdict: bool) -> None:
    """A plain difference with a small p is not said to be none."""
    texts = TEXTS[:articles]
    found = compare_texts(texts, ["x"] * articles, [[text] for text in texts], ("mine", "theirs"))
    *verdict, paper = sentences(found)
    assert [line.startswith("mine keeps significantly more content than") for line in verdict] == [True] * has_verdict
    assert paper.startswith(f"On {articles} articles, mine keeps 100.0 % and theirs ")
    assert ("95 % CI" in paper) == (articles >= 10)
    assert caution in shown(found)


def test_verdicts_of_skewed_differences_have_a_warning() -> None:
    """8 of 24 texts are better, and the others equal."""
    found = compare_texts(TEXTS, ["", "", "", *TEXTS[3:19], "", "", "", "", ""], [[text] for text in TEXTS])
    assert found.rows["kept"].significant
    told = " ".join(shown(found).split())
    assert "The comparisons by content kept, BERTScore F1, ROUGE-1 F1" in told


def test_no_zero_has_a_minus() -> None:
    found = compare_texts(TEXTS, TEXTS, [[text] for text in TEXTS])
    at = replace(found.rows["kept"], mean_b=-1e-9)
    assert "-0.0" not in shown(replace(found, rows={**found.rows, "kept": at}))


def test_what_is_odd_in_the_texts_of_a_file_is_told_with_its_system(nws, news: Dataset, tmp_path: Path) -> None:
    empty = [row | {"prediction": ""} for row in own("bad")]
    files = [written(tmp_path, "good.jsonl", own("good")), written(tmp_path, "bad.jsonl", empty)]
    told = nws("compare", *files, "--dataset", news.name)
    assert "4 of 4 predictions of bad have no word, such as “(empty)”. An article without words fails" in " ".join(
        told.err.split()
    )


@pytest.mark.parametrize("kind", [np.array, pd.Series, iter])
def test_from_python_texts_may_be_a_column(kind) -> None:
    a, b, references = TEXTS[:3], ["x"] * 3, TEXTS[:3]
    given = api.compare(kind(a), kind(b), kind(references), sources=kind(TEXTS[3:6]))
    pd.testing.assert_frame_equal(given, api.compare(a, b, references, sources=TEXTS[3:6]))


def test_from_python_words_are_counted_in_what_is_scored() -> None:
    """As in files: a missing text is empty, and thoughts are left out."""
    frame = api.compare([None, "<think>a long thought</think>one two"], ["x", "x"], ["one two", "three"])
    assert frame.set_index("metric").loc["words", "mean_a"] == 1


def test_from_python_one_text_or_no_reference_is_refused() -> None:
    with pytest.raises(CorpusError, match="`a` is a single text, but must be a list"):
        api.compare("Snow", "Rain", "Mist")
    for missing in (None, float("nan"), []):
        with pytest.raises(CorpusError, match="a, row 2: There is no reference"):
            api.compare(["x", "y"], ["x", "y"], ["x", missing])


def of_xsum(shared_data: Path, folder: Path, articles: int, pair: tuple[str, str]) -> TextsComparison:
    lines = (shared_data / "frank_predictions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["dataset"] == "frank_xsum"]
    dataset = Dataset(str(shared_data / "frank_xsum.jsonl"), "test", limit=articles)
    found = compare_files([written(folder, "xsum.jsonl", rows)], dataset, pair)
    assert all(at.articles == articles for at in found.rows.values())
    return found


def test_difference_interval_and_p_are_those_of_scipy(shared_data: Path, tmp_path: Path) -> None:
    """Of 13 articles, both count all patterns of signs."""
    pair = ("BERTS2S", "TConvS2S")
    found = of_xsum(shared_data, tmp_path, 13, pair)
    lines = (shared_data / "frank_xsum.jsonl").read_text(encoding="utf-8").splitlines()
    articles = [json.loads(line) for line in lines[:13]]
    rows = [json.loads(line) for line in (tmp_path / "xsum.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = {(row["system"], row["id"]): row["prediction"] for row in rows}
    scores = [
        api.score(
            [texts[system, article["id"]] for article in articles],
            [article["summary"] for article in articles],
            ("kept", "bertscore", "rouge1", "rouge2", "rougeL"),
            sources=[article["document"] for article in articles],
        ).rows()
        for system in pair
    ]
    columns = {"kept": "kept_score", "words": "words"} | {
        f"{name.lower()}_f1": f"{name}_f1" for name in ("bertscore", "rouge1", "rouge2", "rougeL")
    }
    for metric, at in found.rows.items():
        differences = (scores[0][columns[metric]] - scores[1][columns[metric]]).to_numpy(dtype=float)
        assert at.difference.mean == pytest.approx(differences.mean(), abs=1e-9)
        interval = scipy.stats.ttest_1samp(differences, 0).confidence_interval()
        assert (at.difference.low, at.difference.high) == pytest.approx((interval.low, interval.high), abs=1e-9)
        tested = scipy.stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=np.inf)
        assert at.p == pytest.approx(tested.pvalue, rel=0.01)


def test_p_of_many_articles_is_that_of_all_patterns_within_one_per_cent(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, counted = {}, {}
    for most, rows in ((sign_flip.COUNTED, found), (30, counted)):
        monkeypatch.setattr(sign_flip, "COUNTED", most)
        rows |= of_xsum(shared_data, tmp_path, 30, ("PtGen", "TranS2S")).rows
    for metric, at in found.items():
        assert (at.exact, counted[metric].exact) == (False, True)
        assert at.p == pytest.approx(counted[metric].p, rel=0.01)


def test_the_command_prints_one_difference_of_each_metric(nws, news: Dataset, tmp_path: Path) -> None:
    files = [written(tmp_path, f"{name}.jsonl", own(name)) for name in ("bad", "good")]
    told = nws("compare", *files, "--dataset", news.name)
    assert told.code == 0, told.err
    assert "bad − good, each text as it is (4 articles)" in told.out
    values = nws("compare", *files, "--dataset", news.name, "--json").json
    assert values["rows"][0]["metric"] == "kept"
    assert values["rows"][0]["difference"] < 0
    assert "Name one or two" in nws("compare", "--dataset", news.name).err
    rows = [row | {"system": name} for name in ("bad", "good") for row in own(name)]
    both = ("compare", written(tmp_path, "both.jsonl", rows), "--dataset", news.name)
    assert "good − bad, each text as it is (4 articles)" in nws(*both).out
    assert "bad − good, each text as it is" in nws(*both, "--system", "bad", "--system", "good").out
    assert nws(*both, "--json").json == values
    assert not (tmp_path / "nws.db").exists()


def test_options_that_would_be_ignored_are_refused(nws, news: Dataset, tmp_path: Path) -> None:
    files = [written(tmp_path, f"{name}.jsonl", own(name)) for name in ("bad", "good")]
    for option in (("--n", "7"), ("--metric", "rouge1_f1"), ("--label", "good=Good")):
        refused = nws("compare", *files, "--dataset", news.name, *option)
        assert refused.code != 0
        assert "are for runs" in refused.err
    assert "Name their dataset with --dataset" in nws("compare", *files, "--equal-length").err


def test_the_first_of_lists_is_compared_where_that_is_asked_for(news: Dataset, tmp_path: Path) -> None:
    good = own("good")
    drawn = [{**row, "prediction": [row["prediction"], "Nobody came."]} for row in good]
    files = [written(tmp_path, "good.jsonl", good), written(tmp_path, "drawn.jsonl", drawn)]
    assert compare_files(files, news, lists="first").rows["words"].difference.mean == 0
    assert compare_files(files, news).rows["words"].difference.mean != 0


def test_kinds_of_words_are_compared_where_both_keep_content(
    sample_rows: list[dict[str, str]], word_kinds: str
) -> None:
    references = [[row["highlights"]] for row in sample_rows]
    halves = [" ".join(one.split()[:8]) for (one,) in references]
    found = compare_texts([one for (one,) in references], halves, references, ("whole", "half"))
    assert found.word_kinds == word_kinds
    for row in found.kind_rows():
        assert (row["share_a"], row["difference"]) == pytest.approx((1, 1 - row["share_b"]), abs=1e-4)
        assert row["low"] is None or row["low"] < row["difference"] < row["high"]
    assert len(found.kind_rows()) == 8
    assert "Content kept by kind of word" in shown(found)
    assert "A share without an interval: fewer than 20 references have" in shown(found)
    assert "CIs are not corrected over the kinds." in shown(found)
    turned = compare_texts(halves, [one for (one,) in references], references, ("half", "whole"), best_first=True)
    assert (turned.a, turned.kind_rows()) == ("whole", found.kind_rows())
    frame = api.compare([one for (one,) in references], halves, [one for (one,) in references])
    assert frame.attrs["kept_by_kind"] == found.kind_rows()
