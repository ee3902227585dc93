"""The numbers of a run for trackers: those of its updates, and its means by n. Inside one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, column, select, table

from core.metrics.specs import F1S
from jobs.store.tables import UpdateRow

_KEY = ("run_id", "policy", "update_number")
_MEANS = tuple(f"{metric}_mean" for metric in F1S)
_CURVE = table("sweep_curve", *map(column, ("run_id", "dataset", "system", "n", "articles", *_MEANS)))


@dataclass(frozen=True, slots=True)
class UpdateNumbers:
    """An update of a policy, counted from 0: its numbers by the columns of the table `updates`."""

    policy: str
    update_number: int
    numbers: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class CurveMeans:
    """Of a system at n (0: uncut): mean scores over its `articles` by metric, such as `bertscore_f1`."""

    dataset: str
    system: str
    n: int
    articles: int
    means: Mapping[str, float]


def updates(connection: Connection, run_id: str) -> list[UpdateNumbers]:
    rows = connection.execute(select(UpdateRow.__table__).where(UpdateRow.run_id == run_id)).mappings()
    updates = [
        UpdateNumbers(row["policy"], row["update_number"], {name: row[name] for name in row if name not in _KEY})
        for row in rows
    ]
    return sorted(updates, key=lambda update: (update.policy, update.update_number))


def curves(connection: Connection, run_id: str) -> list[CurveMeans]:
    rows = connection.execute(select(_CURVE).where(_CURVE.c.run_id == run_id)).mappings()
    curves = [
        CurveMeans(
            *(row["dataset"], row["system"], row["n"], row["articles"]),
            {name.removesuffix("_mean"): float(row[name]) for name in _MEANS},
        )
        for row in rows
    ]
    return sorted(curves, key=lambda at: (at.dataset, at.system, at.n))
