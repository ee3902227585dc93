"""The questions of docs/sql.md, as they stand there, on SQLite and on Postgres, against the same computed in Python."""

import io
import json
import re
import statistics
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from rich.console import Console
from stored_rows import objects
from training_run import small_training

from core.text.dataset import BUNDLED
from jobs.drive import driver
from jobs.recipes.job import plan_job
from jobs.store import Store, open_store
from jobs.store.tables import Base

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[3] / "docs" / "sql.md"
A, B = "all-MiniLM-L6-v2|lexrank|chunks", "lead"
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
            plan = plan_job("phase1", "sample", asked)
            quiet = Console(file=io.StringIO())
            ids[name] = driver.start(store, plan, "inline", quiet, reuse=name == "copied").run_id
        training = small_training(tiny_models, folder, passes=1)
        ids["training"] = driver.start(store, training, "inline", quiet).run_id
    return url, ids


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, runs: tuple[str, dict[str, str]]) -> Iterator[Store]:
    """The store of these runs, there and copied into a Postgres."""
    url, _ = runs
    with nullcontext(url) if request.param == "sqlite" else request.getfixturevalue("new_postgres")("sql") as there:
        if there != url:
            _copy(url, there)
        with open_store(there, read_only=True) as opened:
            yield opened


def _copy(source: str, target: str) -> None:
    read = sa.create_engine(source, poolclass=sa.NullPool)
    write = sa.create_engine(target.replace("postgresql:", "postgresql+psycopg:", 1), poolclass=sa.NullPool)
    with read.connect() as reading, write.begin() as writing:
        for table in Base.metadata.sorted_tables:
            if rows := [dict(row._mapping) for row in reading.execute(sa.select(table))]:
                writing.execute(sa.insert(table), rows)


@pytest.fixture
def ask(store: Store) -> Callable[[int], Rows]:
    """The answer to a question of the page."""
    return lambda number: objects(store, questions()[number])


@pytest.fixture
def summaries(store: Store, runs: tuple[str, dict[str, str]]) -> Rows:
    """Every row of the newest run of Phase 1, with its article's key, dataset and text."""
    sql = f"""select s.*, a.key, a.dataset, a.text as article_text from summaries s
              join articles a on a.id = s.article_id where s.run_id = '{runs[1]["copied"]}'"""
    return objects(store, sql)


def test_the_page_has_twelve_questions_and_no_other_sql() -> None:
    assert list(questions()) == list(range(1, 13))
    assert PAGE.read_text("utf-8").count("```sql") == 12


@pytest.mark.parametrize("number", range(1, 13))
def test_every_question_is_answered_with_rows(ask: Callable[[int], Rows], number: int) -> None:
    assert ask(number)


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
