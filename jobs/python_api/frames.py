"""Runs, summaries, curves and comparisons as pandas frames."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from jobs.evaluate.compare import RunComparison
from jobs.report.sweep.numbers import Numbers, curve_columns
from jobs.store import SUMMARY_COLUMNS as _STORED_COLUMNS
from jobs.store import RunInfo
from jobs.terminal.columns import file_rows
from jobs.terminal.metrics import chosen_metrics_of

RUN_COLUMNS = (
    *("id", "job", "state", "articles_done", "total_articles", "summaries", "failures"),
    *("seed", "code_version", "device", "created_at", "started_at", "finished_at", "error"),
)
SUMMARY_COLUMNS = ("dataset", "key", *_STORED_COLUMNS)
_FLAGS = ("is_control", "is_upper_bound", "comparable")


def runs_frame(runs: Iterable[RunInfo]) -> pd.DataFrame:
    """A row a run, in the order given."""
    return pd.DataFrame([[getattr(run, name) for name in RUN_COLUMNS] for run in runs], columns=RUN_COLUMNS)


def summary_frame(run: RunInfo, rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A row a summary, by dataset, key, system and n. `attrs` holds what made the numbers: see `made_by`."""
    frame = pd.DataFrame(rows, columns=(*SUMMARY_COLUMNS, *chosen_metrics_of(run)))
    frame = frame.sort_values(["dataset", "key", "system", "n"], ignore_index=True)
    frame.attrs = made_by(run)
    return frame


def made_by(run: RunInfo) -> dict[str, Any]:
    """What made the numbers of a run: its id, seed and code, what models, data and metrics were, and what n counts."""
    return {
        "run": run.id,
        "seed": run.seed,
        "code_version": run.code_version,
        "revisions": run.revisions,
        "signatures": run.signatures,
        "unit": run.length_unit,
    }


def curve_frame(numbers: Numbers) -> pd.DataFrame:
    """A row for each dataset, system and n: the columns of the report's `curves.csv`."""
    columns = curve_columns(numbers)
    frame = pd.DataFrame(file_rows(columns, numbers.scores), columns=[column.name for column in columns])
    return frame.astype(dict.fromkeys(_FLAGS, bool))


def comparison_frame(result: RunComparison) -> pd.DataFrame:
    """A row for each dataset and n: system A minus system B, paired by article."""
    shared = {"run": result.a.id, "metric": result.metric, "signature": result.signatures[0], "seed": result.a.seed}
    rows = [
        shared
        | {"dataset": pair.dataset, "a": pair.a, "b": pair.b, "n": at.n, "articles": at.articles}
        | {"mean_a": at.mean_a, "mean_b": at.mean_b, "difference": at.difference.mean}
        | {"low": at.difference.low, "high": at.difference.high, "p": at.p, "p_holm": at.p_holm}
        | {"significant": at.significant, "wins": at.wins, "ties": at.ties, "losses": at.losses}
        | {"words_a": at.words_a, "words_b": at.words_b}
        for pair in result.comparisons
        for at in pair.lengths
    ]
    return pd.DataFrame(rows)
