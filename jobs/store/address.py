"""Store URLs: which databases can be used, which file is meant, and how to show one without its password."""

import re
from dataclasses import dataclass
from pathlib import Path

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
        secrets = [self.url.password, *(self.url.query[key] for key in self.url.query if "password" in key)]
        for secret in secrets:
            if isinstance(secret, str) and secret:
                message = message.replace(secret, "***")
        return message


def parse_address(url: str) -> Address:
    """Read a store URL; `postgresql://` means psycopg 3, and a relative SQLite path is taken from here.

    Raises:
        StoreError: The URL cannot be read, or names a database that NWS does not support.
    """
    if url.partition("?")[0].count("@") > 1:
        raise StoreError(f"the store URL {_mask(url)!r} has more than one @: write one in a password as %40")
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        # `from None`: the parser's own message can quote a part of the password.
        raise StoreError(f"cannot read the store URL {_mask(url)!r}: {_USABLE}") from None
    shown = _shown(parsed)
    if parsed.drivername not in _DRIVERS:
        raise StoreError(f"the store URL {shown!r} names an unsupported database: {_USABLE}")
    parsed = parsed.set(drivername=_DRIVERS[parsed.drivername])
    if parsed.drivername != "sqlite":
        return Address(parsed, shown, None)
    name = parsed.database
    if parsed.host or parsed.query or not name or name == ":memory:" or name.startswith("file:"):
        raise StoreError(
            f"the store URL {shown!r} does not name a file: write sqlite:/// (three slashes) and a path, "
            f"without options, e.g. {DEFAULT_STORE}"
        )
    path = Path(name).absolute()
    return Address(parsed.set(database=str(path)), shown, path)


def _shown(url: URL) -> str:
    hidden = {key: "***" if "password" in key else value for key, value in url.query.items()}
    if url.password == "":
        url = url.set(password=None)
    return url.set(query=hidden).render_as_string(hide_password=True).replace("%2A%2A%2A", "***")


def _mask(text: str) -> str:
    """Hide what may be a password in a text that is no URL."""
    return re.sub(r"(password=)[^&\s]*", r"\1***", re.sub(r"//.*@", "//***@", text))
