"""A Postgres database, or a connection to one, that is not in UTF-8 is refused in one line by every command."""

import os
from collections.abc import Iterator

import psycopg
import pytest
import sqlalchemy as sa


@pytest.fixture(params=["SQL_ASCII", "LATIN1", "EUC_KR"])
def encoded(request: pytest.FixtureRequest, postgres_server: str) -> Iterator[tuple[str, str]]:
    """An encoding, and the URL of a database that has it."""
    name = f"nws_{request.param.lower()}_{os.getpid()}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{request.param}' LOCALE 'C'")
        yield request.param, sa.make_url(postgres_server).set(database=name).render_as_string(hide_password=False)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_database_in_another_encoding_is_refused(nws, encoded: tuple[str, str]) -> None:
    encoding, url = encoded
    sweep = ("submit", "baselines", "--engine", "inline", "--system", "lead", "--n", "5")
    for command in (("db", "upgrade"), ("ls",), ("status",), sweep):
        failed = nws(*command, "--store", url)
        *_, line = failed.err.splitlines()  # after what it was about to do
        assert failed.code == 1
        assert f"has the encoding {encoding}, which cannot store every text." in line
        assert line.endswith("Create one in UTF-8: createdb -T template0 -E UTF8 NAME")


def test_doctor_reports_a_database_in_another_encoding(encoded: tuple[str, str]) -> None:
    from nws.jobs.commands.doctor import check_store

    encoding, url = encoded
    check = check_store(url)
    assert check.state == "broken"
    assert f"has the encoding {encoding}" in check.text


def test_a_client_in_another_encoding_is_refused(nws, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert nws("ls", "--store", postgres_url).code == 0
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    failed = nws("ls", "--store", postgres_url)
    (line,) = failed.err.splitlines()
    assert "the client of the store" in line
    assert "has the encoding LATIN1, which cannot store every text. Set PGCLIENTENCODING" in line
    assert nws("ls", "--store", f"{postgres_url}&client_encoding=utf8").code == 0
