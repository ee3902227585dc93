"""The open store of runs, articles and results in SQLite or Postgres."""

from contextlib import AbstractContextManager

from nws.core.errors import StoreError
from nws.jobs.store import articles, lifecycle, means, queries, results, run_progress, runs, sharded_runs
from nws.jobs.store.address import parse_address
from nws.jobs.store.database import Database, reads, writes
from nws.jobs.store.engine import reader_engine, writer_engine
from nws.jobs.store.run_writer import RunWriter
from nws.jobs.store.schema import check_schema, create_if_fresh


class Store(Database):
    """An open store. The SQL of each method is in a function. What a run's driver writes goes through its `writer`.

    Methods return values, never rows, and each method is one transaction.

    **Exactly once.** A driver claims a run and gets an epoch. Each of its writes checks, in the transaction of the
    write, that the run still has that epoch. A driver that was replaced gets a `FencedError` and writes nothing.
    Summaries have a unique key and the first one stays, so a bundle may be recorded again.

    **Who writes.** Each run has one driver that writes, from any thread. On SQLite, the writers of several runs take
    turns. Readers see what was committed and never wait. Each method raises `StoreError` if the database refuses, or if
    a SQLite file is no longer the one that was opened, since writes to a deleted file are lost.
    """

    run_info = reads(runs.read_run)
    require_free = reads(runs.require_free)
    list_runs = reads(runs.list_runs)
    search_runs = reads(runs.search_runs)
    find_run = reads(runs.find_run)
    full_id = reads(runs.full_id)

    create_run = writes(lifecycle.create_run)
    claim_run = writes(lifecycle.claim_run)
    submit_again = writes(lifecycle.submit_again)
    remove_run = writes(lifecycle.remove_run)
    _cancel = writes(lifecycle.cancel_run)

    create_sharded_run = writes(sharded_runs.create_sharded_run)
    open_shards = writes(sharded_runs.open_shards)
    close_shards = writes(sharded_runs.close_shards)
    claim_shard = writes(sharded_runs.claim_shard)
    shards = reads(runs.read_shards)
    shard_drivers = reads(sharded_runs.shard_drivers)
    parent_decided = reads(sharded_runs.parent_decided)

    log = reads(run_progress.log)
    newest_log = reads(run_progress.newest_log)
    progress_of = reads(run_progress.progress_of)
    checkpoints = reads(run_progress.checkpoints)
    policy_infos = reads(run_progress.policy_infos)
    learning_curve = reads(run_progress.learning_curve)

    finished_article_ids = reads(results.finished_article_ids)
    failures = reads(results.failures)
    content_hashes = reads(results.content_hashes)
    points = reads(results.points)
    written_texts = reads(results.written_texts)

    article_texts = reads(articles.article_texts)
    articles_without = reads(articles.articles_without)
    systems = reads(articles.systems)
    lengths = reads(articles.lengths)
    find_articles = reads(articles.find_articles)
    summaries = reads(articles.summaries)

    runs_with_reuse_keys = reads(articles.runs_with_reuse_keys)
    known_summaries = reads(articles.known_summaries)
    runs_that_asked = reads(articles.runs_that_asked)
    endpoint_texts = reads(articles.endpoint_texts)

    curve_means = reads(means.curve_means)
    obedience = reads(means.obedience)
    endpoint_use = reads(means.endpoint_use)
    document = reads(means.document)
    stored_document = reads(means.stored_document)
    headlines = reads(means.headlines)
    may_do_everything = reads(queries.may_do_everything)

    def progress(self, run_id: str) -> run_progress.Progress | None:
        """Return the last progress that the driver of a run reported; None before its first report."""
        return self.progress_of([run_id]).get(run_id)

    def newest_id(self, with_summaries: bool = False, is_training: bool = False) -> str:
        """Return the id of the newest run, of the newest run with summaries, or of the newest training.

        Raises:
            StoreError: there is none.
        """
        for run in self.list_runs():
            if (run.summaries or not with_summaries) and (run.job == "phase2" or not is_training):
                return run.id
        needed = "training" if is_training else "run with summaries" if with_summaries else "run"
        job = "phase2" if is_training else "phase1"
        raise StoreError(f"the store {self.shown_url} has no {needed} yet. Start one with: nws submit {job}")

    def cancel_run(self, run_id: str, host: str) -> bool:
        """Ask the driver of a run, and those of its shards, to stop, see `lifecycle.cancel_run`."""
        is_driven = self._cancel(run_id, host)
        self.retried(lambda: means.cache_means(self, run_id))
        return is_driven

    def query(self, sql: str) -> AbstractContextManager[queries.QueryResult]:
        """Run one SQL statement that reads: `with store.query("SELECT …") as answer: … answer.rows`.

        Raises:
            StoreError: on entering or reading, the database refuses (with its own message), or the SQL writes or
                returns no rows.
        """
        return queries.query(self._reader, self._address, sql)

    def writer(self, run_id: str, epoch: int) -> RunWriter:
        """Return the writer of the driver that has claimed a run and got this epoch."""
        return RunWriter(self, run_id, epoch)


def open_store(url: str, *, read_only: bool = False) -> Store:
    """Open the store at a URL (`sqlite:///FILE`, `postgresql://USER@HOST/DATABASE`).

    A missing SQLite file is created, unless `read_only`. A store with another schema is not changed.

    Raises:
        StoreError: the URL is not usable, the database cannot be opened, or its schema is not this code's.
    """
    address = parse_address(url)
    if not read_only:
        create_if_fresh(address)
    reader = reader_engine(address)
    check_schema(reader, address)
    return Store(address, None if read_only else writer_engine(address), reader)
