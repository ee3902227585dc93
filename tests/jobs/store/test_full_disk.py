"""A disk that is full under the store: whoever has room again within the hour finds the run going on."""

import sqlalchemy as sa

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


def test_a_run_waits_for_room_and_goes_on(store, run, articles, sweep) -> None:
    engine, told, most = store._writer, [], [1]  # pages; SQLite takes at least those that the file has
    if engine.dialect.name == "postgresql":
        with engine.begin() as connection:
            connection.exec_driver_sql(_NO_ROOM)
    else:
        limit = lambda connection: connection.exec_driver_sql(f"PRAGMA max_page_count={most[0]}")  # noqa: E731
        sa.event.listen(engine, "begin", limit)

    def make_room(line: str) -> None:
        """What a person does who reads the line."""
        told.append(line)
        most[0] = 2**30
        if engine.dialect.name == "postgresql":
            with engine.begin() as connection:
                connection.exec_driver_sql("DROP TRIGGER IF EXISTS no_room ON summaries")

    store.waiting(make_room).writer(*run).record([(articles, sweep(articles))])
    assert told[0].startswith("Waiting for the store")
    assert _MESSAGES[engine.dialect.name] in told[0]
    assert told[1:] == ["The store is back."]
    assert store.run_info(run[0]).summaries == 24
