"""The writer of a run's driver: each of its transactions is fenced."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Concatenate

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from nws.core.metrics.specs import OPTIONAL
from nws.core.types import Landed, Summary, SystemKind
from nws.jobs.store.articles import Reusable, copy, require_complete
from nws.jobs.store.database import Database, Parameters, Result
from nws.jobs.store.engine import escaped, insert_new, require_storable, upsert
from nws.jobs.store.lifecycle import check_fence, update_run
from nws.jobs.store.means import cache_means, forget
from nws.jobs.store.results import (
    article_row,
    check_result,
    count,
    insert_summaries,
    new_summaries,
    record_failures,
    store_kept,
    stored_keys,
)
from nws.jobs.store.run_progress import (
    LogLine,
    Progress,
    RoundResult,
    episode_rows,
    save_checkpoints,
    update_row,
)
from nws.jobs.store.runs import FinalState, read_run
from nws.jobs.store.tables import (
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


def fenced(
    work: Callable[Concatenate["RunWriter", Connection, Parameters], Result],
) -> Callable[Concatenate["RunWriter", Parameters], Result]:
    """Turn a method into one fenced transaction, which gives it the connection. Callers do not give one."""

    @functools.wraps(work)
    def method(self: "RunWriter", /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        return self.store.in_transaction(self.writing, lambda connection: work(self, connection, *args, **kwargs))

    return method


class RunWriter:
    """The writer of the driver that has claimed a run. All that this driver writes goes through here.

    **The fence.** Each method is one transaction, which first checks that the run still has the driver's epoch. It also
    counts as a heartbeat. Once the run is no longer this driver's, each method raises `FencedError` and writes nothing.
    """

    def __init__(self, store: Database, run_id: str, epoch: int) -> None:
        self.store = store
        self.id = run_id
        self.epoch = epoch

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that writes if the run is still this driver's."""
        with self.store.writing() as connection:
            check_fence(connection, self.id, self.epoch)
            yield connection

    @fenced
    def start(
        self,
        connection: Connection,
        device: str | None,
        code_version: str,
        systems: Mapping[str, SystemKind],
        keys: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Record the device of the run (None: not known yet), its code, and the kind of each of its systems.

        A code version other than the run's first is added to it, since the rows come from both. `keys` has the reuse
        keys of the systems whose rows other runs may copy (`nws.jobs.drive.reuse`).
        """
        if device is not None:
            update_run(connection, self.id, device=device)
        self._add_versions(connection, [code_version])
        rows = [
            {"run_id": self.id, "system": system, "kind": kind, "reuse_key": keys.get(system)}
            for system, kind in systems.items()
        ]
        insert_new(connection, SystemRow, rows)

    @fenced
    def set_total(self, connection: Connection, articles: int) -> None:
        """Record the number of the run's articles."""
        update_run(connection, self.id, total_articles=articles)

    @fenced
    def set_panel(self, connection: Connection, panel: str, word_kinds: str) -> None:
        """Record the panel of other articles for content kept, and the signature of the kinds of words.

        Scores that were measured with another panel are removed.
        """
        stored = connection.execute(select(RunRow.panel).where(RunRow.id == self.id)).scalar_one()
        if stored not in (None, panel):
            in_run = SummaryRow.run_id == self.id
            connection.execute(update(SummaryRow).where(in_run).values(dict.fromkeys((*OPTIONAL, "kinds"))))
        update_run(connection, self.id, panel=panel, word_kinds=word_kinds)

    @fenced
    def add_findings(self, connection: Connection, findings: Sequence[Mapping[str, Any]]) -> None:
        """Record the findings of checks, which replace earlier findings at the same places."""
        places = {finding["place"] for finding in findings}
        known = connection.execute(select(RunRow.findings).where(RunRow.id == self.id)).scalar_one()
        others = [finding for finding in known if finding["place"] not in places]
        update_run(connection, self.id, findings=[*others, *findings])

    @fenced
    def note_workers(self, connection: Connection, device: str, arithmetic: Sequence[str]) -> None:
        """Record the device of the run's workers, and add the ways in which they multiply to the earlier ones."""
        run = read_run(connection, self.id)
        ways = list(dict.fromkeys([*run.arithmetic, *arithmetic]))
        update_run(connection, self.id, device=device, arithmetic=ways, mixed=run.mixed or len(ways) > 1)

    @fenced
    def mix(self, connection: Connection, software: Sequence[str]) -> bool:
        """Record that the run is also computed with other software. Returns whether any of it is new.

        From then on nobody can tell which software made which row, so no other run copies any of the rows.
        """
        update_run(connection, self.id, mixed=True)
        return self._add_versions(connection, software)

    @fenced
    def heartbeat(self, connection: Connection, lines: Sequence[LogLine] = (), at: Progress | None = None) -> bool:
        """Record a heartbeat with lines of the log and the progress. Returns whether the driver was asked to stop."""
        if lines:
            in_run = LogLineRow.run_id == self.id
            last = connection.execute(select(func.coalesce(func.max(LogLineRow.number), 0)).where(in_run)).scalar_one()
            key = {"run_id": self.id, "driver_epoch": self.epoch}
            # The lines may be stored already, if the answer to an earlier heartbeat with them was lost.
            own = in_run, LogLineRow.driver_epoch == self.epoch, LogLineRow.number > last - len(lines)
            newest = select(LogLineRow.logged_at, LogLineRow.text).where(*own)
            there = {tuple(row) for row in connection.execute(newest)}
            said = [(line.logged_at, escaped(line.text)) for line in lines]
            new = enumerate([line for line in said if line not in there], start=last + 1)
            rows = [
                {**key, "number": number, "logged_at": logged_at, "text": text} for number, (logged_at, text) in new
            ]
            if rows:
                connection.execute(insert(LogLineRow), rows)
        if at is not None:
            numbers = asdict(at)
            values = {"recorded_at": numbers.pop("recorded_at"), "numbers": numbers}
            statement = upsert(connection, ProgressRow).values(run_id=self.id, **values)
            connection.execute(statement.on_conflict_do_update(index_elements=["run_id"], set_=values))
        return read_run(connection, self.id).cancel_requested_at is not None

    @fenced
    def record(
        self,
        connection: Connection,
        landed: Sequence[Landed],
        stage: str = "sweep",
        systems: Sequence[str] = (),
        reusable: Reusable | None = None,
    ) -> None:
        """Store the results of bundles in a stage with these systems (none: all of the run), all or nothing.

        A summary that is stored already stays as it is, so a bundle may be recorded again. If an article does not fail,
        its earlier failure is removed. If it fails again, the attempts are added up. A failure of an article that has
        summaries is dropped.

        With `reusable`, an article that does not fail gets the stage's other summaries from the runs that have them.

        Raises:
            StoreError: a number is not finite, a text cannot be stored, or a summary is neither in the results nor in
                another run.
        """
        for _, result in landed:
            check_result(result)
        new = new_summaries(self.id, (summary for _, result in landed for summary in result.summaries))
        # In the order of their ids, or two runs that store the same articles at once could deadlock on Postgres.
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
        # Rows that were stored before are in both counts, so a repeated transaction counts nothing twice.
        update_run(connection, self.id, **{name: getattr(RunRow, name) + after[name] - before[name] for name in after})

    @fenced
    def record_kept(self, connection: Connection, summaries: Sequence[Summary]) -> None:
        """Store the `OPTIONAL` scores and kinds that stored summaries with the same text lack."""
        store_kept(connection, self.id, summaries)

    @fenced
    def record_round(self, connection: Connection, results: Sequence[RoundResult]) -> None:
        """Store one update of each policy with its episodes and any checkpoint, all or nothing.

        The articles must be stored already. A round may be recorded again: stored updates and episodes stay as they
        are, and a checkpoint is replaced only by one of more updates.

        Raises:
            StoreError: a number is not finite, or a text or a configuration cannot be stored.
        """
        run_key = {"run_id": self.id}
        updates = [run_key | update_row(result) for result in results]
        episodes = [run_key | row for result in results for row in episode_rows(result)]
        for row in (*updates, *episodes):
            require_storable(row, f"update {row['update_number']} of policy {row['policy']!r}")
        save_checkpoints(connection, self.id, [result.checkpoint for result in results if result.checkpoint])
        insert_new(connection, UpdateRow, updates)
        insert_new(connection, EpisodeRow, episodes)

    def finish(self, state: FinalState, error: str | None = None) -> None:
        """End the run, and store its means and its document. Afterwards its driver cannot write any more."""

        def attempt() -> None:
            with self.store.writing() as connection:
                run = read_run(connection, self.id)
                if (run.driver_epoch, run.state) != (self.epoch, state):  # otherwise only the answer was lost
                    check_fence(connection, self.id, self.epoch)
                    text = None if error is None else escaped(error)
                    update_run(connection, self.id, state=state, finished_at=datetime.now(UTC), error=text)
                    forget(connection, self.id)
            cache_means(self.store, self.id)

        self.store.retried(attempt)

    def _add_versions(self, connection: Connection, versions: Sequence[str]) -> bool:
        """Add to the versions that have computed the run. Returns whether any of them is new."""
        recorded = read_run(connection, self.id).code_version.split(", ")
        every = list(dict.fromkeys([*recorded, *versions]))
        update_run(connection, self.id, code_version=", ".join(every))
        return every != recorded
