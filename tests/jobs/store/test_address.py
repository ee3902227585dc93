import string
import sys
import traceback
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import nws
from nws.core.errors import StoreError
from nws.jobs.store import open_store
from nws.jobs.store.address import parse_address

# Where a password stands in a URL, right or mistyped.
SPELLINGS = (
    "postgresql://ann:{}@db.example/news",
    "postgresql://ann:{}@db.example:5432/news?sslmode=require",
    "postgres:/ann:{}@db.example/news",
    "postgresql:ann:{}@db.example",
    "postgresql//ann:{}@db.example/news",
    "postgresql:///ann:{}@db.example/news",
    "postgresql://ann:{}",
    "postgresql://ann:{}/news",
    "postgresql://ann:{}@db.example:port/news",
    "postgresql://ann/{}@db.example/news",
    "postgresql://ann;{}@db.example/news",
    "postgresql://ann:{}@@db.example/news",
    "postgresql://:{}@db.example/news",
    "postgresql+psycopg2://ann:{}@db.example/news",
    "postgrseql://ann:{}@db.example/news",
    "mysql://ann:{}@db.example/news",
    "sqlite:///ann:{}@db.example/news",
    "sqlite://ann:{}@db.example/news",
    "ann:{}@db.example/news",
    "//ann:{}@db.example/news",
    " postgresql://ann:{}@db.example/news",
    "'postgresql://ann:{}@db.example/news'",
    "postgresql://ann@db.example/news?passwd={}",
    "postgresql://ann@db.example/news?PASSWORD={}",
    "postgresql://ann@db.example/news?password=&password={}",
    "postgresql://ann@db.example/news?sslpassword={}&sslmode=require",
    "postgresql://ann@db.example/news&password={}",
    "host=db.example user=ann password={}",
    "host=db.example password='{}'",
    'password = "{}"',
)
_TYPED = st.text(alphabet=string.ascii_letters + string.digits + " !#$%&'*+,-./:;<=>?@\\^_`{|}~é한", max_size=12)


@settings(max_examples=300, deadline=None)
@given(spelling=st.sampled_from(SPELLINGS), before=_TYPED, after=_TYPED, is_quoted=st.booleans())
@example(spelling=SPELLINGS[-1], before="two words ", after="", is_quoted=False)
@example(spelling=SPELLINGS[0], before="a?b@", after="", is_quoted=False)
@example(spelling="postgresql://ann@db.example/news&password={}", before="?", after="=0", is_quoted=False)
def test_no_password_is_shown_however_a_url_is_mistyped(spelling, before, after, is_quoted):
    password = f"{before}HUNTER2{after}"
    # Unquoted, these make another URL that is right: its host, database or further option is what was typed there.
    assume(is_quoted or not set(password) & ({"&"} if "@" in spelling else {"@", "/"}))
    url = spelling.format(quote(password, safe="") if is_quoted else password)
    assert "HUNTER2" not in _said_of(url)


def _said_of(url):
    """Whatever an address or its error shows, and a driver's message that quotes the password."""
    try:
        address = parse_address(url)
    except StoreError as error:
        return "".join(traceback.format_exception(error))
    secret = address.url.password or ""
    return f"{address.shown} {address!r} {address.scrub(f'no user with {secret} or {quote(secret, safe=str())}')}"


@pytest.mark.parametrize("word", ["dirstore", "my-store_2", "nws.db"])
def test_a_bare_word_is_shown_with_the_url_of_its_file(word):
    with pytest.raises(StoreError, match=f"store URL '{word}' cannot be read: .*; for this file: sqlite:///{word}$"):
        parse_address(word)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_postgres_urls_mean_psycopg_3_and_are_shown_without_their_passwords(scheme):
    address = parse_address(f"{scheme}://ann:s3cret@db.example/news?sslmode=require&sslpassword=t0p")
    assert (address.url.drivername, address.url.password) == ("postgresql+psycopg", "s3cret")
    assert (address.shown, address.path) == (f"{scheme}://ann:***@db.example/news?sslmode=require", None)
    assert address.scrub("no password s3cret, t0p") == "no password ***, ***"


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///:memory:", "sqlite://nws.db", "sqlite:///nws.db?mode=ro", "sqlite:///file:nws.db"]
)
def test_sqlite_urls_must_name_a_file(url):
    with pytest.raises(StoreError, match="three slashes"):
        parse_address(url)


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


@pytest.mark.parametrize("url", [None, Path("nws.db"), "sqlite:///caf\udce9.db", "postgresql://s3cret\udcff@host/news"])
def test_what_is_no_text_is_no_url(url):
    with pytest.raises(StoreError, match=r"a store's URL must be text in UTF-8, and this .* is not") as caught:
        nws.open_store(url)
    assert "s3cret" not in str(caught.value)
