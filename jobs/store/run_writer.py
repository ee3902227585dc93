"""What the driver of a run writes. Each of its transactions checks first that the run is still this driver's."""

import functools
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from core.metrics.specs import OPTIONAL
from core.types import Landed, Summary, SystemKind
from jobs.store.checkpoints import RoundResult, check_round, episode_rows, save_checkpoints, update_row
from jobs.store.copies import Reusable, copy, require_complete
from jobs.store.engine import Database, escaped, insert_new, upsert
from jobs.store.lifecycle import check_fence
from jobs.store.means import forget_means, keep_means
from jobs.store.partitions import lock_own_partition
from jobs.store.results import (
    NewSummaries,
    article_row,
    check_landed,
    count,
    insert_summaries,
    new_summaries,
    record_failures,
    store_kept,
    stored_keys,
)
from jobs.store.runs import FinalState, LogLine, Progress, progress_row, read_run
from jobs.store.tables import (
    ArticleRow,
    EpisodeRow,
    FailureRow,
    LogLineRow,
    ProgressRow,
    RunRow,
    SummaryRow,
    SystemRow,
    UpdateRow,
)

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
AnyWriter = TypeVar("AnyWriter", bound="RunWriter")


def fenced(
    work: Callable[Concatenate[AnyWriter, Connection, Parameters], Result],
) -> Callable[Concatenate[AnyWriter, Parameters], Result]:
    """Make a method one transaction that writes if the run is still this driver's; its caller gives no connection."""

    @functools.wraps(work)
    def method(self: AnyWriter, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        def attempt() -> Result:
            with self.store.writing() as connection:
                check_fence(connection, self.id, self.epoch)
                return work(self, connection, *args, **kwargs)

        return self.store.retried(attempt)

    return method


class RunWriter:
    """A run in the hands of the driver that has claimed it: all that this driver writes goes through here.

    **The fence.** Each method is one transaction, which first checks that the run still has the driver's epoch, and is
    the driver's heartbeat, too. Any of them raises `FencedError` once the run is no longer this driver's, and has
    written nothing then.
    """

    def __init__(self, store: Database, run_id: str, epoch: int) -> None:
        self.store = store
        self.id = run_id
        self.epoch = epoch

    @fenced
    def start(
        self,
        connection: Connection,
        device: str | None,
        code_version: str,
        systems: Mapping[str, SystemKind],
        works: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Say what the driver runs on (None: not known yet), with which code, and what each system of the run is.

        A code version that is not the run's first is added to it: its rows come from both. `works` has the keys of
        those systems whose rows may be copied by other runs (`jobs.drive.reuse`).
        """
        if device is not None:
            self._set(connection, device=device)
        self._add_versions(connection, [code_version])
        rows = [
            {"run_id": self.id, "system": system, "kind": kind, "work": works.get(system)}
            for system, kind in systems.items()
        ]
        insert_new(connection, SystemRow, rows)

    @fenced
    def set_total(self, connection: Connection, articles: int) -> None:
        """Say how many articles the run is about."""
        self._set(connection, total_articles=articles)

    @fenced
    def set_panel(self, connection: Connection, panel: str) -> None:
        """Say which articles content kept is measured with. What was measured with others is forgotten."""
        known = connection.execute(select(RunRow.panel).where(RunRow.id == self.id)).scalar_one()
        if known not in (None, panel):
            in_run = SummaryRow.run_id == self.id
            connection.execute(update(SummaryRow).where(in_run).values(dict.fromkeys(OPTIONAL)))
        self._set(connection, panel=panel)

    @fenced
    def note_workers(self, connection: Connection, device: str, arithmetic: Sequence[str]) -> None:
        """Say what the run's workers are, and how they multiply; that is added to how others did before."""
        run = read_run(connection, self.id)
        ways = list(dict.fromkeys([*run.arithmetic, *arithmetic]))
        self._set(connection, device=device, arithmetic=ways, mixed=run.mixed or len(ways) > 1)

    @fenced
    def mix(self, connection: Connection, software: Sequence[str]) -> bool:
        """Say that the run is computed with other software, too. It is added to its code; whether any of it is new.

        Nobody can tell from then on which rows are of which: no other run copies any of them.
        """
        self._set(connection, mixed=True)
        return self._add_versions(connection, software)

    @fenced
    def heartbeat(self, connection: Connection, lines: Sequence[LogLine] = (), at: Progress | None = None) -> bool:
        """Say that the driver is alive, what it has to tell, and what it is at; whether it was asked to stop."""
        if lines:
            in_run = LogLineRow.run_id == self.id
            last = connection.execute(select(func.coalesce(func.max(LogLineRow.number), 0)).where(in_run)).scalar_one()
            same = {"run_id": self.id, "driver_epoch": self.epoch}
            rows = [
                {**same, "number": number, "said_at": line.said_at, "text": escaped(line.text)}
                for number, line in enumerate(lines, start=last + 1)
            ]
            connection.execute(insert(LogLineRow), rows)
        if at is not None:
            values = progress_row(at)
            statement = upsert(connection, ProgressRow).values(run_id=self.id, **values)
            connection.execute(statement.on_conflict_do_update(index_elements=["run_id"], set_=values))
        return read_run(connection, self.id).cancel_requested_at is not None

    def record(
        self,
        landed: Sequence[Landed],
        stage: str = "sweep",
        systems: Sequence[str] = (),
        reusable: Reusable | None = None,
    ) -> None:
        """Store what bundles became in a stage with these systems (none: all of the run), all of it or nothing.

        A summary that is there already stays as it is, so a bundle may be recorded again. An article that does not fail
        loses its failure; one that fails again adds its attempts; a failure of an article that has summaries is
        dropped.

        With `reusable`, an article that does not fail gets the stage's other summaries from the runs that have them.

        Raises:
            StoreError: A number is not finite, a text cannot be stored, a result is of none of the articles, a
                summary is neither in the results nor in another run.
        """
        for articles, result in landed:
            check_landed(articles, result)
        new = new_summaries(self.id, (summary for _, result in landed for summary in result.summaries))
        self._record(landed, new, stage, systems, reusable)

    @fenced
    def _record(
        self,
        connection: Connection,
        landed: Sequence[Landed],
        new: NewSummaries,
        stage: str,
        systems: Sequence[str],
        reusable: Reusable | None,
    ) -> None:
        lock_own_partition(connection)
        # In the order of their ids: two runs that store the same articles at once could deadlock on Postgres otherwise.
        articles = sorted({article.id: article for bundle, _ in landed for article in bundle}.items())
        ids = [article_id for article_id, _ in articles]
        before = count(connection, self.id, ids)
        failed = [failure for _, result in landed for failure in result.failures]
        done = set(ids) - {failure.article_id for failure in failed}
        insert_new(connection, ArticleRow, [article_row(article) for _, article in articles])
        if reusable is not None:
            copy(connection, self.id, reusable, sorted(done))
        has_some = before["summaries"] or reusable is not None
        insert_summaries(connection, new, stored_keys(connection, self.id, ids) if has_some else ())
        if reusable is not None:
            require_complete(connection, self.id, reusable, sorted(done))
        if done and before["failures"]:
            in_stage = (FailureRow.run_id == self.id, FailureRow.stage == stage)
            statement = delete(FailureRow).where(*in_stage, FailureRow.article_id == bindparam("done"))
            connection.execute(statement, [{"done": article_id} for article_id in done])
        record_failures(connection, self.id, failed, stage, systems)
        after = count(connection, self.id, ids)
        # What was there already is in both: a transaction that is repeated counts nothing twice.
        self._set(connection, **{name: getattr(RunRow, name) + after[name] - before[name] for name in after})

    @fenced
    def record_kept(self, connection: Connection, summaries: Sequence[Summary]) -> None:
        """Store the `OPTIONAL` scores of summaries that are there with the same text, and lack them."""
        lock_own_partition(connection)
        store_kept(connection, self.id, summaries)

    def record_round(self, results: Sequence[RoundResult]) -> None:
        """Store one update of each policy with its episodes and any checkpoint, all or nothing.

        The articles must be stored already. An update or episode that is there stays as it is, and a checkpoint only
        gives way to one of more updates: a round may be recorded again.

        Raises:
            StoreError: A number is not finite, a text cannot be stored, a configuration is not JSON, a seed needs more
                than 64 bits, or an article is not there.
        """
        check_round(results)
        self._record_round(results)

    @fenced
    def _record_round(self, connection: Connection, results: Sequence[RoundResult]) -> None:
        run_key = {"run_id": self.id}
        save_checkpoints(connection, self.id, [result.checkpoint for result in results if result.checkpoint])
        insert_new(connection, UpdateRow, [run_key | update_row(result) for result in results])
        insert_new(connection, EpisodeRow, [run_key | row for result in results for row in episode_rows(result)])

    def finish(self, state: FinalState, error: str | None = None) -> None:
        """End the run, and store its means and answer; its driver can write no more until somebody claims it again."""

        def attempt() -> None:
            with self.store.writing() as connection:
                run = read_run(connection, self.id)
                if (run.driver_epoch, run.state) != (self.epoch, state):  # else only the answer was lost
                    check_fence(connection, self.id, self.epoch)
                    text = None if error is None else escaped(error)
                    self._set(connection, state=state, finished_at=datetime.now(UTC), error=text)
                    forget_means(connection, self.id)
            keep_means(self.store, self.id)

        self.store.retried(attempt)

    def _set(self, connection: Connection, **values: object) -> None:
        connection.execute(update(RunRow).where(RunRow.id == self.id).values(values))

    def _add_versions(self, connection: Connection, versions: Sequence[str]) -> bool:
        """Add to what the run was computed with so far; whether any of it is new."""
        known = read_run(connection, self.id).code_version.split(", ")
        every = list(dict.fromkeys([*known, *versions]))
        self._set(connection, code_version=", ".join(every))
        return every != known
