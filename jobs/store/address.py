"""Store URLs: which databases can be used, which file is meant, and how to show one without its password."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, quote_plus

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from core.errors import StoreError

DEFAULT_STORE = "sqlite:///nws.db"

_USABLE = "use sqlite:///FILE or postgresql://USER@HOST/DATABASE"
_DRIVERS = {
    "sqlite": "sqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}
# Options of libpq that hold no secret. Any other is hidden: `passwd=` is a password, too, and so is what stands behind
# a ? in one.
_SHOWN_OPTIONS = frozenset(
    {"application_name", "connect_timeout", "dbname", "host", "port", "sslmode", "sslrootcert", "user"}
)
# What users, hosts and databases are named like. A password that was typed in a wrong place may be anything else.
_PLAIN = re.compile(r"[\w.@+/-]*")


# A file's name without the rest of its URL. A password is never alone: there is a user, a host or an = beside it.
_WORD = re.compile(r"\w[\w.-]*")


@dataclass(frozen=True, slots=True, repr=False)
class Address:
    """Where a store is.

    `url` is for SQLAlchemy and holds the password; `shown` is for people and does not. `path` is the absolute
    path of a SQLite store's file, None for Postgres.
    """

    url: URL
    shown: str
    path: Path | None

    def scrub(self, message: str) -> str:
        """The message without the password, should a driver have quoted it."""
        secrets = [value for key, value in _options(self.url) if key not in _SHOWN_OPTIONS]
        secrets += [self.url.password] if isinstance(self.url.password, str) else []
        forms = {form for secret in secrets if secret for form in (secret, quote(secret, safe=""), quote_plus(secret))}
        longest_first = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
        return re.sub(longest_first, "***", message) if forms else message


def parse_address(url: str | Path | None) -> Address:
    """Read a store URL; `postgresql://` means psycopg 3, and a relative SQLite path is taken from here.

    Raises:
        StoreError: The URL cannot be read, or names a database that NWS does not support. Of what may be a password in
            the wrong place, the message quotes nothing.
    """
    if not isinstance(url, str):
        raise StoreError(f"a store's URL is text, and this is {type(url).__name__}: {_USABLE}")
    if any("\ud800" <= character <= "\udfff" for character in url):  # bytes that are no UTF-8
        raise StoreError(f"a store's URL is no text that can be read: write it in UTF-8, and {_USABLE}")
    if url.count("@") > 1:
        raise StoreError(f"the store URL {_mask(url)!r} has more than one @: write one in a password as %40")
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        # `from None`: the parser's own message can quote a part of the password.
        meant = f"; for this file: sqlite:///{url}" if _WORD.fullmatch(url) else ""
        raise StoreError(f"cannot read the store URL {_mask(url)!r}: {_USABLE}{meant}") from None
    shown = _shown(parsed)
    if parsed.drivername not in _DRIVERS:
        raise StoreError(f"the store URL {shown!r} names an unsupported database: {_USABLE}")
    after_host = re.sub(r"^[^:]*://[^/?]*", "", url)
    if re.search(":.*@" if parsed.drivername == "sqlite" else "@", after_host):
        # What stands before the @ was meant as user and password.
        raise StoreError(f"cannot read the store URL {_mask(url)!r}: there is a / or : too many or too few; {_USABLE}")
    parsed = parsed.set(drivername=_DRIVERS[parsed.drivername])
    if parsed.drivername != "sqlite":
        return Address(parsed, shown, None)
    name = parsed.database
    if parsed.host or parsed.query or not name or name == ":memory:" or name.startswith("file:") or "\0" in name:
        raise StoreError(
            f"the store URL {shown!r} does not name a file: write sqlite:/// (three slashes) and a path, "
            f"without options, e.g. {DEFAULT_STORE}"
        )
    path = Path(name).absolute()
    if path.is_dir():
        raise StoreError(f"the store {shown} is a folder: name a file in it, e.g. {shown}/nws.db")
    return Address(parsed.set(database=str(path)), shown, path)


def _options(url: URL) -> Iterator[tuple[str, str]]:
    """The options after the ?, each value by itself."""
    for key, values in url.query.items():
        for value in (values,) if isinstance(values, str) else values:
            yield key, value


def _shown(url: URL) -> str:
    is_file = url.drivername == "sqlite" and not url.host
    shown = {key: value if _PLAIN.fullmatch(value) else "***" for key, value in _options(url) if key in _SHOWN_OPTIONS}
    hidden = {} if url.query.keys() <= _SHOWN_OPTIONS else {"***": "***"}
    url = url.set(
        username=_plain(url.username),
        password="***" if url.password else None,
        host=_plain(url.host),
        database=url.database if is_file else _plain(url.database),
        query=shown | hidden,
    )
    return url.render_as_string(hide_password=True).replace("%2A%2A%2A", "***")


def _plain(name: str | None) -> str | None:
    return name if name is None or _PLAIN.fullmatch(name) else "***"


def _mask(text: str) -> str:
    """Of a text that is no usable URL, what cannot be a password: a file's name, or the kind of database."""
    if _WORD.fullmatch(text) or re.fullmatch(r"(sqlite:/*)?[\w./\\-]*\.(db|sqlite3?)|", text):
        return text
    kind = re.match(rf"({'|'.join(map(re.escape, sorted(_DRIVERS, reverse=True)))}):/*", text)
    return f"{kind[0]}***" if kind else "***"
