"""The store: runs, articles, summaries, failures and policies, in SQLite or Postgres."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Self

from sqlalchemy import Connection, Engine

from core.errors import StoreError
from core.types import Landed, SystemKind
from jobs.store import article_texts, asked, checkpoints, progress, removal, results, reuse, run_means, runs, tracked
from jobs.store.address import Address, parse_address
from jobs.store.article_texts import ArticleTexts
from jobs.store.articles import RunArticles
from jobs.store.asked import AskedWords, TokensUsed
from jobs.store.checkpoints import CurveRow, GreedyReward, PolicyCheckpoint, PolicyInfo, RoundResult
from jobs.store.engine import file_identity, reader_engine, transaction, writer_engine
from jobs.store.extend import extend
from jobs.store.progress import Progress, Reason, Written
from jobs.store.query import Answer, run_query
from jobs.store.removal import Removed
from jobs.store.results import SWEEP, FailureInfo, Stage
from jobs.store.reuse import Reusable, StageWork
from jobs.store.runs import FinalState, LogLine, RunInfo, RunSpec
from jobs.store.schema import check_schema, create_if_fresh
from jobs.store.tracked import CurveMeans, UpdateNumbers

if TYPE_CHECKING:  # `nws ls` must not wait for NumPy and SciPy
    from core.analysis import Metric, Points
    from core.article_ids import ArticleIds


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


class Store:
    """One open store. What comes out are values, never rows, and each method is one transaction.

    **Exactly once.** A driver claims a run and gets an epoch; each of its writes checks, in the transaction of the
    write, that the run still has that epoch. A driver that was replaced gets a `FencedError` and has written
    nothing. Summaries have a unique key and the first one stays, so a bundle may be recorded again.

    **Who writes.** One driver a run, from any thread; on SQLite writers of several runs take turns. Readers see
    what was committed and never wait. Any method raises `StoreError` when the database refuses, or when a SQLite
    file is no longer the one that was opened: what is written to a deleted file is lost.
    """

    def __init__(self, address: Address, writer: Engine | None, reader: Engine) -> None:
        self._address = address
        self._writer = writer
        self._reader = reader
        self._file = file_identity(address)

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection. The store must not be used afterwards."""
        self._reader.dispose()
        if self._writer is not None:
            self._writer.dispose()

    def create_run(self, spec: RunSpec, run_id: str | None = None) -> str:
        """Add a pending run and return its id: `run_id`, or a new one (see `new_run_id`).

        Raises:
            StoreError: A part of it is not JSON.
        """
        runs.check(spec)
        run_id = run_id or runs.new_run_id(spec.job)
        with self._write() as connection:
            runs.create(connection, spec, run_id)
        return run_id

    def claim_run(self, run_id: str, host: str, pid: int, *, take_over: bool = False, epoch: int | None = None) -> int:
        """Take a run for the driver at `host` and `pid`; it is 'running' from now on, and no longer to be cancelled.

        Args:
            run_id: which.
            host: name of the driver's machine.
            pid: the driver's process there.
            take_over: take it from a driver that seems to be alive, too.
            epoch: take it only if it still has this epoch, which is the caller's: a job's from its submission, or that
                of an earlier claim.

        Returns:
            The driver's epoch, to be given with every write. Every earlier epoch of the run is fenced off.

        Raises:
            StoreError: There is no such run (the message lists the newest ones), or another driver works on it.
            FencedError: The run has another epoch.
        """
        with self._write() as connection:
            claimed = runs.claim(connection, run_id, host, pid, take_over, epoch)
            progress.forget(connection, run_id)
        if claimed > 1:
            # Counted anew: somebody may have deleted rows by hand, to have them computed again.
            with self._read() as connection:
                counts = results.count(connection, run_id)
            with self._write() as connection:
                runs.write_fenced(connection, run_id, claimed, **counts)
                run_means.forget(connection, run_id)
        return claimed

    def submit_again(self, run_id: str, host: str, address: str, take_over: bool) -> int:
        """Give a run to a job that is about to be submitted to the dashboard at `address`.

        Returns:
            The epoch with which that job claims the run. Jobs and drivers that had it before are fenced off.

        Raises:
            StoreError: A driver works on it as far as `host` can tell (unless `take_over`), or there is no such run.
        """
        with self._write() as connection:
            return runs.submit_again(connection, run_id, host, address, take_over)

    def extend_run(self, run_id: str, host: str, spec: RunSpec) -> None:
        """Give a run that has ended more systems: it is 'interrupted' until a driver has resumed it.

        Raises:
            StoreError: A driver works on it as far as `host` can tell, it has not begun, there is no such run, or a
                part of `spec` is not JSON.
        """
        runs.check(spec)
        with self._write() as connection:
            extend(connection, run_id, host, spec)

    def require_free(self, run_id: str, host: str, take_over: bool = False) -> RunInfo:
        """A run that no driver works on, as far as `host` can tell; with `take_over`, any run.

        Raises:
            StoreError: A driver works on it, or there is no such run.
        """
        with self._read() as connection:
            return runs.info(connection, run_id) if take_over else runs.require_free(connection, run_id, host)

    def heartbeat(self, run_id: str, epoch: int, lines: Sequence[LogLine] = (), at: Progress | None = None) -> bool:
        """Say that the driver is alive, what it has to tell, and what it is at; whether it was asked to stop.

        Raises:
            FencedError: The run is no longer this driver's.
        """
        with self._write() as connection:
            is_to_stop = runs.heartbeat(connection, run_id, epoch, lines)
            if at is not None:
                progress.note(connection, run_id, at)
            return is_to_stop

    def cancel_run(self, run_id: str, host: str) -> bool:
        """Ask a run's driver to stop. A run without one is 'interrupted' at once, unless it has ended already.

        Returns:
            Whether there is a driver, as far as `host` can tell, that will stop in a moment.

        Raises:
            StoreError: There is no such run; the message lists the newest ones.
        """
        with self._write() as connection:
            is_driven = runs.cancel(connection, run_id, host)
        self._keep_means(run_id)
        return is_driven

    def log(self, run_id: str, after: int = 0) -> list[tuple[int, LogLine]]:
        """What the drivers of a run said, numbered from 1; only what came after number `after`."""
        with self._read() as connection:
            return runs.log(connection, run_id, after)

    def start_run(
        self,
        run_id: str,
        epoch: int,
        device: str | None,
        code_version: str,
        systems: Mapping[str, SystemKind],
        works: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Say what a driver runs on (None: not known yet), with which code, and what each system of the run is.

        A code version that is not the run's first is added to it: its rows come from both. `works` tells, of systems
        whose rows may be copied by other runs, what they are as work; of one that was another work before, no row is
        copied any more.

        Raises:
            FencedError: The run is no longer this driver's.
        """
        with self._write() as connection:
            runs.start(connection, run_id, epoch, device, code_version, systems, works)

    def set_total(self, run_id: str, epoch: int, articles: int) -> None:
        """Say how many articles the run is about.

        Raises:
            FencedError: The run is no longer this driver's.
        """
        with self._write() as connection:
            runs.write_fenced(connection, run_id, epoch, total_articles=articles)

    def note_workers(self, run_id: str, epoch: int, device: str, arithmetic: Sequence[str]) -> None:
        """Say what the run's workers are, and how they multiply; that is added to how others did before.

        Raises:
            FencedError: The run is no longer this driver's.
        """
        with self._write() as connection:
            runs.note_workers(connection, run_id, epoch, device, arithmetic)

    def disown(self, run_id: str, epoch: int, systems: Sequence[str], software: Sequence[str]) -> None:
        """Say that systems of a run are computed with other software than its driver's, too. It is added to its code.

        Nobody can tell from then on which rows are of which: no other run copies any of them.

        Raises:
            FencedError: The run is no longer this driver's.
        """
        with self._write() as connection:
            runs.disown(connection, run_id, epoch, systems, software)

    def record(
        self,
        run_id: str,
        epoch: int,
        landed: Sequence[Landed],
        stage: Stage = SWEEP,
        reusable: Reusable | None = None,
    ) -> None:
        """Store what bundles became in a stage, all of it or nothing, and the driver's heartbeat.

        A summary that is there already stays as it is. An article that does not fail loses its failure; one that fails
        again adds its attempts; a failure of an article that has summaries is dropped.

        With `reusable`, an article that does not fail gets the stage's other summaries from the runs that have them.

        Raises:
            FencedError: The run is no longer this driver's.
            StoreError: A number is not finite, a text cannot be stored, a result is of none of the articles, or a
                summary is neither in the results nor in another run.
        """
        for articles, result in landed:
            results.check(articles, result)
        with self._write() as connection:
            results.record(connection, run_id, epoch, landed, stage, reusable)

    def record_round(self, run_id: str, epoch: int, round_results: Sequence[RoundResult]) -> None:
        """Store one update of each policy with its episodes and any checkpoint, all or nothing, and the heartbeat.

        The articles must be stored already. An update or episode that is there stays as it is, and a checkpoint only
        gives way to one of more updates: a round may be recorded again.

        Raises:
            FencedError: The run is no longer this driver's.
            StoreError: A number is not finite, a text cannot be stored, a configuration is not JSON, a seed needs more
                than 64 bits, or an article is not there.
        """
        checkpoints.check(round_results)
        with self._write() as connection:
            checkpoints.record(connection, run_id, epoch, round_results)

    def finish_run(self, run_id: str, epoch: int, state: FinalState, error: str | None = None) -> None:
        """End a run; its driver can write no more until somebody claims the run again.

        Raises:
            FencedError: The run is no longer this driver's.
        """
        with self._write() as connection:
            runs.finish(connection, run_id, epoch, state, error)
        self._keep_means(run_id)

    def remove_run(self, run_id: str, host: str) -> Removed:
        """Delete a run with all its rows, and the articles that are in no run any more; see `removal.remove`.

        Raises:
            StoreError: A driver works on it as far as `host` can tell, or is awaited; or there is no such run.
        """
        with self._write() as connection:
            return removal.remove(connection, run_id, host)

    def finished_article_ids(self, run_id: str, stage: Stage = SWEEP) -> "ArticleIds":
        """The articles that have their summaries of a stage: those that a resumed run leaves out there."""
        with self._read() as connection:
            return results.finished_article_ids(connection, run_id, stage)

    def find_reusable(self, run_id: str, stage: StageWork, arithmetic: str | None) -> Reusable | None:
        """What other runs have that equals what a stage of this one would compute, see `reuse.find`."""
        with self._read() as connection:
            return reuse.find(connection, run_id, stage, arithmetic)

    def known_summaries(self, reusable: Reusable, content_hashes: Mapping[str, str]) -> dict[str, set[tuple[str, int]]]:
        """Of articles, whose content hashes are given by their ids, the system and n of each summary to be copied."""
        with self._read() as connection:
            return reuse.known(connection, reusable, content_hashes)

    def find_run(self, recipe_hash: str) -> str | None:
        """The newest run of this recipe, None where there is none."""
        with self._read() as connection:
            return runs.find(connection, recipe_hash)

    def list_runs(self) -> list[RunInfo]:
        """Every run, the newest first."""
        with self._read() as connection:
            return runs.list_all(connection)

    def run_info(self, run_id: str) -> RunInfo:
        """One run.

        Raises:
            StoreError: There is no such run; the message lists the newest ones.
        """
        with self._read() as connection:
            return runs.info(connection, run_id)

    def failures(self, run_id: str, article_id: str | None = None) -> list[FailureInfo]:
        """The articles that this run could not finish, by dataset and key; or that one, by stage."""
        with self._read() as connection:
            return results.failures(connection, run_id, article_id)

    def articles(self, run_id: str) -> RunArticles:
        """What a run has of single articles, and which of them a reader may want to see."""
        return RunArticles(run_id, self._read)

    def newest_failures(self, run_id: str, count: int) -> list[Reason]:
        """Why articles of this run failed, the newest first."""
        with self._read() as connection:
            return progress.reasons(connection, run_id, count)

    def progress(self, run_id: str) -> Progress | None:
        """What the run's driver is, or was, at; None if it has not told yet."""
        with self._read() as connection:
            return progress.read(connection, run_id)

    def summaries_of(self, run_id: str, article_id: str) -> list[Written]:
        """The summaries of an article in a run, in no order."""
        with self._read() as connection:
            return progress.written(connection, run_id, article_id)

    def points(
        self,
        run_id: str,
        metrics: "Sequence[Metric] | None" = None,
        *,
        repeated_words: bool = False,
        systems: Sequence[str] | None = None,
    ) -> "Points":
        """Every summary of a run, or of these `systems`, with its scores in `metrics` (all).

        With `repeated_words`, it says how much of each text repeats, too.
        """
        from jobs.store.points import read_points

        with self._read() as connection:
            return read_points(connection, run_id, metrics, repeated_words, systems)

    def asked_words(self, run_id: str, systems: Collection[str]) -> list[AskedWords]:
        """How well those of some systems keep to n that were asked for n words, by system and n."""
        with self._read() as connection:
            return asked.asked_words(connection, run_id, systems)

    def tokens_used(self, run_id: str, systems: Collection[str]) -> list[TokensUsed]:
        """What the endpoints of some systems have counted, by system."""
        with self._read() as connection:
            return asked.tokens_used(connection, run_id, systems)

    def article_texts(self, run_id: str, article_ids: Sequence[str]) -> list[ArticleTexts]:
        """Articles with all that a run wrote of them, in the order of the ids; only those with a summary in the run."""
        with self._read() as connection:
            return article_texts.read(connection, run_id, article_ids)

    def content_hashes(self, run_id: str) -> dict[str, str]:
        """Of every article with a summary in a run, by its id: what names it in runs that read it from other files."""
        with self._read() as connection:
            return results.content_hashes(connection, run_id)

    def article_keys(self, run_id: str) -> dict[str, tuple[str, str]]:
        """Of every article with a summary in a run, by its id: the dataset and the key that it was read under."""
        with self._read() as connection:
            return results.article_keys(connection, run_id)

    def checkpoints(self, run_id: str) -> list[PolicyCheckpoint]:
        """The newest checkpoint of each policy of a run, by name."""
        with self._read() as connection:
            return checkpoints.checkpoints(connection, run_id)

    def policy_infos(self, run_id: str) -> list[PolicyInfo]:
        """How far each policy of a run is, by name."""
        with self._read() as connection:
            return checkpoints.infos(connection, run_id)

    def updates(self) -> dict[str, tuple[int, int]]:
        """How many updates the policies of each run that trains any have had together, and how many they shall have."""
        with self._read() as connection:
            return checkpoints.updates(connection)

    def learning_curve(self, run_id: str) -> list[CurveRow]:
        """The rewards of a run's sampled episodes, by policy, n and update."""
        with self._read() as connection:
            return checkpoints.learning_curve(connection, run_id)

    def greedy_rewards(self, run_id: str) -> list[GreedyReward]:
        """What the finished policies of a run get on their training articles, by policy, article and n."""
        with self._read() as connection:
            return checkpoints.greedy_rewards(connection, run_id)

    def update_numbers(self, run_id: str) -> list[UpdateNumbers]:
        """The updates of a run's policies, by policy and update."""
        with self._read() as connection:
            return tracked.updates(connection, run_id)

    def curve_means(self, run_id: str) -> list[CurveMeans]:
        """The mean scores of a run's systems, by dataset, system and n."""
        with self._read() as connection:
            return tracked.curves(connection, run_id)

    def query(self, sql: str, timeout: float | None = None) -> AbstractContextManager[Answer]:
        """Run one SQL statement that reads: `with store.query("SELECT …") as answer: … answer.rows`.

        Args:
            sql: the statement.
            timeout: seconds after which it is ended; None for never.

        Raises:
            StoreError: On entering or reading: the database's own message, that queries are read-only, or that the
                time is over.
        """
        return run_query(self._reader, self._address, sql, timeout)

    def _keep_means(self, run_id: str) -> None:
        """Keep what the views read of a run that has ended. A driver that takes the run meanwhile ends this."""
        with self._read() as reader:
            epoch = run_means.epoch_to_keep(reader, run_id)
            if epoch is None:
                return
            with closing(run_means.live_pieces(reader, run_id)) as pieces:
                for piece in pieces:
                    with self._write() as writer:
                        if not run_means.keep(writer, run_id, epoch, piece):
                            return
        with self._write() as writer:
            run_means.all_is_kept(writer, run_id, epoch)

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        if self._writer is None:
            raise StoreError(f"the store {self.shown_url} was opened read-only")
        self._require_same_file()
        with transaction(self._writer, self._address) as connection:
            yield connection

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        self._require_same_file()
        with transaction(self._reader, self._address) as connection:
            yield connection

    def _require_same_file(self) -> None:
        identity = file_identity(self._address)
        if identity != self._file:
            problem = "was deleted or moved away" if identity is None else "was replaced by another file"
            raise StoreError(
                f"the store {self.shown_url} {problem} while it was in use, and nothing more is stored. What was "
                "stored is in the old file: put it back, with its -wal file if there is one, and resume the run"
            )
