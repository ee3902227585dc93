"""The metric of docs/your-own.md through all that reads scores: reports, the page, comparisons, files, frames."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console
from undisturbed import QUIET

import nws
from nws.core.errors import RecipeError, StoreError
from nws.jobs.drive import driver
from nws.jobs.recipes.job import plan_job
from nws.jobs.report.page.page import write_page
from nws.jobs.report.printed_report import print_full
from nws.jobs.report.report_files import write_report
from nws.jobs.report.run_report import read_report
from nws.jobs.report.shown_article import print_shown, show
from nws.jobs.report.summary_rows import write_summary_rows
from nws.jobs.store import Store, open_store
from nws.jobs.tools.comparison import compare_runs

PAGE = Path(__file__).parents[2] / "docs" / "your-own.md"


def example() -> str:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (found,) = [str(block) for block in blocks if '"word_recall": word_recall' in block]
    return found


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('own') / 'nws.db'}") as opened:
        yield opened


def run_with(store: Store, tiny_models: dict[str, Path], *plugins: Path) -> str:
    tiny = {"bertscore": {"model": str(tiny_models["bert"]), "num_layers": 2}, "datasets.limit": 6}
    chosen = {"encoder": str(tiny_models["bert"]), "systems": ["textrank", "lead", "random"], "n": [2, 5]}
    given = {**tiny, **chosen, "plugins": [{"plugin": str(path)} for path in plugins]}
    return driver.start(store, plan_job("baselines", "sample", given), "inline", QUIET).run_id


@pytest.fixture(scope="module")
def run(store: Store, tiny_models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("own") / "mine.py"
    file.write_text(example())
    return run_with(store, tiny_models, file)


def test_reports_pages_comparisons_and_files_are_about_it(store: Store, run: str, tmp_path: Path) -> None:
    said, info = io.StringIO(), store.run_info(run)
    console = Console(file=said, width=200)
    rows = nws.Result(store, info).summaries()
    assert rows.word_recall.between(0, 1).all()

    report = read_report(store, info, "word_recall")
    print_full(report, console)
    files = write_report(report, tmp_path)
    report = json.loads(files.json.read_text("utf-8"))
    assert (report["metric"], report["signature"]) == ("word_recall", info.signatures["word_recall"])
    assert "sample: mean word_recall by n" in said.getvalue()
    means = {
        (curve["system"], at["n"]): at["mean"] for curve in report["metrics"][0]["curves"] for at in curve["lengths"]
    }
    found = rows.groupby(["system", "n"]).word_recall.mean()
    assert {place: pytest.approx(mean) for place, mean in found.items()} == means

    write_page(store, [run], tmp_path / "page.html")
    assert '<label for="d0-m9">word_recall</label>' in (tmp_path / "page.html").read_text("utf-8")
    write_page(store, [run], tmp_path / "about.html", "word_recall")
    assert 'checked><label for="d0-m0">word_recall</label>' in (tmp_path / "about.html").read_text("utf-8")

    compared = compare_runs(store, run, None, ["textrank", "lead"], None, "word_recall")
    frame = rows.pivot_table(index="key", columns=["system", "n"], values="word_recall")
    for at in compared.comparisons[0].lengths:
        assert at.difference.mean == pytest.approx((frame["textrank", at.n] - frame["lead", at.n]).mean())

    write_summary_rows(store, info, tmp_path / "rows.parquet", with_articles=False)
    written = pd.read_parquet(tmp_path / "rows.parquet").sort_values(["dataset", "key", "system", "n"])
    assert written.word_recall.tolist() == pytest.approx(rows.word_recall.tolist(), rel=1e-15)
    print_shown(show(store, info), console)
    assert re.search(r"ROUGE-L \S+  word_recall \.\d{3}", said.getvalue())


def test_another_source_is_not_compared_and_not_on_one_page(
    store: Store, run: str, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "other.py").write_text(example() + "# the same, in another file\n")
    other = run_with(store, tiny_models, tmp_path / "other.py")
    with pytest.raises(RecipeError, match=r"word_recall of run .* must not be compared"):
        compare_runs(store, run, other, ["lead"], None, "word_recall")
    with pytest.raises(StoreError, match="word_recall is not the same metric"):
        write_page(store, [run, other], tmp_path / "page.html", "word_recall")
    write_page(store, [run, other], tmp_path / "page.html")
    assert "d0-word_recall" not in (tmp_path / "page.html").read_text("utf-8")
    without = run_with(store, tiny_models)
    with pytest.raises(RecipeError, match="There is no metric 'word_recall' to compare by"):
        compare_runs(store, run, without, ["lead"], None, "word_recall")
