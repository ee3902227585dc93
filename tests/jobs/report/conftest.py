import numpy as np
import pytest
from made_scores import Point, in_columns, point_scores
from run_infos import run_info
from system_kinds import kind_of

from nws.jobs.report import figure_files

LENGTHS = tuple(range(1, 22, 2))


@pytest.fixture(autouse=True)
def _small_pngs(monkeypatch):
    """Nearly half of the time a report takes goes into pixels."""
    monkeypatch.setattr(figure_files, "PNG_DPI", 50)


@pytest.fixture
def run():
    return run_info()


@pytest.fixture
def make_points(list_points):
    """The points of `list_points` as the analysis reads them."""
    return lambda *args, **changes: in_columns(list_points(*args, **changes))


@pytest.fixture
def list_points():
    """A sweep in which F1 rises with n; all but the controls are best over random near 9, oracles far above."""

    def make(
        systems=("m|textrank|chunks", "m|textrank|sentences", "lead", "random"),
        lengths=LENGTHS,
        articles=40,
        dataset="news",
        short=(),
    ):
        noise = np.random.default_rng(1).normal(0, 0.01, (len(systems), 22, articles))

        def point(i, n, article):
            gain = 0.0 if systems[i] in ("lead", "random") else 0.04 * np.exp(-((n - 9) ** 2) / 18)
            gain += 0.3 if kind_of(systems[i]) == "oracle" else 0.0
            f1 = float(0.3 + 0.008 * n + gain + noise[i, n, article])
            words = n - (article in short) if n else 25
            return Point(
                *(dataset, f"{article:04d}", systems[i], n, words),
                point_scores(bertscore_f1=f1, density=1.0, coverage=1.0),
                kind_of(systems[i]),
                f"{systems[i]} {n}",
            )

        return [point(i, n, a) for i in range(len(systems)) for n in lengths for a in range(articles)]

    return make
