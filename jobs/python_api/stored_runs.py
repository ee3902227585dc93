"""The runs of a store, read as frames."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pandas as pd

from jobs import store as stores
from jobs.python_api.frames import comparison_frame, curve_frame, runs_frame, summary_frame
from jobs.store import RunInfo, Store
from jobs.terminal.metrics import find_metric

_ARTICLES_AT_ONCE = 1_000


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
    0  phase1  done              6         54
    >>> run = store.run(runs.id[0])
    >>> run.summaries().groupby("system").bertscore_f1.mean().round(2)
    system
    all-MiniLM-L6-v2|textrank|chunks    0.33
    lead                                0.35
    random                              0.32
    Name: bertscore_f1, dtype: float64
    >>> run.curves().query("system == 'lead'")[["n", "articles", "mean"]].round(2)
        n  articles  mean
    3   7         6  0.32
    4   9         6  0.35
    5  11         6  0.37
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

    def run(self, run_id: str) -> "StoredRun":
        """One run.

        Raises:
            StoreError: there is no such run; the message lists the newest ones.
        """
        return StoredRun(self._store, self._store.run_info(run_id))

    def close(self) -> None:
        """Close every connection. The store and its runs must not be used afterwards."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run of a store; `info` is how it stood when it was looked up, with its recipe, revisions and signatures."""

    _store: Store
    info: RunInfo

    def summaries(self) -> pd.DataFrame:
        """Every summary with its scores: the columns of the table `summaries`, and the article's dataset and key.

        `attrs` of the frame has the run's seed, code version, revisions and the signatures of the metrics.
        """
        return summary_frame(self.info, self._summaries())

    def curves(self, metric: str = "bertscore_f1") -> pd.DataFrame:
        """Mean score by dataset, system and n, and what a system gains over `random`, each with its 95 % interval.

        Args:
            metric: bertscore_f1, rouge1_f1, rouge2_f1, rougel_f1, a precision or recall of these (bertscore_recall),
                efficiency, density, coverage, or a plugin's.

        Raises:
            RecipeError: there is no such metric.
            StoreError: the run has no summaries yet.
        """
        from jobs.report.sweep.numbers import analyse, metrics_read

        chosen = find_metric(metric, "draw curves of", self.info)
        points = self._store.points(self.info.id, metrics_read(chosen))
        return curve_frame(analyse(self.info, points, chosen))

    def compare(self, a: str, b: str, metric: str = "bertscore_f1") -> pd.DataFrame:
        """System `a` minus system `b` at every n, paired by article: difference, 95 % interval, test and wins.

        `p` is of a sign-flip permutation test, `p_holm` corrected over the n. `words_a` and `words_b` are mean
        numbers of words: where they are not n, this is no comparison at equal length.

        Raises:
            RecipeError: a system or the metric is not there, or the two share no article.
            StoreError: the run has no summaries yet.
        """
        from jobs.compare.compute import compare_runs

        return comparison_frame(compare_runs(self._store, self.info.id, None, [a, b], None, metric))

    def report(self, path: str | Path, metric: str = "bertscore_f1") -> Path:
        """Write the run's report as one HTML page, as `nws report RUN --page` does; returns its path.

        Raises:
            RecipeError: there is no such metric.
            StoreError: the run has no summaries yet.
            NwsError: the file cannot be written.
        """
        from jobs.report.page.page import write_page

        write_page(self._store, [self.info.id], Path(path), metric)
        return Path(path)

    def _summaries(self) -> Iterator[Mapping[str, Any]]:
        ids = iter(self._store.article_keys(self.info.id))
        while batch := list(itertools.islice(ids, _ARTICLES_AT_ONCE)):
            for article in self._store.article_texts(self.info.id, batch):
                for summary in article.summaries:
                    yield {"dataset": article.dataset, "key": article.key, **summary}
