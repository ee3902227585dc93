"""Studies: how one is created with its shards, what these know of it, and how its driver hands them out.

A study is a run: it is claimed, fenced, cancelled and ended as every other, and its driver starts those of its shards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Connection, insert, select, update

from core.errors import CancelledError
from core.types import Article, SystemKind
from jobs.store.database import Database, reads, writes
from jobs.store.datasets_read import keep_read
from jobs.store.engine import insert_new
from jobs.store.fence import check_fence
from jobs.store.lifecycle import give_to_driver, insert_run
from jobs.store.results import article_row
from jobs.store.runs import RunInfo, RunSpec, read_run, read_shards
from jobs.store.tables import ArticleRow, PanelArticleRow, RunRow, StudyRow, SystemRow

if TYPE_CHECKING:  # with NumPy, which `nws ls` need not wait for
    from core.metrics.panel import Panel
    from core.text.corpus import ReadBefore
    from core.text.language import Language


@dataclass(frozen=True, slots=True)
class Whole:
    """What all articles of a study decide, for shards, which know but their own.

    Attributes:
        language: of every article.
        panels: that content kept is measured with, one for each dataset of the study.
    """

    language: "Language"
    panels: "tuple[Panel, ...]"


@dataclass(frozen=True, slots=True)
class ShardSpec:
    """A shard to be created.

    Attributes:
        spec: as of every run.
        articles: how many it has.
        read: what was found of them in each of its datasets.
    """

    spec: RunSpec
    articles: int
    read: "tuple[ReadBefore, ...]"


@dataclass(frozen=True, slots=True)
class StudySettings:
    """How a study is driven: so many drivers at once, each by this engine where they are on one machine."""

    drivers: int
    engine: str


class Studies(Database):
    """The methods of a store that create studies and read what their shards share."""

    @writes
    def create_study(
        self,
        connection: Connection,
        spec: RunSpec,
        study: str,
        settings: StudySettings,
        whole: Whole,
        systems: "dict[str, SystemKind]",
        shards: Sequence[ShardSpec],
    ) -> list[str]:
        """Add a pending study and its pending shards, all or nothing; the ids of the shards, in order.

        Raises:
            StoreError: A part of it is not JSON.
        """
        insert_run(connection, spec, study, total_articles=sum(shard.articles for shard in shards))
        of_study = {"run_id": study}
        values = {"drivers": settings.drivers, "engine": settings.engine, "language": whole.language}
        connection.execute(insert(StudyRow).values(**of_study, **values))
        insert_new(connection, SystemRow, [of_study | {"system": name, "kind": kind} for name, kind in systems.items()])
        articles = {article.id: article for panel in whole.panels for article in panel.articles}
        insert_new(connection, ArticleRow, [article_row(articles[article_id]) for article_id in sorted(articles)])
        panel_rows = [
            of_study | {"dataset_number": number, "article_id": article.id}
            for number, panel in enumerate(whole.panels)
            for article in panel.articles
        ]
        insert_new(connection, PanelArticleRow, panel_rows)
        width = max(2, len(str(len(shards))))
        ids = [f"{study}-{number:0{width}}" for number in range(1, len(shards) + 1)]
        for number, (run_id, shard) in enumerate(zip(ids, shards, strict=True), start=1):
            insert_run(connection, shard.spec, run_id, study=study, shard=number, total_articles=shard.articles)
            keep_read(connection, run_id, shard.spec.code_version, shard.read)
        return ids

    @reads
    def shards(self, connection: Connection, study: str) -> list[RunInfo]:
        """The shards of a study, in order; none of another run."""
        return read_shards(connection, study)

    @reads
    def study_settings(self, connection: Connection, study: str) -> StudySettings:
        """How a study that exists was to be driven when it was submitted."""
        return StudySettings(*connection.execute(select(StudyRow.drivers, StudyRow.engine).where(_of(study))).one())

    @reads
    def whole_of(self, connection: Connection, run_id: str) -> Whole | None:
        """What the study of a shard has decided; None of a run that is no shard."""
        from core.metrics.panel import Panel

        study = read_run(connection, run_id).study
        if study is None:
            return None
        language: Language = connection.execute(select(StudyRow.language).where(_of(study))).scalar_one()  # type: ignore[assignment]
        query = (
            select(PanelArticleRow.dataset_number, ArticleRow.__table__)
            .join(ArticleRow, ArticleRow.id == PanelArticleRow.article_id)
            .where(PanelArticleRow.run_id == study)
            .order_by(PanelArticleRow.article_id)
        )
        articles: dict[int, list[Article]] = {}
        for row in connection.execute(query):
            found = Article(row.dataset, row.split, row.key, row.text, tuple(row.reference_summaries))
            articles.setdefault(row.dataset_number, []).append(found)
        names = read_run(connection, study).revisions["datasets"]
        return Whole(language, tuple(Panel(name, tuple(articles.get(i, ()))) for i, name in enumerate(names)))

    def hand_out(self, study: str, epoch: int, shard: str, host: str, address: str | None) -> int:
        """Give a shard to a driver that is about to be started, if the study is still that of the caller's `epoch`.

        Args:
            study: whose driver asks.
            epoch: of that driver.
            shard: one that no driver works on.
            host: where the study's driver is.
            address: the dashboard to which the shard is submitted; None for a driver on this machine.

        Returns:
            The epoch with which the shard is to be claimed. Whoever had it before is fenced off.

        Raises:
            FencedError: another driver has the study.
            CancelledError: the study was cancelled.
            StoreError: a driver works on the shard.
        """

        def attempt() -> int:
            with self.writing() as connection:
                check_fence(connection, study, epoch)
                if read_run(connection, study).cancel_requested_at is not None:
                    raise CancelledError(f"run {study} was cancelled")
                return give_to_driver(connection, shard, host, address)

        return self.retried(attempt)

    @writes
    def change_study(self, connection: Connection, study: str, drivers: int, address: str | None) -> None:
        """Say how many shards of a study are driven at once from now on, and where (None: on this machine)."""
        connection.execute(update(StudyRow).where(_of(study)).values(drivers=drivers))
        connection.execute(update(RunRow).where(RunRow.id == study).values(address=address))


def _of(study: str) -> ColumnElement[bool]:
    return StudyRow.run_id == study
