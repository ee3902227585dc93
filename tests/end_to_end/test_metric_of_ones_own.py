"""The metric of docs/your-own.md through all that reads scores: reports, the page, comparisons, files, frames."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

import nws
from core.errors import RecipeError, StoreError
from jobs.drive import driver
from jobs.recipes.job import plan_job
from jobs.report.page.page import write_page
from jobs.report.report_files import PLAIN, REPORTS
from jobs.report.shown_article import print_shown, show
from jobs.report.summary_rows import write_summary_rows
from jobs.store import Store, open_store
from jobs.tools.comparison import compare_runs

PAGE = Path(__file__).parents[2] / "docs" / "your-own.md"


def example() -> str:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (found,) = [str(block) for block in blocks if '"word_recall": word_recall' in block]
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    (folder / "mine.py").write_text(example())
    (folder / "other.py").write_text(example() + "# the same, in another file\n")
    return folder


@pytest.fixture(scope="module")
def store(folder: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{folder / 'nws.db'}") as opened:
        yield opened


def stored(store: Store, run: str) -> nws.Result:
    return nws.Result(store, store.run_info(run))


def run_with(store: Store, tiny_models: dict[str, Path], *plugins: Path) -> str:
    tiny = {"bertscore": {"model": str(tiny_models["bert"]), "num_layers": 2}, "datasets.limit": 6}
    chosen = {"encoder": str(tiny_models["bert"]), "systems": ["textrank", "lead", "random"], "n": [2, 5]}
    given = {**tiny, **chosen, "plugins": [{"plugin": str(path)} for path in plugins]}
    console = Console(file=io.StringIO())
    return driver.start(store, plan_job("baselines", "sample", given), "inline", console).run_id


@pytest.fixture(scope="module")
def run(store: Store, tiny_models: dict[str, Path], folder: Path) -> str:
    return run_with(store, tiny_models, folder / "mine.py")


def test_a_report_is_about_it(store: Store, run: str, tmp_path: Path) -> None:
    said = io.StringIO()
    info = store.run_info(run)
    files = REPORTS[info.job](store, info, "word_recall", tmp_path, Console(file=said, width=200), PLAIN)
    report = json.loads(files.json.read_text("utf-8"))
    assert (report["metric"], report["signature"]) == ("word_recall", info.signatures["word_recall"])
    assert "sample: mean word_recall by n" in said.getvalue()
    means = {(curve["system"], at["n"]): at["mean"] for curve in report["curves"] for at in curve["lengths"]}
    frame = stored(store, run).summaries().groupby(["system", "n"]).word_recall.mean()
    assert {place: pytest.approx(mean) for place, mean in frame.items()} == means
    assert len(set(means.values())) == 6
    with pytest.raises(
        RecipeError, match=r"no metric 'word_recal' to draw curves of\. .* Did you mean 'word_recall'\?"
    ):
        stored(store, run).curves("word_recal")


def test_the_page_has_its_curves_and_may_be_about_it(store: Store, run: str, tmp_path: Path) -> None:
    write_page(store, [run], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    assert 'id="d0-word_recall-t"' in text
    assert '<label for="d0-m9">word_recall</label>' in text
    assert ".t9:checked ~ .p9 { display: block; }" in text
    write_page(store, [run], tmp_path / "about.html", "word_recall")
    assert 'checked><label for="d0-m0">word_recall</label>' in (tmp_path / "about.html").read_text("utf-8")


def test_systems_are_compared_by_it(store: Store, run: str) -> None:
    found = compare_runs(store, run, None, ["textrank", "lead"], None, "word_recall")
    frame = stored(store, run).summaries().pivot_table(index="key", columns=["system", "n"], values="word_recall")
    for at in found.comparisons[0].lengths:
        assert at.difference.mean == pytest.approx((frame["textrank", at.n] - frame["lead", at.n]).mean())
    assert found.signatures == (store.run_info(run).signatures["word_recall"],) * 2


def test_another_source_is_not_compared_and_not_on_one_page(
    store: Store, run: str, folder: Path, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    other = run_with(store, tiny_models, folder / "other.py")
    with pytest.raises(RecipeError, match=r"word_recall of run .* must not be compared"):
        compare_runs(store, run, other, ["lead"], None, "word_recall")
    with pytest.raises(StoreError, match="word_recall is not the same metric"):
        write_page(store, [run, other], tmp_path / "page.html", "word_recall")
    write_page(store, [run, other], tmp_path / "page.html")
    assert "d0-word_recall" not in (tmp_path / "page.html").read_text("utf-8")
    without = run_with(store, tiny_models)
    with pytest.raises(RecipeError, match="There is no metric 'word_recall' to compare by"):
        compare_runs(store, run, without, ["lead"], None, "word_recall")


def test_rows_have_it_as_a_column(store: Store, run: str, tmp_path: Path) -> None:
    expected = stored(store, run).summaries()
    assert expected.word_recall.between(0, 1).all()
    readers = {"csv": pd.read_csv, "parquet": pd.read_parquet, "jsonl": lambda path: pd.read_json(path, lines=True)}
    for ending, read in readers.items():
        write_summary_rows(store, store.run_info(run), tmp_path / f"rows.{ending}", with_articles=False)
        frame = read(tmp_path / f"rows.{ending}").sort_values(["dataset", "key", "system", "n"], ignore_index=True)
        assert frame.word_recall.tolist() == pytest.approx(expected.word_recall.tolist(), rel=1e-15)
        assert not frame.extra.astype(str).str.contains("scores").any()


def test_an_article_is_shown_with_it(store: Store, run: str) -> None:
    said = io.StringIO()
    print_shown(show(store, store.run_info(run)), Console(file=said, width=200))
    assert re.search(r"ROUGE-L \S+  word_recall \.\d{3}", said.getvalue())
