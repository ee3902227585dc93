"""An open database, whose methods are transactions. They can wait while the database is unreachable.

A store has one engine that writes and one that reads.
"""

import copy
import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Concatenate, ParamSpec, Self, TypeVar

from sqlalchemy import Connection, Engine

from nws.core.errors import StoreError, StoreUnavailableError
from nws.jobs.store.address import Address
from nws.jobs.store.engine import file_identity, transaction

PATIENCE_SECONDS = 3600.0
"""How long to wait for the database: its restart must not cost a night's work."""
_LONGEST_PAUSE_SECONDS = 15.0

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Database:
    """A database with a writer and a reader, whose methods are one transaction each, see `reads` and `writes`."""

    def __init__(self, address: Address, writer: Engine | None, reader: Engine) -> None:
        self._address = address
        self._writer = writer
        self._reader = reader
        self._file = file_identity(address)
        self._tell: Callable[[str], None] | None = None
        self._before_attempt: Callable[[], None] = lambda: None

    @property
    def shown_url(self) -> str:
        """The URL with its password hidden."""
        return self._address.shown

    @property
    def url(self) -> str:
        """The URL with its password."""
        return self._address.url.render_as_string(hide_password=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection. The store must not be used afterwards."""
        self._reader.dispose()
        if self._writer is not None:
            self._writer.dispose()

    def waiting(
        self, tell: Callable[[str], None] = lambda line: None, before_attempt: Callable[[], None] = lambda: None
    ) -> Self:
        """Return this store with methods that wait for an unreachable database, for an hour at most, see `patiently`.

        `tell` gets a line when the waiting begins and when it is over. `before_attempt` is called before each attempt.
        """
        patient = copy.copy(self)
        patient._tell, patient._before_attempt = tell, before_attempt
        return patient

    def retried(self, attempt: Callable[[], Result]) -> Result:
        """Call `attempt` and return its result. A `waiting` store repeats it while the database is unreachable."""
        if self._tell is None:
            return attempt()

        def next_attempt() -> Result:
            self._before_attempt()
            return attempt()

        return patiently(next_attempt, self._tell)

    def in_transaction(
        self, begin: Callable[[], AbstractContextManager[Connection]], work: Callable[[Connection], Result]
    ) -> Result:
        """Do `work` in one transaction and return its result, see `retried`."""

        def attempt() -> Result:
            with begin() as connection:
                return work(connection)

        return self.retried(attempt)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that may write. If anything is raised, nothing of it is stored."""
        if self._writer is None:
            raise StoreError(f"the store {self.shown_url} was opened read-only")
        self._require_same_file()
        with transaction(self._writer, self._address) as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a transaction that reads what was committed when it began."""
        self._require_same_file()
        with transaction(self._reader, self._address) as connection:
            yield connection

    def _require_same_file(self) -> None:
        identity = file_identity(self._address)
        if identity != self._file:
            problem = "was deleted or moved away" if identity is None else "was replaced by another file"
            raise StoreError(
                f"the store {self.shown_url} {problem} while it was in use, so nothing more is stored. The results so "
                "far are in the old file. Put it back, with its -wal file if there is one, and resume the run"
            )


def reads(
    work: Callable[Concatenate[Connection, Parameters], Result],
) -> Callable[Concatenate[Database, Parameters], Result]:
    """Turn a function that reads into a method of a store. Callers give all arguments but the connection."""

    @functools.wraps(work)
    def method(self: Database, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        return self.in_transaction(self.reading, lambda connection: work(connection, *args, **kwargs))

    return method


def writes(
    work: Callable[Concatenate[Connection, Parameters], Result],
) -> Callable[Concatenate[Database, Parameters], Result]:
    """Turn a function that writes into a method of a store. Callers give all arguments but the connection."""

    @functools.wraps(work)
    def method(self: Database, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        return self.in_transaction(self.writing, lambda connection: work(connection, *args, **kwargs))

    return method


def patiently(call: Callable[[], Result], tell: Callable[[str], None]) -> Result:
    """Call `call` and return its result; retry it with growing pauses for an hour while the store cannot be reached.

    Args:
        call: a function that does a whole transaction or nothing, and that may safely be repeated.
        tell: a function that gets a line when the waiting begins, and when it is over.

    Raises:
        StoreUnavailableError: the store did not come back.
        StoreError: the store refused.
    """
    import tenacity  # imported late, so that `nws ls` starts quickly

    is_announced = False

    def before_sleep(state: tenacity.RetryCallState) -> None:
        nonlocal is_announced
        if not is_announced and state.outcome is not None:
            is_announced = True
            tell(f"Waiting for the store, for up to {PATIENCE_SECONDS / 60:.0f} minutes: {state.outcome.exception()}")

    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(StoreUnavailableError),
        wait=tenacity.wait_random_exponential(multiplier=0.5, max=_LONGEST_PAUSE_SECONDS),
        stop=tenacity.stop_after_delay(PATIENCE_SECONDS),
        before_sleep=before_sleep,
        reraise=True,
    )
    result = retrying(call)
    if is_announced:
        tell("The store is back.")
    return result
