"""The result of a sweep in this process: frames, a plot, and the answer in sentences."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.analysis import Interval, Points
from jobs.python_api.frames import curve_frame, summary_frame
from jobs.python_api.plot import Plot
from jobs.python_api.sweep_html import sweep_html
from jobs.report.sweep import answer
from jobs.report.sweep.numbers import Numbers, analyse
from jobs.store import FailureInfo, RunInfo
from jobs.terminal.metrics import find_metric
from jobs.terminal.numerals import counted


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SweepResult:
    """A sweep's summaries with their scores, and what follows from them.

    Attributes:
        run: what made the numbers, as a run in a store would tell it: recipe, seed, revisions and signatures.
        points: every summary's scores, as the analysis reads them.
        rows: every summary, by the columns of the table `summaries`.
        failed: the articles that could not be finished, and why.
    """

    run: RunInfo
    points: Points
    rows: tuple[Mapping[str, Any], ...]
    failed: tuple[FailureInfo, ...]

    def to_pandas(self) -> pd.DataFrame:
        """Every summary with its scores, a row each, as `StoredRun.summaries` has them."""
        return summary_frame(self.run, self.rows)

    def curve(self, metric: str = "bertscore_f1") -> pd.DataFrame:
        """Mean score by system and n, and what a system gains over `random`, each with its 95 % interval.

        Args:
            metric: bertscore_f1, rouge1_f1, rouge2_f1, rougel_f1, a precision or recall of these (bertscore_recall),
                efficiency, density, coverage, or a plugin's.

        Raises:
            RecipeError: there is no such metric.
        """
        return curve_frame(self._numbers(metric))

    def plot(self, metric: str = "bertscore_f1") -> Plot:
        """The figure of `nws report`: mean score by n, and below it what each system gains over `random`.

        Raises:
            RecipeError: there is no such metric.
        """
        from jobs.report.sweep.figure import draw_sweep  # and with it matplotlib

        figure, warning = draw_sweep(self._numbers(metric))
        return Plot(figure, warning)

    def recommended(self, metric: str = "bertscore_f1") -> pd.DataFrame:
        """Which n remain candidates for each system that one can choose, and how sure that is.

        `n` holds the candidates: one of them has the largest gain over `random`, with 95 % confidence. It is empty
        where the articles rule out no n. `gain`, `low` and `high` are of the n in `largest_gain_at`;
        `answer` says it in words.

        Raises:
            RecipeError: there is no such metric.
        """
        chosen = self._numbers(metric)
        rows = []
        for number in chosen.magic_numbers:
            if number.kind != "system":
                continue
            largest = number.largest_gain
            gain = (None, None, None, None) if largest is None else (largest.n, *_ends(largest.gain))
            n = number.recommended if number.is_conclusive else ()
            rows.append((number.system, n, *gain, answer.recommendation(number, chosen.metric)))
        return pd.DataFrame(rows, columns=["system", "n", "largest_gain_at", "gain", "low", "high", "answer"])

    def failures(self) -> pd.DataFrame:
        """The articles that could not be finished, a row each: key, error and message."""
        names = ["dataset", "key", "stage", "error_class", "message"]
        return pd.DataFrame([[getattr(failure, name) for name in names] for failure in self.failed], columns=names)

    def __repr__(self) -> str:
        lengths = ", ".join(str(n) for n in sorted(set(self.points.n.tolist())) if n)
        articles = counted(self.run.articles_done, "article")
        failed = "No article" if not self.run.failures else counted(self.run.failures, "article")
        return f"A sweep of {articles}: {', '.join(sorted(self.points.systems))} at n = {lengths}. {failed} failed."

    def _repr_html_(self) -> str:
        return sweep_html(repr(self), self._numbers("bertscore_f1"))

    def _numbers(self, metric: str) -> Numbers:
        return analyse(self.run, self.points, find_metric(metric, "report", self.run))


def _ends(interval: Interval) -> tuple[float, float | None, float | None]:
    return interval.mean, interval.low, interval.high
