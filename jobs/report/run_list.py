"""The runs of a store as `nws ls` and `nws serve` list them: their datasets, their lengths, and what they found.

Nothing here imports NumPy, which a list need not wait for.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC
from pathlib import PurePath
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable

from core.types import OTHER_ARTICLE, POLICY, SystemKind
from jobs.report.numerals import of_length, percent
from jobs.report.run_status import as_dict, done_text, duration, state_name
from jobs.report.system_names import names_of
from jobs.report.table import Table
from jobs.store import KeptShare, RunInfo, Store

COLUMNS = ("RUN", "STATE", "ARTICLES", "DATASET", "N", "ANSWER", "NAME", "SUBMITTED (UTC)", "TIME", "SUMMARIES", "NOTE")
HALF = 0.5
"""The share of the content that an answer asks for first."""
_MOST_LENGTHS = 4
_WIDE = 150
"""So many columns of a terminal hold all of these."""
_SHORT = 14
"""What is not longer is never folded."""


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
        """Their names; those of files without the folder."""
        return ", ".join(map(_short, self.run.revisions.get("datasets", {})))

    @property
    def lengths(self) -> str:
        """All of them, or how many between which: "1–12", "5, 10, 20", "11 of 1–21"."""
        lengths = self.run.recipe.get("n") or []
        unit = f" {self.run.length_unit}" * (self.run.length_unit != "words")
        span = f"{min(lengths)}–{max(lengths)}" if lengths else ""
        if len(lengths) > 1 and max(lengths) - min(lengths) == len(lengths) - 1:
            return span + unit
        listed = ", ".join(map(str, lengths))
        return (listed if len(lengths) <= _MOST_LENGTHS else f"{len(lengths)} of {span}") + unit * bool(lengths)

    @property
    def answer(self) -> str:
        """In few words: "9 words keep half (lexrank)", of several datasets with their names."""
        return "; ".join(
            f"{_short(one.dataset)}: " * (len(self.answers) > 1)
            + f"{of_length(one.n, self.run.length_unit)} {'keeps' if one.n == 1 else 'keep'} "
            + f"{'half' if one.keeps == HALF else percent(one.keeps)} ({one.name})"
            for one in self.answers
        )

    @property
    def cells(self) -> tuple[object, ...]:
        """What stands under `COLUMNS`."""
        run = self.run
        articles = done_text(run) + f", {run.shards} shards" * bool(run.shards)
        articles += f", {run.failures} failed" * bool(run.failures)
        created = f"{run.created_at.astimezone(UTC):%Y-%m-%d %H:%M}"
        return (
            *(run.id, state_name(run), articles, self.datasets, self.lengths, self.answer),
            *(run.name or "", created, duration(run), run.summaries, run.note or ""),
        )

    def as_dict(self) -> dict[str, Any]:
        """The run as plain values, with its lengths and answers."""
        return as_dict(self.run) | {
            "lengths": self.run.recipe.get("n") or [],
            "answers": [asdict(one) for one in self.answers],
        }


def listed_runs(store: Store, runs: Sequence[RunInfo]) -> list[ListedRun]:
    """Runs with the answers that were stored when they ended."""
    kept: dict[str, list[KeptShare]] = {}
    for share in store.kept_shares([run.id for run in runs]):
        kept.setdefault(share.run_id, []).append(share)
    return [ListedRun(run, tuple(_answers(run, kept.get(run.id, [])))) for run in runs]


def _answers(run: RunInfo, shares: Sequence[KeptShare]) -> Iterator[ShortAnswer]:
    names = names_of([run], [share.system for share in shares])
    for dataset in sorted({share.dataset for share in shares}):
        by_system: dict[tuple[SystemKind, str], dict[int, float]] = {}
        half: dict[str, int | None] = {}
        for share in shares:
            is_wanted = share.n > 0 and (run.job != "phase2" or share.system.startswith(POLICY))
            if share.dataset == dataset and is_wanted:
                by_system.setdefault((share.kind, share.system), {})[share.n] = share.share
                half[share.system] = share.half
        for best in ranked(by_system)[:1]:
            at = next(at for (_, system), at in by_system.items() if system == best)
            n = half[best]
            if n is None or not min(at) < n < max(at):
                yield ShortAnswer(dataset, best, names[best], max(at), at[max(at)])
            else:
                yield ShortAnswer(dataset, best, names[best], n, HALF)


def ranked(kept: Mapping[tuple[SystemKind, str], Mapping[int, float]]) -> tuple[str, ...]:
    """Systems that one can choose, or controls if there are none: what keeps most at the longest common n first.

    `kept` is the share that each keeps at n, by what it is and its name.
    """
    for kind in ("system", "control"):
        chosen = {system: at for (of, system), at in kept.items() if of == kind and system != OTHER_ARTICLE}
        if chosen:
            common = set.intersection(*(set(at) for at in chosen.values()))
            shares = {system: at[max(common or at)] for system, at in chosen.items()}
            return tuple(sorted(chosen, key=lambda system: (-shares[system], system)))
    return ()


def print_runs(listed: Sequence[ListedRun], console: Console) -> None:
    """Print a line for each run; on a narrow terminal without the columns behind the answer, and folded there."""
    table = Table(COLUMNS, [one.cells for one in listed])
    if not console.is_terminal:
        table.print_lines(console)
        return
    names, rows = [*COLUMNS], [[cell.text for cell in row] for row in table.cells()]
    if console.width < _WIDE:
        names = ["RUN", "STATE", "ARTICLES", "DATASET, N", "ANSWER"]
        rows = [[*row[:3], f"{row[3]}\n{row[4]}", row[5]] for row in rows]
    shown = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for i, name in enumerate(names):
        is_short = all(cell_len(line) <= _SHORT for row in rows for line in row[i].split("\n"))
        shown.add_column(name, no_wrap=is_short or name == "RUN", overflow="fold")
    for row in rows:
        shown.add_row(*row)
    console.print(shown)


def _short(dataset: str) -> str:
    return PurePath(dataset).name if dataset.startswith(("/", ".", "~")) else dataset
