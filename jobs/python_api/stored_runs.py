"""The runs of a store, read as frames."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import pandas as pd

from jobs import store as stores
from jobs.python_api.result import Result, runs_frame
from jobs.store import Store
from jobs.terminal.system_names import names_of


def open_store(url: str = stores.DEFAULT_STORE) -> "RunStore":
    """Open a store of runs to read it: nothing in it is changed.

    Args:
        url: `sqlite:///FILE` or `postgresql://USER@HOST/DATABASE`, as `--store` takes it.

    Raises:
        StoreError: the URL is not usable, there is no such database, or its schema is another version's.

    The newest run of `nws submit phase1 --n 7,9,11` in this folder, for example:

    >>> import nws
    >>> store = nws.open_store("sqlite:///nws.db")
    >>> runs = store.runs()
    >>> runs[["job", "state", "articles_done", "summaries"]]
          job state  articles_done  summaries
    0  phase1  done              6         90
    >>> run = store.run(runs.id[0])
    >>> run.summaries().groupby("system").bertscore_f1.mean().round(2)
    system
    all-MiniLM-L6-v2|textrank|chunks    0.33
    lead                                0.35
    other-article                       0.16
    random                              0.32
    reference-words                     0.68
    Name: bertscore_f1, dtype: float64
    >>> run.curves().query("system == 'lead'")[["n", "articles", "mean"]].round(2)
        n  articles  mean
    6   7         6  0.32
    7   9         6  0.35
    8  11         6  0.37
    >>> run.compare("all-MiniLM-L6-v2|textrank|chunks", "lead")[["n", "wins", "losses"]]
        n  wins  losses
    0   7     3       3
    1   9     3       3
    2  11     2       4
    >>> run.report("report.html").name
    'report.html'
    >>> store.close()
    """
    return RunStore(stores.open_store(url, read_only=True))


@dataclass(frozen=True, slots=True)
class RunStore:
    """An open store. It is closed by `close`, or at the end of a `with`."""

    _store: Store

    def runs(self) -> pd.DataFrame:
        """Every run, the newest first: its `id`, state, counts, seed, code and times (UTC)."""
        return runs_frame(self._store.list_runs())

    def run(self, run_id: str | None = None, labels: Mapping[str, str] | None = None) -> Result:
        """One run.

        Args:
            run_id: its id, or how that or its last part begins, such as `b9b`; the newest run with summaries unless
                given.
            labels: what systems are called in plots, pages and sentences, by their names; frames have full names.

        Raises:
            RecipeError: a label is of no system, or another system is called so.
            StoreError: there is no such run; the message lists the newest ones.
        """
        named = self._store.newest_id(with_summaries=True) if run_id is None else self._store.full_id(run_id)
        info = self._store.run_info(named)
        if labels:  # refused here, where they are given
            names_of([info], self._store.systems(info.id), labels)
        return Result(self._store, info, labels or {})

    def close(self) -> None:
        """Close every connection. The store and its runs must not be used afterwards."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
