"""The questions of docs/sql.md, as they stand there, on SQLite and on Postgres, against the same computed in Python."""

import io
import json
import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from rich.console import Console
from training_run import small_training

from core.text.dataset import BUNDLED
from jobs.drive import driver
from jobs.recipes.job import make_plan
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep_recipe import Phase1Recipe
from jobs.store import Store, open_store
from jobs.store.partitions import make_partition
from jobs.store.tables import Base

PAGE = Path(__file__).parents[3] / "docs" / "sql.md"
A, B = "all-MiniLM-L6-v2|lexrank|chunks", "lead"
KINDS = {"lead": "control", "random": "control", "reference-words": "upper bound", "other-article": "control"}
TIE = 1e-6

Rows = list[dict[str, Any]]


def questions() -> dict[int, str]:
    """The SQL of the page, by the number of its heading."""
    found = re.findall(r"^## (\d+)\. [^\n]+\n\n```sql\n(.*?)\n```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return {int(number): sql for number, sql in found}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, tiny_models: dict[str, Path]) -> tuple[str, dict[str, str]]:
    """A store with real rows: a run, the same again, one with an n more that copies, and a training. Their ids."""
    folder = tmp_path_factory.mktemp("runs")
    lines = BUNDLED["sample"].read_text(encoding="utf-8").splitlines()[:3]
    empty = json.dumps({"id": "empty", "article": "...", "highlights": "Nothing."})
    (folder / "news.jsonl").write_text("\n".join([*lines, empty]), encoding="utf-8")
    url = f"sqlite:///{folder / 'nws.db'}"
    ids = {}
    with open_store(url) as store:
        for name, lengths in (("first", [7, 9]), ("again", [7, 9]), ("copied", [7, 9, 11])):
            asked = {"datasets": [{"name": str(folder / "news.jsonl")}], "n": lengths, "bundle_size": 4}
            plan = make_plan(load_recipe(Phase1Recipe, "sample", asked))
            quiet = Console(file=io.StringIO())
            ids[name] = driver.start(store, plan, "inline", quiet, reuse=name == "copied").run_id
        training = small_training(tiny_models, folder, passes=1)
        ids["training"] = driver.start(store, training, "inline", quiet).run_id
    return url, ids


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, runs: tuple[str, dict[str, str]]) -> Iterator[Store]:
    """The store of these runs, there and copied into a Postgres."""
    url, _ = runs
    if request.param == "sqlite":
        with open_store(url, read_only=True) as opened:
            yield opened
        return
    new_postgres: Callable[[str], AbstractContextManager[str]] = request.getfixturevalue("new_postgres")
    with new_postgres("nws_sql_page") as postgres:
        _copy(url, postgres)
        with open_store(postgres, read_only=True) as opened:
            yield opened


def _copy(source: str, target: str) -> None:
    read = sa.create_engine(source, poolclass=sa.NullPool)
    write = sa.create_engine(target.replace("postgresql:", "postgresql+psycopg:", 1), poolclass=sa.NullPool)
    with read.connect() as reading, write.begin() as writing:
        for table in Base.metadata.sorted_tables:
            if rows := [dict(row._mapping) for row in reading.execute(sa.select(table))]:
                for row in rows if table.name == "runs" else ():
                    make_partition(writing, row["id"])
                writing.execute(sa.insert(table), rows)


@pytest.fixture
def ask(store: Store) -> Callable[[int], Rows]:
    """The answer to a question of the page."""
    return lambda number: select(store, questions()[number])


def select(store: Store, sql: str) -> Rows:
    with store.query(sql) as answer:
        return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


@pytest.fixture
def summaries(store: Store, runs: tuple[str, dict[str, str]]) -> Rows:
    """Every row of the newest run of Phase 1, with its article's key, dataset and text."""
    sql = f"""select s.*, a.key, a.dataset, a.text as article_text from summaries s
              join articles a on a.id = s.article_id where s.run_id = '{runs[1]["copied"]}'"""
    return select(store, sql)


def mean_f1(rows: Sequence[dict[str, Any]]) -> float:
    return statistics.fmean(row["bertscore_f1"] for row in rows)


def grouped(rows: Rows, *names: str) -> dict[tuple[Any, ...], Rows]:
    found: dict[tuple[Any, ...], Rows] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in names)].append(row)
    return found


def test_the_page_has_twelve_questions_and_no_other_sql() -> None:
    assert list(questions()) == list(range(1, 13))
    assert PAGE.read_text("utf-8").count("```sql") == 12


@pytest.mark.parametrize("number", range(1, 13))
def test_every_question_is_answered_with_rows(ask: Callable[[int], Rows], number: int) -> None:
    assert ask(number)


def test_the_best_n_of_each_system(ask: Callable[[int], Rows], summaries: Rows) -> None:
    answer = ask(1)
    assert len(answer) == 7
    means = {place: mean_f1(rows) for place, rows in grouped(summaries, "system", "n").items()}
    for row in answer:
        highest = max((means[row["system"], n], -n) for n in (7, 9, 11))
        assert (row["bertscore_f1_mean"], -row["n"]) == (pytest.approx(highest[0]), highest[1])
        assert row["over_random"] == pytest.approx(highest[0] - means["random", row["n"]], abs=1e-12)
        assert (row["articles"], row["kind"]) == (3, KINDS.get(row["system"], "system"))
    highest_first = [row["bertscore_f1_mean"] for row in answer]
    assert highest_first == sorted(highest_first, reverse=True)


def test_where_a_beats_b(ask: Callable[[int], Rows], summaries: Rows) -> None:
    f1 = {(row["system"], row["n"], row["key"]): row["bertscore_f1"] for row in summaries}
    answer = ask(2)
    assert [row["n"] for row in answer] == [7, 9, 11]
    for row in answer:
        differences = [value - f1[B, n, key] for (system, n, key), value in f1.items() if (system, n) == (A, row["n"])]
        assert row["mean_difference"] == pytest.approx(statistics.fmean(differences), abs=1e-12)
        counted = (sum(d > TIE for d in differences), sum(d < -TIE for d in differences))
        assert (row["wins"], row["losses"]) == counted
        assert row["articles"] == row["wins"] + row["ties"] + row["losses"] == 3


def test_how_much_is_kept(ask: Callable[[int], Rows], runs: tuple[str, dict[str, str]], store: Store) -> None:
    newest = select(store, f"select * from summaries where run_id = '{runs[1]['training']}' and n > 0")
    means = {
        place: statistics.fmean(row["kept"] for row in rows) for place, rows in grouped(newest, "system", "n").items()
    }
    answer = ask(11)
    assert {(row["system"], row["n"]) for row in answer} == set(means)
    for row in answer:
        assert row["share"] == pytest.approx(means[row["system"], row["n"]], abs=1e-12)
        assert row["low"] is None or row["low"] < row["share"] < row["high"]
    assert [(row["system"], row["n"]) for row in answer] == sorted(means)


def test_from_which_n_on_half_is_kept(ask: Callable[[int], Rows]) -> None:
    shares = {(row["system"], row["n"]): row["share"] for row in ask(11)}
    answer = ask(12)
    assert {row["system"] for row in answer} == {system for system, _ in shares}
    for row in answer:
        lengths = sorted(n for system, n in shares if system == row["system"])
        enough = [n for n in lengths if all(shares[row["system"], longer] >= 0.5 for longer in lengths if longer >= n)]
        assert row["n"] == (min(enough) if enough else None)
        assert (row["longest"], row["claimed"]) == (max(lengths), None)  # of too few articles
