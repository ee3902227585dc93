import sys

import pytest

from core.errors import StoreError
from jobs.store import open_store
from jobs.store.address import parse_address


def test_relative_sqlite_path_is_taken_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    address = parse_address("sqlite:///nws.db")
    assert address.path == tmp_path / "nws.db"
    assert address.url.database == str(tmp_path / "nws.db")
    assert address.shown == "sqlite:///nws.db"


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_postgres_urls_mean_psycopg_3(scheme):
    address = parse_address(f"{scheme}://ann:s3cret@db.example/news")
    assert address.url.drivername == "postgresql+psycopg"
    assert address.url.password == "s3cret"
    assert address.shown == f"{scheme}://ann:***@db.example/news"
    assert address.path is None


def test_password_in_the_query_is_hidden_too():
    address = parse_address("postgresql://db.example/news?user=ann&password=s3cret&sslpassword=t0p")
    assert "s3cret" not in address.shown
    assert "t0p" not in address.shown
    assert "user=ann" in address.shown
    assert "password=***" in address.shown
    assert address.scrub("no password s3cret, t0p") == "no password ***, ***"


@pytest.mark.parametrize(
    "url",
    [
        "nws.db",
        "",
        "postgresql://ann:s3cret@db.example:port/news",
        "host=db password=s3cret",
        "mysql://ann:s3cret@db.example/news",
        "postgresql+psycopg2://ann:s3cret@db.example/news",
    ],
)
def test_unusable_urls_are_refused_without_their_password(url):
    with pytest.raises(StoreError, match="use sqlite:///FILE or postgresql://USER@HOST/DATABASE") as caught:
        parse_address(url)
    chain = [str(caught.value), str(caught.value.__cause__)]
    assert not any("s3cret" in text for text in chain)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///:memory:", "sqlite://nws.db", "sqlite:///nws.db?mode=ro", "sqlite:///file:nws.db"]
)
def test_sqlite_urls_must_name_a_file(url):
    with pytest.raises(StoreError, match="three slashes"):
        parse_address(url)


def test_address_does_not_print_its_password():
    assert "s3cret" not in repr(parse_address("postgresql://ann:s3cret@db.example/news"))


def test_missing_psycopg_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r'pip install "psycopg\[binary\]"') as caught:
        open_store("postgresql://ann:s3cret@127.0.0.1/news")
    assert "s3cret" not in str(caught.value)


def test_unreachable_server_is_named_without_its_password():
    with pytest.raises(StoreError, match=r"store postgresql://ann:\*\*\*@127.0.0.1:1/news: .*connection") as caught:
        open_store("postgresql://ann:s3cret@127.0.0.1:1/news")
    assert "s3cret" not in str(caught.value)
    assert "\n" not in str(caught.value)
