"""What all simulations of a process share: a store, the articles, and what an undisturbed run stores of them."""

import functools
import itertools
import os
import tempfile
from pathlib import Path
from typing import Any

import tenacity  # noqa: F401  (the store imports it when it first waits, and its clock is replaced before)
from undisturbed import STUB_WORK, undisturbed

from bench import stub_work
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import Store, open_store
from nws.jobs.store.address import parse_address
from nws.jobs.store.engine import reader_engine, writer_engine
from simulation.slow_store import SlowStore

ARTICLES = "articles.jsonl"


class Stage:
    """A folder with a store, in memory where the machine has such a folder.

    Args:
        articles: how many there are to choose from.
    """

    def __init__(self, articles: int) -> None:
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self._folder = tempfile.TemporaryDirectory(prefix="nws-simulation-", dir=memory)
        self.folder = Path(self._folder.name)
        stub_work.write_articles(self.folder / ARTICLES, articles, words=12)
        url = f"sqlite:///{self.folder}/nws.db"
        open_store(url).close()
        self._address = parse_address(url)
        self._engines = writer_engine(self._address), reader_engine(self._address)
        self.numbers = itertools.count()  # of its simulations
        self.plain = Store(self._address, *self._engines)
        self.plan = functools.cache(self._plan)
        self.undisturbed = functools.cache(self._undisturbed)

    def __enter__(self) -> "Stage":
        return self

    def __exit__(self, *_: object) -> None:
        for engine in self._engines:
            engine.dispose()
        self._folder.cleanup()

    def slow_store(self) -> SlowStore:
        return SlowStore(self._address, *self._engines)

    def _plan(self, articles: int, bundle_size: int) -> Plan:
        asked: dict[str, Any] = {
            "datasets": [{"name": str(self.folder / ARTICLES), "limit": articles}],
            **{"n": [7], "importance": ["textrank"], "rulers": [], "accelerator": "cpu"},
            **{"bundle_size": bundle_size, "stop_after_equal_failures": None},
        }
        return plan_job("phase1", "sample", asked)

    def _undisturbed(self, articles: int) -> Any:
        """The rows of so many articles: those of stub work are the same in bundles of any size."""
        return undisturbed(self.plan(articles, 8), self.folder, STUB_WORK)["summaries"]
