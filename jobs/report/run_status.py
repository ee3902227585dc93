"""What is said of runs wherever they are shown: their state, time and answer, what makes them, why articles failed.

Nothing here imports NumPy, which `nws ls` need not wait for.
"""

import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable

from nws.jobs.report.numerals import counted, length_text, percent
from nws.jobs.report.system_names import names_of
from nws.jobs.report.table import Table
from nws.jobs.store import FailureInfo, RunInfo, Store, is_stale, seconds_of_driver

_MOST_NAMED = 3
"""How many articles or machines of a reason are named."""


def as_dict(run: RunInfo) -> dict[str, Any]:
    """Return a run as plain values: `stale` says whether its driver has died, and `unit` what its n count."""
    return plain_values(run) | {"stale": state_name(run) == "stale", "unit": run.length_unit}


def plain_values(record: Any) -> dict[str, Any]:
    """Return the fields of a record of the store, times in ISO 8601."""
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in asdict(record).items()}


def state_name(run: RunInfo) -> str:
    """Return the state of a run; "stale" if it is 'running' with a dead driver."""
    return "stale" if is_stale(run, socket.gethostname(), datetime.now(UTC)) else run.state


def done_text(run: RunInfo) -> str:
    """Write the number of articles done, and of all: "3/24", or "3/?" where that is not known."""
    return f"{run.articles_done}/{'?' if run.total_articles is None else run.total_articles}"


def dataset_part(dataset: Mapping[str, Any]) -> str:
    """Name the part of a dataset's articles that a recipe asks for; "" if all."""
    skip, limit = dataset.get("skip") or 0, dataset.get("limit")
    if not skip and limit is None:
        return ""
    return f", articles {skip + 1} to {'the last' if limit is None else skip + limit}"


def duration(run: RunInfo) -> str:
    """Write the time that drivers have worked on a run, without pauses between them: hours, minutes, seconds."""
    if run.claimed_at is None:
        return "-"
    now = datetime.now(UTC)
    is_alive = state_name(run) == "running"
    newest = (now - run.claimed_at).total_seconds() if is_alive else seconds_of_driver(run)
    seconds = int(run.worked_seconds + newest)
    return f"{seconds // 3600}:{seconds % 3600 // 60:02}:{seconds % 60:02}"


def made_by(run: RunInfo) -> list[tuple[str, str]]:
    """List the origin of a run's numbers, each fact with its name, as far as it is recorded."""
    revisions = run.revisions
    facts = [
        ("seed", ", ".join(map(str, run.recipe.get("seeds", [run.seed])))),
        ("code", run.code_version),
        ("n", f"{', '.join(map(str, run.recipe.get('n', ())))} {run.length_unit}"),
        ("device", run.device or "–"),
    ]
    if run.mixed:
        whose = "those shards'" if run.shards else "these"
        facts.append(("mixed", f"several kinds of code, libraries or arithmetic, so no other run reuses {whose} rows"))
    # Where all rows are reused, this run has no worker whose arithmetic is known.
    of_reused = " (of the reused rows: this run has computed none)" if 0 < run.summaries == run.reused else ""
    facts += [("arithmetic", line + of_reused * (i == 0)) for i, line in enumerate(run.arithmetic)]
    for name, kind in (("trained on", "train_datasets"), ("dataset", "datasets")):
        datasets = zip(revisions.get(kind, {}).items(), run.recipe.get(kind, ()), strict=False)
        facts += [(name, f"{dataset} {revision}{dataset_part(part)}") for (dataset, revision), part in datasets]
    facts.append(("segmentation", revisions.get("segmentation", "–")))
    for name in ("encoder", "generator", "plugin", "predictions"):
        of_kind = revisions.get(name if name == "predictions" else f"{name}s", {})
        facts += [(name, f"{of}: {revision}") for of, revision in of_kind.items()]
    facts += list(run.signatures.items())
    libraries = ", ".join(f"{name} {version}" for name, version in revisions.get("libraries", {}).items())
    return [*facts, ("libraries", libraries or "–")]


