"""The questions of docs/sql.md, as they stand there, on SQLite and on Postgres, against the same computed in Python."""

import json
import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from stored_rows import objects
from training_run import small_training
from undisturbed import QUIET

from nws.core.text.dataset import BUNDLED
from nws.jobs.drive import driver
from nws.jobs.recipes.job import plan_job
from nws.jobs.store import Store, open_store
from nws.jobs.store.tables import Base

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[3] / "docs" / "sql.md"

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
            ids[name] = driver.start(store, plan, "inline", QUIET, reuse=name == "copied").run_id
        training = small_training(tiny_models, folder, passes=1)
        ids["training"] = driver.start(store, training, "inline", QUIET).run_id
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
    """Every row of the newest run of Phase 1, with its article's key and its system's kind."""
    sql = f"""select s.*, a.key, y.kind from summaries s join articles a on a.id = s.article_id
              join systems y on y.run_id = s.run_id and y.system = s.system where s.run_id = '{runs[1]["copied"]}'"""
    return objects(store, sql)


def test_the_page_has_ten_questions_and_no_other_sql() -> None:
    assert list(questions()) == list(range(1, 11))
    assert PAGE.read_text("utf-8").count("```sql") == 10


@pytest.mark.parametrize("number", range(1, 11))
def test_every_question_is_answered_with_rows(ask: Callable[[int], Rows], number: int) -> None:
    assert ask(number)


def test_which_articles_did_worst(ask: Callable[[int], Rows], summaries: Rows) -> None:
    scores: dict[str, list[float]] = defaultdict(list)
    for row in summaries:
        if row["kind"] == "system":
            scores[row["key"]].append(row["bertscore_f1"])
    answer = ask(2)
    assert [row["key"] for row in answer] == sorted(scores, key=lambda key: statistics.fmean(scores[key]))
    for row in answer:
        values = scores[row["key"]]
        assert (row["summaries"], row["highest_f1"]) == (len(values), max(values))
        assert row["mean_f1"] == pytest.approx(statistics.fmean(values), abs=1e-12)
