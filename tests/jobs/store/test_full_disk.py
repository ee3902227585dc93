"""A disk that is full under the store: whoever has room again within the hour finds the run going on."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa
from rich.console import Console

from bench import stub_work
from jobs.drive import driver
from jobs.recipes.job import make_plan
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep_recipe import Phase1Recipe
from jobs.store import Store

# As Postgres itself says it (src/backend/storage/smgr/md.c), with the SQLSTATE that it then has.
_NO_ROOM = """
CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'could not extend file "base/1/2": No space left on device'
        USING ERRCODE = '53100', HINT = 'Check free disk space.';
END $$;
CREATE TRIGGER no_room BEFORE INSERT ON summaries EXECUTE FUNCTION no_room();
"""
_MESSAGES = {"sqlite": "database or disk is full", "postgresql": "No space left on device"}
_ALL_PAGES = 2**30


@contextmanager
def full_disk(store: Store) -> Iterator[Callable[[], None]]:
    """The store's disk is full until what is yielded is called."""
    engine = store._writer
    assert engine is not None
    if engine.dialect.name == "postgresql":
        with engine.begin() as connection:
            connection.exec_driver_sql(_NO_ROOM)

        def make_room() -> None:
            with engine.begin() as connection:
                connection.exec_driver_sql("DROP TRIGGER no_room ON summaries")

        yield make_room
        return
    most = [1]  # pages; SQLite takes at least those that the file has

    def limit(connection: sa.Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA max_page_count={most[0]}")

    sa.event.listen(engine, "begin", limit)
    yield lambda: most.__setitem__(0, _ALL_PAGES)
    sa.event.remove(engine, "begin", limit)


class Watcher(io.StringIO):
    """A person who reads the console, and makes room when it says that there is none."""

    def __init__(self, make_room: Callable[[], None]) -> None:
        super().__init__()
        self._make_room = make_room

    def write(self, text: str) -> int:
        if text.startswith("Waiting for the store"):
            self._make_room()
        return super().write(text)


def test_a_run_waits_for_room_and_goes_on(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NWS_STUB_SECONDS", "0")
    plan = make_plan(load_recipe(Phase1Recipe, "sample", {"n": [1, 7]}))
    with full_disk(store) as make_room:
        watcher = Watcher(make_room)
        outcome = driver.start(store, plan, "inline", Console(file=watcher, width=200), stub_work.work)
    assert (outcome.state, outcome.articles, outcome.failures) == ("done", 24, 0)
    said = [line.text for _, line in store.log(outcome.run_id)]
    waited = [text for text in said if text.startswith("Waiting for the store")]
    assert waited
    assert _MESSAGES[store._writer.dialect.name] in waited[0]
    assert "The store is back." in said
