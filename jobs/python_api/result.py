"""The results of a run, stored or swept in this process: frames, a plot, a page and sentences; and stores of runs."""

import io
import itertools
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from nws.core.analysis import Points
from nws.core.findings.content import CONTENT_KEPT
from nws.core.metrics.specs import DEFAULT_METRIC, PARTS
from nws.jobs.python_api.answer import ShownAnswer
from nws.jobs.python_api.texts import paired_frame
from nws.jobs.report.brief import brief_table
from nws.jobs.report.metric_names import find_metric
from nws.jobs.report.numerals import counted
from nws.jobs.report.report_files import curve_rows, report_json
from nws.jobs.report.run_report import RunReport, read_report
from nws.jobs.report.system_names import names_of
from nws.jobs.report.wording import magic_number_text
from nws.jobs.store import DEFAULT_STORE, SUMMARY_COLUMNS, RunInfo, Store
from nws.jobs.store import open_store as open_stored
from nws.jobs.store.runs import chosen_metrics_of, metrics_of

if TYPE_CHECKING:  # importing matplotlib would delay `import nws`
    from matplotlib.figure import Figure

SWEEP = "nws.sweep"
"""The id of a sweep in this process."""
_ARTICLES_AT_ONCE = 1_000
_SHOWN_DPI = 60
_SHOWN_COLUMNS = 120
_RUN_COLUMNS = (
    *("id", "job", "state", "articles_done", "total_articles", "summaries", "failures"),
    *("seed", "code_version", "device", "created_at", "started_at", "finished_at", "error"),
)
_FLAGS = ("is_control", "is_oracle", "comparable")
_FAILURE_COLUMNS = ("dataset", "key", "stage", "error_class", "message")


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A run's summaries with their scores, and the findings from them.

    `run` is the state of the run when it was looked up, with its recipe, seed, revisions and signatures. Everything
    else is read when it is needed. A result of `nws.sweep` is in a temporary file until the result is deleted.
    """

    _store: Store
    run: RunInfo
    _labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def points(self) -> Points:
        """The scores of all summaries, as the analysis reads them."""
        return self._store.points(self.run.id, (*metrics_of([self.run]), *PARTS), repeated_words=True)

    def summaries(self) -> pd.DataFrame:
        """Return all summaries with their scores: the columns of `summaries`, and the dataset and key of the article.

        `attrs` of the frame has the run's seed, code version and revisions, and the signatures of the metrics.
        """
        columns = ("dataset", "key", *SUMMARY_COLUMNS, *chosen_metrics_of(self.run))
        frame = pd.DataFrame(self._rows(), columns=columns)
        frame = frame.sort_values(["dataset", "key", "system", "n"], ignore_index=True)
        facts = {name: getattr(self.run, name) for name in ("seed", "code_version", "revisions", "signatures")}
        frame.attrs = {"run": self.run.id, **facts, "unit": self.run.length_unit}
        return frame

    def failures(self) -> pd.DataFrame:
        """Return the articles that could not be finished, with key, error and message, a row each."""
        failures = self._store.failures(self.run.id)
        rows = [[getattr(failure, name) for name in _FAILURE_COLUMNS] for failure in failures]
        return pd.DataFrame(rows, columns=_FAILURE_COLUMNS)

    def curves(self, metric: str = "bertscore_f1") -> pd.DataFrame:
        """Return the mean score by dataset, system and n, and the gain over `random`, each with its 95 % CI.

        Args:
            metric: a stored metric, such as bertscore_f1, rouge1_recall or density (docs/phase1.md), or a plugin's.

        Raises:
            RecipeError: there is no such metric.
            StoreError: the run has no summaries yet.
        """
        report = self._reported(find_metric(metric, "draw curves of", self.run))
        return pd.DataFrame(curve_rows(report)).astype(dict.fromkeys(_FLAGS, bool))

    def plot(self, metric: str | None = None) -> "Figure":
        """Draw the figure of `nws report`. A notebook shows it; `savefig` writes it to a file.

        Args:
            metric: for "kept", the default, the figure shows content kept by n, with what to compare it with. For
                another metric, it shows the mean by n, and the gain of each system over `random`.

        Raises:
            RecipeError: there is no such metric.
            StoreError: the run has no summaries yet.
        """
        from nws.jobs.report.drawing import draw  # imports matplotlib
        from nws.jobs.report.sweep_charts import curves_sheet, kept_sheet

        if metric is None or find_metric(metric, "report", self.run) == CONTENT_KEPT:
            report = self._reported()
            return draw(kept_sheet(report) if report.document.kept else curves_sheet(report))
        return draw(curves_sheet(self._reported(metric)))

    def answer(self) -> ShownAnswer:
        """Return how much of the content n words keep, with confidence intervals. Print it, or use its frames."""
        return ShownAnswer(self._reported())

    def claim(self, lengths: str | int) -> list[dict[str, Any]]:
        """Test a claim about the right number of words, such as "7-13" or "9", on each dataset.

        Returns `claims` in report.json of `nws report --claim`, whose `answer` says the result in words.

        Raises:
            RecipeError: the run does not have these n, or no content kept.
        """
        claims: list[dict[str, Any]] = report_json(read_report(self._store, self.run, claim=lengths))["claims"]
        return claims

    def recommended(self, metric: str = "bertscore_f1") -> pd.DataFrame:
        """Return the n of each system that may have the largest gain over `random`: there, choosing words pays most.

        `n` has the candidates: with 95 % confidence, one of them has the largest gain over `random`. It is empty if
        the articles rule out no n. `gain`, `low` and `high` belong to the n in `largest_gain_at`. `answer` says in
        words which n these are, or why there are none.

        Raises:
            RecipeError: there is no such metric.
            StoreError: the run has no summaries yet.
        """
        rows = []
        for number in self._reported(metric).document.of_metric().magic_numbers:
            if number.kind != "system":
                continue
            largest = number.largest_gain
            gain = (None,) * 4 if largest is None else (largest.n, *astuple(largest.gain))
            n = number.recommended if number.is_conclusive else ()
            rows.append((number.system, n, *gain, magic_number_text(number)))
        return pd.DataFrame(rows, columns=["system", "n", "largest_gain_at", "gain", "low", "high", "answer"])

    def compare(self, a: str, b: str, metric: str | None = None) -> pd.DataFrame:
        """Compare two systems at every n, paired by article: `a` minus `b`, with its 95 % CI, test and wins.

        The default metric is content kept, or BERTScore F1 if the run has no content kept.

        `p` comes from a sign-flip permutation test, and `p_holm` is Holm-corrected over the n. `attrs` has the run, its
        seed and the metric's signature. `words_a` and `words_b` are mean numbers of words: if they differ from n, the
        lengths are not equal. A row with n = 0 compares uncut texts. In a row with `length_matched`, `a` chose its
        length, and `b`'s summaries are those nearest in length; `only_a` articles lack such a summary.

        Raises:
            RecipeError: a system or the metric is unknown, or the two systems share no article.
            StoreError: the run has no summaries yet.
        """
        from nws.jobs.tools.comparison import compare_runs

        pairs = compare_runs(self._store, self.run.id, None, [a, b], None, metric, self._labels)
        compared = (*pairs.comparisons, *pairs.length_matched)
        told = {"metric": pairs.metric}
        rows = [told | row | {"length_matched": of.is_length_matched} for of in compared for row in of.rows()]
        return paired_frame(rows, {"run": self.run.id, "seed": self.run.seed}, {pairs.metric: pairs.signature})

    def report(self, path: str | Path, metric: str = "bertscore_f1") -> Path:
        """Write the run's report as one HTML page, as `nws report RUN -o FILE` does. Returns its path.

        Raises:
            RecipeError: there is no such metric.
            StoreError: the run has no summaries yet.
            NwsError: the file cannot be written.
        """
        from nws.jobs.report.page.page import write_page

        write_page(self._store, [self.run.id], Path(path), metric, labels=self._labels)
        return Path(path)

    def __str__(self) -> str:
        return f"{self.answer()}\n\n{self._description()}" if self.run.summaries else self._description()

    def __repr__(self) -> str:
        if not self.run.summaries:
            return self._description()
        return " ".join((*self.answer().headlines, self._description()))

    def _description(self) -> str:
        means = self._store.curve_means(self.run.id)
        names = names_of([self.run], {system for _, system, _ in means}, self._labels)
        systems = ", ".join(sorted(names.shown.values()))
        lengths = ", ".join(str(n) for n in sorted({n for *_, n in means}) if n)
        subject = "A sweep" if self.run.id == SWEEP else f"Run {self.run.id}, {self.run.state},"
        articles = counted(self.run.articles_done, "article")
        failed = "No article" if not self.run.failures else counted(self.run.failures, "article")
        unit = "" if self.run.length_unit == "words" else f" {self.run.length_unit}"
        wrote = f": {systems} at n = {lengths}{unit}" if means else ""
        return f"{subject} of {articles}{wrote}. {failed} failed."

    def _repr_html_(self) -> str | None:
        if not self.run.summaries:
            return None  # a notebook shows the text then
        report = self._reported()
        parts = [ShownAnswer(report)._repr_html_(), f"<p>{escape(self._description())}</p>", self._picture()]
        for dataset in report.document.datasets:
            table = brief_table(
                report, dataset, _SHOWN_COLUMNS, CONTENT_KEPT if report.document.kept else report.metric
            )
            parts += [table.html()] if table is not None else []
        return "".join(parts)

    def _picture(self) -> str:
        """Return the plot as an HTML image."""
        png = io.BytesIO()
        self.plot().savefig(png, format="png", dpi=_SHOWN_DPI)
        picture = b64encode(png.getvalue()).decode()
        return f'<img alt="The plot of {escape(self.run.id)}" src="data:image/png;base64,{picture}">'

    def _reported(self, metric: str = DEFAULT_METRIC) -> RunReport:
        return read_report(self._store, self.run, find_metric(metric, "report", self.run), self._labels)

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        ids = iter(self._store.content_hashes(self.run.id))
        while batch := list(itertools.islice(ids, _ARTICLES_AT_ONCE)):
            for article in self._store.article_texts(self.run.id, batch):
                for summary in article.summaries:
                    yield {"dataset": article.dataset, "key": article.key, **summary}


def open_store(url: str = DEFAULT_STORE) -> "RunStore":
    """Open a store of runs for reading. Nothing in it is changed.

    Args:
        url: `sqlite:///FILE` or `postgresql://USER@HOST/DATABASE`, as `--store` takes it.

    Raises:
        StoreError: the URL is not usable, there is no such database, or its schema belongs to another version.

    For example, with the newest run of `nws submit phase1 --n 7,9,11` in this folder:

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
    2  11     3       3
    >>> run.report("report.html").name
    'report.html'
    >>> store.close()
    """
    return RunStore(open_stored(url, read_only=True))


@dataclass(frozen=True, slots=True)
class RunStore:
    """An open store. Close it with `close`, or use it in a `with` statement."""

    _store: Store

    def runs(self) -> pd.DataFrame:
        """Return all runs, the newest first, with `id`, state, counts, seed, code and times (UTC)."""
        rows = [[getattr(run, name) for name in _RUN_COLUMNS] for run in self._store.list_runs()]
        return pd.DataFrame(rows, columns=_RUN_COLUMNS)

    def run(self, run_id: str | None = None, labels: Mapping[str, str] | None = None) -> Result:
        """Return a run.

        Args:
            run_id: its id, or the beginning of the id or of its last part, such as `b9b`. Default: the newest run with
                summaries.
            labels: labels for plots, pages and sentences, by name of the system. Frames have full names.

        Raises:
            RecipeError: a label belongs to no system, or another system has this name.
            StoreError: there is no such run; the message lists the newest ones.
        """
        named = self._store.newest_id(with_summaries=True) if run_id is None else self._store.full_id(run_id)
        info = self._store.run_info(named)
        if labels:  # so that wrong labels raise their error here
            names_of([info], self._store.systems(info.id), labels)
        return Result(self._store, info, labels or {})

    def close(self) -> None:
        """Close every connection. The store and its runs must not be used afterwards."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
