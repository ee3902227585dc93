"""Store URLs: which databases are supported, which file a URL means, and how to show a URL without its password."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, quote_plus

from sqlalchemy import URL, make_url

from nws.core.errors import StoreError

DEFAULT_STORE = "sqlite:///nws.db"

_USABLE = "use sqlite:///FILE or postgresql://USER@HOST/DATABASE"
# Users, hosts and databases with other characters must be percent-encoded: an unencoded character may be part of a
# password in the wrong place.
_POSTGRES = re.compile(r"postgres(ql|ql\+psycopg)?://([\w.%+-]*(:[^@/?]*)?@)?[\w.,:%\[\]-]*(/[\w.%+-]*)?(\?[^@]*)?")
# Options of libpq without secrets. All others are hidden: `passwd=` holds a password, too, and so may anything after
# a ? in one.
_SHOWN_OPTIONS = frozenset(
    {"application_name", "connect_timeout", "dbname", "host", "port", "sslmode", "sslrootcert", "user"}
)
_PLAIN = re.compile(r"[\w.@+/-]*")
# A file's name, with or without the rest of its URL. A password always has a user, a host or an = beside it.
_FILE_ALONE = re.compile(r"(sqlite:/*)?[\w./\\-]*")


@dataclass(frozen=True, slots=True, repr=False)
class Address:
    """The address of a store.

    Attributes:
        url: the URL for SQLAlchemy, with the password.
        shown: the URL for people, without the password.
        path: the absolute path of a SQLite store's file; None for Postgres.
    """

    url: URL
    shown: str
    path: Path | None

    def scrub(self, message: str) -> str:
        """Remove the password from a message, in case a database driver has quoted it."""
        options = self.url.normalized_query.items()
        secrets = [value for key, values in options if key not in _SHOWN_OPTIONS for value in values]
        secrets += [self.url.password] if isinstance(self.url.password, str) else []
        forms = {form for secret in secrets if secret for form in (secret, quote(secret, safe=""), quote_plus(secret))}
        longest_first = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
        return re.sub(longest_first, "***", message) if forms else message


def parse_address(url: str | Path | None) -> Address:
    """Parse a store URL. `postgresql://` means psycopg 3, and a relative SQLite path starts at the working directory.

    Raises:
        StoreError: the URL cannot be parsed, or names a database that NWS does not support. The message does not quote
            a URL that may hold a password.
    """
    if not isinstance(url, str) or any("\ud800" <= character <= "\udfff" for character in url):
        raise StoreError(f"a store's URL must be text in UTF-8, and this {type(url).__name__} is not: {_USABLE}")
    if url.startswith("sqlite:"):
        return _file_address(url)
    if not _POSTGRES.fullmatch(url):
        raise _unreadable(url)
    try:
        parsed = make_url(url)
    except ValueError:  # the port is not a number; `from None`, because the message quotes the URL
        raise _unreadable(url) from None
    plain = {key: value for key, (*_, value) in parsed.normalized_query.items() if _PLAIN.fullmatch(value)}
    shown = parsed.set(query={key: plain[key] for key in plain if key in _SHOWN_OPTIONS})
    return Address(parsed.set(drivername="postgresql+psycopg"), shown.render_as_string(hide_password=True), None)


def _file_address(url: str) -> Address:
    name = url.removeprefix("sqlite:///")
    if name in (url, "", ":memory:") or name.startswith("file:") or re.search(r"[?\0]|:.*@", name):
        raise StoreError(
            f"the store URL {_quoted(url)} does not name a file. Write sqlite:/// (three slashes) and a path "
            f"without options, such as {DEFAULT_STORE}"
        )
    path = Path(name).absolute()
    if path.is_dir():
        raise StoreError(f"the store {url} is a folder. Name a file in it, such as {url}/nws.db")
    return Address(URL.create("sqlite", database=str(path)), url, path)


def _unreadable(url: str) -> StoreError:
    meant = f"; for this file: sqlite:///{url}" if re.fullmatch(r"\w[\w.-]*", url) else ""
    return StoreError(
        f"the store URL {_quoted(url)} cannot be read: it is mistyped, or its database is not supported. In passwords, "
        f"write @, : and / as %40, %3A and %2F, and {_USABLE}{meant}"
    )


def _quoted(url: str) -> str:
    return repr(url) if _FILE_ALONE.fullmatch(url) else "(not shown: it may hold a password)"
