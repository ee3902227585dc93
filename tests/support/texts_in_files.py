"""What of texts in files must hold at any time: each row has its text, and no file is there that no row needs."""

from pathlib import Path

from sqlalchemy import delete

from jobs.store import Store
from jobs.store.new_summaries import by_place, insert_summaries, new_summaries
from jobs.store.tables import SummaryRow
from jobs.store.text_files import folder_of_run, insert_text_folder, name_file


def files_of(store: Store, run_id: str) -> set[str]:
    """The names of everything in the folder of a run."""
    folder = folder_of_run(store, run_id)
    assert folder is not None
    return {path.name for path in folder.path.iterdir()} if folder.path.is_dir() else set()


def named(store: Store, run_id: str) -> set[str]:
    """The names that the store knows of."""
    with store.query(f"select name from text_files where run_id = '{run_id}'") as answer:
        return {str(name) for (name,) in answer.rows}


def require_whole(store: Store, run_id: str) -> int:
    """Every row has its text in a file that is there, and all files are named; how many rows."""
    assert files_of(store, run_id) == named(store, run_id)
    with store.query(
        f"select count(*), count(text), count(text_file) from summaries where run_id = '{run_id}'"
    ) as answer:
        ((rows, in_rows, in_files),) = answer.rows
    assert (in_rows, in_files) == (0, rows)
    ids = sorted(store.content_hashes(run_id))
    texts = [summary["text"] for article in store.article_texts(run_id, ids) for summary in article.summaries]
    assert len(texts) == rows
    return int(rows)


def put_into_files(store: Store, run_id: str, root: Path | None, at_once: int = 2) -> None:
    """Make a run that has its texts in its rows one that has them in files, so many articles in each."""
    with store.writing() as connection:
        recipe = {"texts": "parquet"} | ({} if root is None else {"texts_folder": str(root)})
        insert_text_folder(connection, run_id, recipe)
    folder = folder_of_run(store, run_id)
    assert folder is not None
    folder.make()
    hashes = store.content_hashes(run_id)
    ids = sorted(hashes)
    for start in range(0, len(ids), at_once):
        of = ids[start : start + at_once]
        placed = by_place(summary for article_id in of for summary in store.articles(run_id).summaries(article_id))
        file = folder.write(1, placed.values(), hashes)
        with store.writing() as connection:
            connection.execute(delete(SummaryRow).where(SummaryRow.run_id == run_id, SummaryRow.article_id.in_(of)))
            insert_summaries(connection, new_summaries(run_id, placed, file.id))
            name_file(connection, run_id, file)
