"""The tables of a store, as this code uses them. A change needs a migration, see `nws.jobs.store.schema`."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    DateTime,
    Dialect,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    MetaData,
    String,
    Text,
    TypeDecorator,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from nws.core.metrics.specs import BY_COLUMN, OPTIONAL, SPECS


class UtcDateTime(TypeDecorator[datetime]):
    """A point in time: aware when written, aware and in UTC when read. SQLite stores it naive, in UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012  (SQLAlchemy reads it as a class attribute)
        str: Text,
        float: Double,
        datetime: UtcDateTime,
        dict[str, Any]: JSON,
        list[str]: JSON,
        list[int]: JSON,
    }


class RunRow(Base):
    """One execution of a job. The defaults are those of a new run.

    `driver_epoch` fences every write, and grows each time a driver claims the run.

    An article of the run is done when it has summaries by `systems` systems. `articles_done`, `summaries`, `reused` and
    `failures` count stored rows, and change in the transaction that stores them. If `means_cached`, the views read the
    means in `RunMeanRow` and `RunBestRow`, and no longer the run's summaries.

    `reuse` says whether the run copies summaries from other runs. `mixed` says that different code, libraries or
    arithmetic have computed it; then no run copies from it. `panel` is the hash of the articles whose references
    measure the floor of content kept (`nws.core.metrics.kept.Panel`). `findings` are those of the checks of texts.
    `word_kinds` is the signature of the kinds of words (`nws.core.text.word_kinds`): "" for a run without them, and
    null until its first driver has decided.

    The articles of a sharded run are divided among other runs, its shards, which name it as their `parent` and have the
    summaries. `shard` is the number of a shard, from 1. The counts of the sharded run itself are 0.
    """

    __tablename__ = "runs"
    __table_args__ = (
        CheckConstraint("state IN ('pending', 'running', 'done', 'failed', 'interrupted')", name="state"),
        Index(None, "recipe_hash", "created_at"),
        Index(None, "parent"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    job: Mapped[str]
    state: Mapped[str] = mapped_column(default="pending")
    recipe: Mapped[dict[str, Any]]
    recipe_hash: Mapped[str]
    seed: Mapped[int] = mapped_column(BigInteger)
    code_version: Mapped[str]
    revisions: Mapped[dict[str, Any]]
    signatures: Mapped[dict[str, Any]]
    device: Mapped[str | None]
    driver_epoch: Mapped[int] = mapped_column(default=0)
    driver_host: Mapped[str | None]
    driver_pid: Mapped[int | None]
    heartbeat_at: Mapped[datetime | None]
    total_articles: Mapped[int | None]
    systems: Mapped[int]
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    error: Mapped[str | None]
    address: Mapped[str | None]
    cancel_requested_at: Mapped[datetime | None]
    arithmetic: Mapped[list[str]] = mapped_column(default=list)
    articles_done: Mapped[int] = mapped_column(default=0)
    summaries: Mapped[int] = mapped_column(default=0)
    failures: Mapped[int] = mapped_column(default=0)
    means_cached: Mapped[bool] = mapped_column(default=False)
    reuse: Mapped[bool]
    mixed: Mapped[bool] = mapped_column(default=False)
    reused: Mapped[int] = mapped_column(default=0)
    name: Mapped[str | None]
    note: Mapped[str | None]
    claimed_at: Mapped[datetime | None]
    worked_seconds: Mapped[float] = mapped_column(default=0.0)
    panel: Mapped[str | None]
    findings: Mapped[list[Any]] = mapped_column(JSON, default=list)
    word_kinds: Mapped[str | None]
    parent: Mapped[str | None] = mapped_column(ForeignKey("runs.id"))
    shard: Mapped[int | None]


class _OfRun:
    """The run that a row belongs to: the first column of the key."""

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True, sort_order=-2)


class ShardedRunRow(_OfRun, Base):
    """The values that depend on all articles of a sharded run. Its shards, which know only their own, read them here.

    `drivers` is the number of drivers at a time, `language` the language of all articles. `panels` has the name of each
    dataset and the articles of its panel (`nws.core.metrics.kept`). They are not in `runs`, whose rows are written with
    each heartbeat.
    """

    __tablename__ = "sharded_runs"

    drivers: Mapped[int]
    language: Mapped[str]
    panels: Mapped[list[Any]] = mapped_column(JSON)


class SystemRow(_OfRun, Base):
    """A system of a run with its kind, see `nws.core.types.SystemKind`.

    `reuse_key` is the hash of everything that decides the system's rows except arithmetic, article and n
    (`nws.jobs.drive.reuse`). It is null if the rows are never copied.
    """

    __tablename__ = "systems"
    __table_args__ = (CheckConstraint("kind IN ('system', 'control', 'oracle')", name="kind"), Index(None, "reuse_key"))

    system: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    reuse_key: Mapped[str | None]


class ArticleRow(Base):
    """An article, shared by all runs that have read it.

    `id` is `nws.core.article.Article.id`, which depends on the content. No foreign key refers to it: in `summaries`,
    that would cost a quarter of the time to store a row. Instead, a driver stores an article before the rows that
    refer to it, and a removal of articles locks the table (`nws.jobs.store.lifecycle`).
    """

    __tablename__ = "articles"
    __table_args__ = (Index(None, "content_hash"),)

    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    dataset: Mapped[str]
    split: Mapped[str]
    key: Mapped[str]
    text: Mapped[str]
    reference_summaries: Mapped[list[str]]
    content_hash: Mapped[str] = mapped_column(String(64))


class _ScoreColumns:
    """The columns of every stored metric."""

    if TYPE_CHECKING:
        bertscore_f1: Mapped[float]  # declared because queries name it

    for _column in BY_COLUMN:
        vars()[_column] = mapped_column(Double, nullable=_column in OPTIONAL)


class SummaryRow(_OfRun, _ScoreColumns, Base):
    """A summary of one article by one system at one length.

    `extra` has further data of the system and, under `CHOSEN_SCORES`, the values of plugins' metrics, by name.
    `reused_from` is the run that computed the row, if this run copied it; `seconds` is the time it took there. `kinds`
    has the `KIND_TERMS` of the summary (`nws.core.text.word_kinds`): 16 numbers of 16 bits (IEEE 754), the lowest byte
    first, with NaN for a kind that the article lacks.
    """

    __tablename__ = "summaries"
    __table_args__ = (Index(None, "run_id", "system", "n"),)

    article_id: Mapped[str] = mapped_column(String(16), primary_key=True)
    system: Mapped[str] = mapped_column(primary_key=True)
    n: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    text: Mapped[str]
    words: Mapped[int]
    seconds: Mapped[float]
    extra: Mapped[dict[str, Any]] = mapped_column(sort_order=1)  # behind the scores
    reused_from: Mapped[str | None] = mapped_column(sort_order=1)
    kinds: Mapped[bytes | None] = mapped_column(sort_order=1)


class FailureRow(_OfRun, Base):
    """An article that a stage of a run could not finish. It never has summaries of that stage."""

    __tablename__ = "failures"

    article_id: Mapped[str] = mapped_column(String(16), primary_key=True)
    stage: Mapped[str] = mapped_column(primary_key=True)
    error_class: Mapped[str]
    message: Mapped[str]
    attempts: Mapped[int]
    node: Mapped[str]
    failed_at: Mapped[datetime]


class _MeanColumns:
    """The averages of every stored metric."""

    for _spec in SPECS:
        for _average in _spec.averages:
            vars()[_average] = mapped_column(Double, nullable=False)


class RunMeanRow(_OfRun, _MeanColumns, Base):
    """The means of a run that has ended, over the `articles` that a system has at n, for the views.

    `of_articles` is the number of articles that any system has at n. An `_ss` is the sum of squared deviations from the
    mean.
    """

    __tablename__ = "run_means"

    dataset: Mapped[str] = mapped_column(primary_key=True)
    system: Mapped[str] = mapped_column(primary_key=True)
    n: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    articles: Mapped[int]
    of_articles: Mapped[int]


class RunBestRow(_OfRun, Base):
    """The n at which a system's summary of an article has the highest F1, in a run that has ended, for the views."""

    __tablename__ = "run_best_n"

    article_id: Mapped[str] = mapped_column(String(16), primary_key=True)
    system: Mapped[str] = mapped_column(primary_key=True)
    dataset: Mapped[str]
    n: Mapped[int]
    bertscore_f1: Mapped[float]


class ScoreColumnRow(_OfRun, Base):
    """A part of one column of scores of a run that has ended, see `nws.jobs.store.points`."""

    __tablename__ = "score_columns"

    name: Mapped[str] = mapped_column(primary_key=True)
    part: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    column_values: Mapped[bytes]


class _OfAnswer(_OfRun):
    """The next columns of the key: a system on a dataset, and the ceiling that a share refers to."""

    dataset: Mapped[str] = mapped_column(primary_key=True, sort_order=-1)
    system: Mapped[str] = mapped_column(primary_key=True, sort_order=-1)
    kind: Mapped[str] = mapped_column(sort_order=-1)
    ceiling: Mapped[str] = mapped_column(primary_key=True, sort_order=-1)


class ContentKeptRow(_OfAnswer, Base):
    """The content that a system keeps at n words, in a run that has ended, see `nws.core.analysis.content_kept`.

    `share`, with its 95 % confidence interval from `low` to `high`, is a mean over `articles`. It is a share of
    `ceiling`: of the content of the references ('reference'), of what another person's summary keeps ('person'), or of
    what the system keeps at its own longest n ('longest'). `n` is 0 for uncut summaries.
    """

    __tablename__ = "content_kept"

    n: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    share: Mapped[float]
    low: Mapped[float | None]
    high: Mapped[float | None]
    articles: Mapped[int]


class SmallestNRow(_OfAnswer, Base):
    """The smallest n from which on a system keeps `share`, in a run that has ended, see `SmallestN`.

    `longest` is the longest n of the system. `n`, an end of its interval, or the claimed n is null if it lies beyond.
    """

    __tablename__ = "smallest_n"

    longest: Mapped[int]
    share: Mapped[float] = mapped_column(primary_key=True)
    n: Mapped[int | None]
    low: Mapped[int | None]
    high: Mapped[int | None]
    claimed: Mapped[int | None]
    articles_for_one_step: Mapped[int | None]


class KeptByKindRow(_OfRun, Base):
    """What a system keeps of one kind of word at n words, in a run that has ended, see `nws.core.metrics.kept`.

    `share`, with its 95 % confidence interval from `low` to `high`, is over the `articles` that have the kind in their
    reference and in the references of their other articles. With fewer than 20 articles there is no interval.
    """

    __tablename__ = "kept_by_kind"

    dataset: Mapped[str] = mapped_column(primary_key=True)
    system: Mapped[str] = mapped_column(primary_key=True)
    n: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(primary_key=True)
    share: Mapped[float]
    low: Mapped[float | None]
    high: Mapped[float | None]
    articles: Mapped[int]


class DocumentRow(_OfRun, Base):
    """The report document of a run that has ended (`nws.core.findings.report_document`), as compressed JSON.

    Compressed, it takes a fifth, since names of fields repeat. `headlines` has the first statement on each dataset, for
    lists of runs.
    """

    __tablename__ = "documents"

    headlines: Mapped[dict[str, Any]]
    document: Mapped[bytes]


class LogLineRow(_OfRun, Base):
    """A line of the log of a run, in the order of `number`."""

    __tablename__ = "log_lines"

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    driver_epoch: Mapped[int]
    logged_at: Mapped[datetime]
    text: Mapped[str]


class ProgressRow(_OfRun, Base):
    """The progress of a run, stored with its driver's heartbeat. `numbers` has the other fields of `Progress`."""

    __tablename__ = "progress"

    recorded_at: Mapped[datetime]
    numbers: Mapped[dict[str, Any]]


class PolicyRow(_OfRun, Base):
    """The newest checkpoint of a pair of policies, after `updates` of `total_updates`. `state` is its learner."""

    __tablename__ = "policies"

    name: Mapped[str] = mapped_column(primary_key=True)
    seed: Mapped[int] = mapped_column(BigInteger)
    lengths: Mapped[list[int]]
    updates: Mapped[int]
    total_updates: Mapped[int]
    config: Mapped[dict[str, Any]]
    state: Mapped[bytes]
    saved_at: Mapped[datetime]


class UpdateRow(Base):
    """One update of a policy, counted from 0. Its numbers, except `grad_norm`, are means over the update's articles.

    (The column is not called `update`, since that is a keyword of SQL.)
    """

    __tablename__ = "updates"
    __table_args__ = (ForeignKeyConstraint(["run_id", "policy"], ["policies.run_id", "policies.name"]),)

    run_id: Mapped[str] = mapped_column(primary_key=True)
    policy: Mapped[str] = mapped_column(primary_key=True)
    update_number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    reward: Mapped[float]
    reward_std: Mapped[float]
    advantage_baseline: Mapped[float]
    advantage_std: Mapped[float]
    entropy: Mapped[float]
    log_probability: Mapped[float]
    policy_loss: Mapped[float]
    loss: Mapped[float]
    grad_norm: Mapped[float]


class EpisodeRow(Base):
    """One summary that a policy wrote for one of its training articles, and its reward.

    Updates are computed from sampled summaries. Greedy summaries come from the finished policy, so their
    `update_number` is the number of its updates. They have no advantage, and their `sample` is 0.
    """

    __tablename__ = "episodes"
    __table_args__ = (
        ForeignKeyConstraint(["run_id", "policy"], ["policies.run_id", "policies.name"]),
        CheckConstraint("decoding IN ('sampled', 'greedy')", name="decoding"),
    )

    run_id: Mapped[str] = mapped_column(primary_key=True)
    policy: Mapped[str] = mapped_column(primary_key=True)
    update_number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    article_id: Mapped[str] = mapped_column(String(16), primary_key=True)
    n: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    sample: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    decoding: Mapped[str]
    text: Mapped[str]
    reward: Mapped[float]
    advantage_baseline: Mapped[float | None]
    advantage: Mapped[float | None]
    entropy: Mapped[float | None]
    log_probability: Mapped[float | None]
