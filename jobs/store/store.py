"""The store: runs, articles, summaries, failures and policies, in SQLite or Postgres."""

from jobs.store.address import parse_address
from jobs.store.articles import Articles
from jobs.store.checkpoints import Checkpoints
from jobs.store.copies import Copies
from jobs.store.engine import reader_engine, writer_engine
from jobs.store.lifecycle import Lifecycle
from jobs.store.means import Means
from jobs.store.queries import Queries
from jobs.store.removal import Removal
from jobs.store.results import Results
from jobs.store.run_writer import RunWriter
from jobs.store.runs import Runs
from jobs.store.schema import check_schema, create_if_fresh
from jobs.store.sharded_runs import ShardedRuns


def open_store(url: str, *, read_only: bool = False) -> "Store":
    """Open the store at a URL (`sqlite:///FILE`, `postgresql://USER@HOST/DATABASE`).

    A SQLite file that does not exist is created, unless `read_only`. A store with another schema is not touched.

    Raises:
        StoreError: The URL is not usable, the database cannot be opened, or its schema is not this code's.
    """
    address = parse_address(url)
    if not read_only:
        create_if_fresh(address)
    reader = reader_engine(address)
    check_schema(reader, address)
    return Store(address, None if read_only else writer_engine(address), reader)


class Store(
    Runs,
    Lifecycle,
    Removal,
    Results,
    Articles,
    Means,
    Checkpoints,
    Copies,
    ShardedRuns,
    Queries,
):
    """One open store. Its methods are in these parts; what a run's driver writes goes through its `writer`.

    What comes out are values, never rows, and each method is one transaction.

    **Exactly once.** A driver claims a run and gets an epoch; each of its writes checks, in the transaction of the
    write, that the run still has that epoch. A driver that was replaced gets a `FencedError` and has written
    nothing. Summaries have a unique key and the first one stays, so a bundle may be recorded again.

    **Who writes.** One driver a run, from any thread; on SQLite writers of several runs take turns. Readers see
    what was committed and never wait. Any method raises `StoreError` when the database refuses, or when a SQLite
    file is no longer the one that was opened: what is written to a deleted file is lost.
    """

    def writer(self, run_id: str, epoch: int) -> RunWriter:
        """What the driver that has claimed a run, and got this epoch, writes through."""
        return RunWriter(self, run_id, epoch)