def moment_text(moment: datetime) -> str:
    """Write a moment in whole seconds, UTC."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def failure_lines(failures: Sequence[FailureInfo]) -> list[str]:
    """Write a line for each reason, the most frequent first. The names of the articles make no difference."""
    groups: dict[tuple[str, str, str], list[FailureInfo]] = {}
    for failure in failures:
        message = failure.message.replace(repr(failure.key), "'…'")
        groups.setdefault((failure.stage, failure.error_class, message), []).append(failure)
    lines = []
    for (stage, error_class, message), group in sorted(groups.items(), key=lambda item: -len(item[1])):
        articles = _names_or_count([f"{failure.dataset} {failure.key}" for failure in group])
        nodes = _names_or_count(sorted({failure.node for failure in group}))
        lines.append(f"{stage}, {counted(len(group), 'article')}: {error_class}: {message} ({articles}; on {nodes})")
    return lines


def _names_or_count(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")


COLUMNS = ("RUN", "STATE", "ARTICLES", "DATASET", "N", "ANSWER", "NAME", "SUBMITTED (UTC)", "TIME", "SUMMARIES", "NOTE")
HALF = 0.5
"""The share of the content that an answer asks for first."""
_MOST_LENGTHS = 4
_FULL_LIST_WIDTH = 150
"""The width of a terminal, in columns, that holds the whole list."""
_UNFOLDED_WIDTH = 14
"""The longest text, in columns, that is never folded."""


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """What the first sentence of a report says of a dataset: the best system keeps `keeps` of the content with n."""

    dataset: str
    system: str
    name: str
    n: int
    keeps: float


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run with its answer on each dataset, once it has ended. That of a training is of its policies."""

    run: RunInfo
    answers: tuple[ShortAnswer, ...]

    @property
    def datasets(self) -> str:
        """The names of the datasets; those of files without the folder."""
        return ", ".join(map(_short_dataset_name, self.run.revisions.get("datasets", {})))

    @property
    def lengths(self) -> str:
        """All of them, or how many between which: "1–12", "5, 10, 20", "11 from 1–21"."""
        lengths = self.run.recipe.get("n") or []
        unit = f" {self.run.length_unit}" * (self.run.length_unit != "words")
        span = f"{min(lengths)}–{max(lengths)}" if lengths else ""
        if len(lengths) > 1 and max(lengths) - min(lengths) == len(lengths) - 1:
            return span + unit
        listed = ", ".join(map(str, lengths))
        return (listed if len(lengths) <= _MOST_LENGTHS else f"{len(lengths)} from {span}") + unit * bool(lengths)

    @property
    def answer(self) -> str:
        """The answers in few words: "9 words keep half (lexrank)", of several datasets with their names."""
        return "; ".join(
            f"{_short_dataset_name(answer.dataset)}: " * (len(self.answers) > 1)
            + f"{length_text(answer.n, self.run.length_unit)} {'keeps' if answer.n == 1 else 'keep'} "
            + f"{'half' if answer.keeps == HALF else percent(answer.keeps)} ({answer.name})"
            for answer in self.answers
        )

    @property
    def cells(self) -> tuple[object, ...]:
        """The values under `COLUMNS`."""
        run = self.run
        articles = done_text(run) + f", {run.shards} shards" * bool(run.shards)
        articles += f", {run.failures} failed" * bool(run.failures)
        created = f"{run.created_at.astimezone(UTC):%Y-%m-%d %H:%M}"
        return (
            *(run.id, state_name(run), articles, self.datasets, self.lengths, self.answer),
            *(run.name or "", created, duration(run), run.summaries, run.note or ""),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the run as plain values, with its lengths and answers."""
        return as_dict(self.run) | {
            "lengths": self.run.recipe.get("n") or [],
            "answers": [asdict(answer) for answer in self.answers],
        }


def listed_runs(store: Store, runs: Sequence[RunInfo]) -> list[ListedRun]:
    """List runs with the headlines of their documents, which are stored when they end."""
    by_run = store.headlines([run.id for run in runs])
    return [ListedRun(run, tuple(_answers(run, by_run.get(run.id, {})))) for run in runs]


def _answers(run: RunInfo, headlines: Mapping[str, Mapping[str, Any]]) -> Iterator[ShortAnswer]:
    names = names_of([run], [of["system"] for of in headlines.values()])
    for dataset, of in sorted(headlines.items()):
        keeps = HALF if of["is_half"] else of["share"]["mean"]
        yield ShortAnswer(dataset, of["system"], names[of["system"]], of["n"], keeps)


def print_runs(listed: Sequence[ListedRun], console: Console) -> None:
    """Print a line for each run; on a narrow terminal without the columns behind the answer, and folded there."""
    table = Table(COLUMNS, [run.cells for run in listed])
    if not console.is_terminal:
        table.print_lines(console)
        return
    names, rows = [*COLUMNS], [[cell.text for cell in row] for row in table.cells()]
    if console.width < _FULL_LIST_WIDTH:
        names = ["RUN", "STATE", "ARTICLES", "DATASET, N", "ANSWER"]
        rows = [[*row[:3], f"{row[3]}\n{row[4]}", row[5]] for row in rows]
    shown = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for i, name in enumerate(names):
        is_short = all(cell_len(line) <= _UNFOLDED_WIDTH for row in rows for line in row[i].split("\n"))
        shown.add_column(name, no_wrap=is_short or name == "RUN", overflow="fold")
    for row in rows:
        shown.add_row(*row)
    console.print(shown)


def _short_dataset_name(dataset: str) -> str:
    return PurePath(dataset).name if dataset.startswith(("/", ".", "~")) else dataset
