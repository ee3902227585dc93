"""Texts in files are read as texts in rows are, by everybody; what cannot be read is an error that says what to do."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import update
from texts_in_files import files_of, put_into_files, require_whole

from core.errors import StoreError
from core.metrics.specs import OPTIONAL
from core.types import Article, BundleResult, Summary
from jobs.store import RunSpec, Stage, StageWork, Store, open_store
from jobs.store.engine import is_storable
from jobs.store.tables import SummaryRow
from jobs.store.text_files import folder_of_run, missing_files

Sweep = Callable[[list[Article]], BundleResult]
SYSTEMS = {"lead": "control", "mini|centroid": "system"}


def begin(store: Store, spec: RunSpec, works: dict[str, str] | None = None) -> tuple[str, int]:
    run_id = store.create_run(spec)
    run = run_id, store.claim_run(run_id, "host-a", 11)
    store.writer(*run).start("cpu", "v", SYSTEMS, works or {})
    store.writer(*run).note_workers("cpu", ["mkl"])
    return run


def everything_read(store: Store, run_id: str, articles: list[Article]) -> list[object]:
    """What all readers of texts find, without which run it is and where its texts are."""
    ids = [article.id for article in articles]
    of_articles = [
        replace(found, summaries=tuple({k: v for k, v in row.items() if k != "run_id"} for row in found.summaries))
        for found in store.article_texts(run_id, ids)
    ]
    points = store.points(run_id, repeated_words=True)
    keys = sorted(zip(map(str, points.articles), np.bincount(points.article).tolist(), strict=True))
    return [
        of_articles,
        [store.articles(run_id).summaries(one) for one in ids],
        [sorted(store.summaries_of(run_id, one), key=lambda new: (new.system, new.n)) for one in ids],
        keys,
        [points.text.tolist(), points.repeated_words.tolist(), points.scores["bertscore_f1"].tolist()],
        store.points(run_id).text.tolist(),
        store.points(run_id, texts=False).text.tolist(),
    ]


@pytest.mark.parametrize("ended", [False, True])
def test_every_reader_finds_the_same_in_files_as_in_rows(
    store: Store, spec: RunSpec, in_files: RunSpec, articles: list[Article], sweep: Sweep, ended: bool
) -> None:
    found = []
    for one in (spec, in_files):
        run = begin(store, one)
        store.writer(*run).record([(articles[:2], sweep(articles[:2])), (articles[2:3], sweep(articles[2:3]))])
        store.writer(*run).record([(articles[3:], sweep(articles[3:]))])
        if ended:
            store.writer(*run).finish("done")
        found.append(everything_read(store, run[0], articles))
    assert found[0] == found[1]
    assert require_whole(store, run[0]) == 24
    assert len(files_of(store, run[0])) == 2
    with store.query("select count(*), count(text) from summaries") as answer:
        assert list(answer.rows) == [(48, 24)]
    assert missing_files(store) == []


storable = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=40)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(storable, min_size=1, max_size=8), at_once=st.integers(1, 3), rows=st.integers(1, 9))
def test_any_text_comes_back(
    store: Store,
    in_files: RunSpec,
    summary: Callable[..., Summary],
    monkeypatch: pytest.MonkeyPatch,
    texts: list[str],
    at_once: int,
    rows: int,
) -> None:
    assert all(map(is_storable, texts))
    monkeypatch.setattr("jobs.store.text_folder.ROWS_OF_GROUP", rows)
    run = begin(store, in_files)
    written = {}
    bundles = []
    for key in range(3):
        article = Article("d", "s", str(key), "text", ("r",))
        made = [replace(summary(article, "lead", n), text=text) for n, text in enumerate(texts)]
        written |= {(article.id, n): text for n, text in enumerate(texts)}
        bundles.append(([article], BundleResult(tuple(made), ())))
    for start in range(0, 3, at_once):
        store.writer(*run).record(bundles[start : start + at_once])
    found = {
        (one.article_id, one.n): one.text
        for article_id in {place[0] for place in written}
        for one in store.articles(run[0]).summaries(article_id)
    }
    assert found == written
    assert require_whole(store, run[0]) == len(written)


def test_one_article_is_read_without_the_rest_of_its_file(
    store: Store, in_files: RunSpec, sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobs.store.text_folder.ROWS_OF_GROUP", 12)
    articles = [Article("d", "s", str(i), "text", ("r",)) for i in range(40)]
    run = begin(store, in_files)
    store.writer(*run).record([(articles, sweep(articles))])
    read = pyarrow.parquet.ParquetFile.read_row_groups
    groups: list[int] = []

    def counting(self: pyarrow.parquet.ParquetFile, numbers: list[int], *args: object, **more: object) -> object:
        groups.extend(numbers)
        return read(self, numbers, *args, **more)

    monkeypatch.setattr(pyarrow.parquet.ParquetFile, "read_row_groups", counting)
    assert len(store.articles(run[0]).summaries(articles[7].id)) == 6
    assert 1 <= len(groups) <= 2
    groups.clear()
    assert len(store.article_texts(run[0], [article.id for article in articles])) == 40
    assert sorted(groups) == list(range(20))  # all of them, and each once


def test_a_run_whose_texts_are_in_rows_makes_no_file(
    store: Store, spec: RunSpec, articles: list[Article], sweep: Sweep, tmp_path: Path
) -> None:
    run = begin(store, spec)
    store.writer(*run).record([(articles, sweep(articles))])
    store.writer(*run).sweep_texts()
    assert not [path for path in tmp_path.rglob("*") if path.is_dir() or path.suffix == ".parquet"]
    with store.query("select count(*) from summaries where text is null or text_file is not null") as answer:
        assert list(answer.rows) == [(0,)]


def break_file(how: str, path: Path) -> None:
    content = path.read_bytes()
    if how == "missing":
        path.unlink()
    elif how == "torn":
        path.write_bytes(content[: len(content) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "a bit":
        column = pyarrow.parquet.read_metadata(path).row_group(0).column(4)
        place = column.data_page_offset + column.total_compressed_size - 5  # of the texts
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    else:
        table = pyarrow.parquet.read_table(path)
        pyarrow.parquet.write_table(table.slice(1), path)


@pytest.mark.parametrize("how", ["missing", "torn", "empty", "a bit", "a row less"])
def test_a_file_that_cannot_be_read_is_an_error_that_says_what_to_do(
    store: Store, in_files: RunSpec, articles: list[Article], sweep: Sweep, how: str
) -> None:
    run = begin(store, in_files)
    store.writer(*run).record([(articles, sweep(articles))])
    folder = folder_of_run(store, run[0])
    (path,) = folder.path.iterdir()
    break_file(how, path)
    for read in (
        lambda: store.article_texts(run[0], [article.id for article in articles]),
        lambda: [store.articles(run[0]).summaries(article.id) for article in articles],
        lambda: [store.summaries_of(run[0], article.id) for article in articles],
        lambda: store.points(run[0]),
        lambda: store.writer(*run).finish("done"),
    ):
        with pytest.raises(StoreError) as caught:
            read()
        said = str(caught.value)
        assert str(path) in said
        assert run[0] in said
        assert "Put back that file" in said
        assert "nws resume" in said
    assert len(store.points(run[0], texts=False).n) == 24  # scores need no file
    assert missing_files(store) == ([path] if how == "missing" else [])


def test_what_the_error_says_helps(store: Store, in_files: RunSpec, articles: list[Article], sweep: Sweep) -> None:
    run = begin(store, in_files)
    store.writer(*run).record([(articles[:2], sweep(articles[:2]))])
    store.writer(*run).record([(articles[2:], sweep(articles[2:]))])
    shutil.rmtree(folder_of_run(store, run[0]).path)
    with store.writing() as connection:
        connection.exec_driver_sql("delete from summaries where text_file is not null")
    writer = store.writer(run[0], store.claim_run(run[0], "host-b", 12, take_over=True))
    writer.record([(articles, sweep(articles))])
    assert len(store.article_texts(run[0], [article.id for article in articles])) == 4


def test_a_sqlite_file_is_moved_with_the_folder_beside_it(
    tmp_path: Path, spec: RunSpec, articles: list[Article], sweep: Sweep
) -> None:
    with open_store(f"sqlite:///{tmp_path / 'a.db'}") as store:
        run = begin(store, replace(spec, recipe={"texts": "parquet"}))
        store.writer(*run).record([(articles, sweep(articles))])
        assert oct((tmp_path / "a.db.texts").stat().st_mode & 0o777) == "0o700"
    (tmp_path / "new").mkdir()
    (tmp_path / "a.db").rename(tmp_path / "new" / "b.db")
    (tmp_path / "a.db.texts").rename(tmp_path / "new" / "b.db.texts")
    (tmp_path / "link.db").symlink_to(tmp_path / "new" / "b.db")
    for name in ("new/b.db", "link.db"):
        with open_store(f"sqlite:///{tmp_path / name}", read_only=True) as store:
            assert require_whole(store, run[0]) == 24


def test_postgres_needs_a_folder_and_says_so(postgres_url: str, spec: RunSpec) -> None:
    with open_store(postgres_url) as store:
        with pytest.raises(StoreError, match="needs a texts_folder: name one that all drivers"):
            store.create_run(replace(spec, recipe={"texts": "parquet"}))
        assert store.list_runs() == []


WORKS = {"lead": "work of lead", "mini|centroid": "work of mini"}


@pytest.mark.parametrize("copier_in_files", [False, True])
def test_copies_are_read_from_the_file_of_the_run_that_computed_them(
    store: Store, spec: RunSpec, in_files: RunSpec, articles: list[Article], sweep: Sweep, copier_in_files: bool
) -> None:
    """Also those of an article with the same content under another key, and rows that were there are left alone."""
    source = begin(store, in_files, WORKS)
    store.writer(*source).record([(articles, sweep(articles))])
    store.writer(*source).finish("done")
    copier = begin(store, in_files if copier_in_files else replace(spec, reuse=True), WORKS)
    others = [replace(article, key=f"other {article.key}") for article in articles[:2]]
    stage = StageWork(WORKS, tuple(WORKS), (0, 3, 5), 6)
    reusable = store.rows_of_equal_work(copier[0], stage, "mkl")
    new = Article("news", "test", "new", "Nobody has summarised this.", ("r",))
    nothing = BundleResult((), ())
    store.writer(*copier).record([(articles[:2], nothing), (others, nothing), ([new], sweep([new]))], reusable=reusable)
    made = {(one.article_id, one.system, one.n): one.text for one in sweep([*articles, new]).summaries}
    by_key = {article.id: article.id for article in [*articles, new]}
    by_key |= {other.id: article.id for other, article in zip(others, articles, strict=False)}
    found = store.article_texts(copier[0], [*by_key])
    assert len(found) == 5
    for article in found:
        for row in article.summaries:
            assert row["text"] == made[by_key[article.id], row["system"], row["n"]]
    points = store.points(copier[0])
    assert len(points.n) == 30
    with store.query(
        f"select count(*), count(text), count(distinct text_file) from summaries where run_id = '{copier[0]}'"
    ) as answer:
        assert list(answer.rows) == [(30, 0, 2) if copier_in_files else (30, 6, 1)]


def test_content_kept_is_stored_for_the_text_that_was_scored(
    store: Store, in_files: RunSpec, articles: list[Article], sweep: Sweep
) -> None:
    run = begin(store, in_files)
    store.writer(*run).record([(articles[:2], sweep(articles[:2]))])
    made = sweep(articles[:2]).summaries
    scored = [replace(one, scores={**one.scores, **dict.fromkeys(OPTIONAL, 0.5)}) for one in made]
    changed = [replace(scored[0], text="another text"), *scored[1:]]
    store.writer(*run).record_kept(changed)

    def lacking() -> set[tuple[object, ...]]:
        with store.query("select article_id, system, n from summaries where kept is null") as answer:
            return set(map(tuple, answer.rows))

    assert lacking() == {(scored[0].article_id, scored[0].system, scored[0].n)}
    store.writer(*run).record_kept([replace(one, scores={**one.scores, "kept": 0.75}) for one in scored])
    assert lacking() == set()
    with store.query("select kept, count(*) from summaries group by 1 order by 1") as answer:
        assert list(map(tuple, answer.rows)) == [(0.5, 11), (0.75, 1)]


def test_content_kept_is_not_stored_for_a_row_that_has_been_computed_again(
    store: Store, in_files: RunSpec, articles: list[Article], sweep: Sweep
) -> None:
    """Its text is in another file than the one that was scored."""
    run = begin(store, in_files)
    made = sweep(articles[:1]).summaries
    store.writer(*run).record([(articles[:1], BundleResult(made, ()))])
    with store.writing() as connection:
        connection.execute(update(SummaryRow).values(kept=None))
        connection.exec_driver_sql("delete from summaries")
    again = BundleResult(tuple(replace(one, text=f"{one.text}!") for one in made), ())
    store.writer(*run).record([(articles[:1], again)])
    store.writer(*run).record_kept(
        [replace(one, scores={**one.scores, "kept": 0.5, "kept_words": 0.5}) for one in made]
    )
    with store.query("select count(*) from summaries where kept = 0.5") as answer:
        assert list(answer.rows) == [(0,)]


def test_rows_and_files_may_be_mixed_in_a_run(
    store: Store, spec: RunSpec, articles: list[Article], sweep: Sweep, tmp_path: Path
) -> None:
    run = begin(store, spec)
    store.writer(*run).record([(articles[:2], sweep(articles[:2]))])
    expected = [store.articles(run[0]).summaries(article.id) for article in articles[:2]]
    put_into_files(store, run[0], tmp_path / "texts", at_once=1)
    writer = store.writer(*run)
    writer._texts = None
    writer.record([(articles[2:], sweep(articles[2:]))])
    assert [store.articles(run[0]).summaries(article.id) for article in articles[:2]] == expected
    assert len(store.points(run[0]).n) == 24
    assert len(store.finished_article_ids(run[0], Stage())) == 4


def test_the_page_on_sql_finds_the_files(
    store: Store, in_files: RunSpec, articles: list[Article], sweep: Sweep
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "sql.md").read_text("utf-8")
    (sql,) = re.findall(r"^## Texts in files\n.*?```sql\n(.*?)\n```$", page, re.MULTILINE | re.DOTALL)
    run = begin(store, in_files)
    for part in (articles[:3], articles[3:]):
        store.writer(*run).record([(part, sweep(part))])
    with store.query(sql) as answer:
        found = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    assert sorted(row["rows"] for row in found) == [6, 18]
    path = folder_of_run(store, run[0]).path
    for row in found:
        root = f"{store.url.removeprefix('sqlite:///')}.texts" if row["folder"] is None else row["folder"]
        assert Path(root, row["run_id"]) == path
        assert (path / row["name"]).is_file()
    frame = pd.read_parquet(path)
    written = {(one.article_id, one.system, one.n): one.text for one in sweep(articles).summaries}
    assert dict(zip(zip(frame.article_id, frame.system, frame.n, strict=True), frame.text, strict=True)) == written
    assert {article.id: article.content_hash for article in articles} == dict(
        zip(frame.article_id, frame.content_hash, strict=True)
    )


def test_draws_lie_with_the_text(
    store: Store, in_files: RunSpec, articles: list[Article], summary: Callable[..., Summary]
) -> None:
    """In their place among what else a system tells; a file has them, and the row their number."""
    extras = [{"draws": ("하나", "둘", ""), "dtype": "float32"}, {"a": 1.5, "draws": ("only",)}, {"draws": 5.0}, {}]
    made = [replace(summary(articles[0], "lead", n), extra=extra) for n, extra in enumerate(extras)]
    made[3] = replace(made[3], chosen_scores={"mine": 0.25})
    run = begin(store, in_files)
    store.writer(*run).record([(articles[:1], BundleResult(tuple(made), ()))])
    with store.query("select extra from summaries order by n") as answer:
        stored = [json.loads(extra) if isinstance(extra, str) else extra for (extra,) in answer.rows]
    assert stored == [
        {"draws": 3, "dtype": "float32"},
        {"a": 1.5, "draws": 1},
        {"draws": 5.0},
        {"scores": {"mine": 0.25}},
    ]
    assert store.articles(run[0]).summaries(articles[0].id) == made
    (found,) = store.article_texts(run[0], [articles[0].id])
    read = [dict(row["extra"]) for row in sorted(found.summaries, key=lambda row: row["n"])]
    assert [list(extra) for extra in read] == [list(extra) for extra in extras]
    assert read == [{k: list(v) if isinstance(v, tuple) else v for k, v in extra.items()} for extra in extras]
