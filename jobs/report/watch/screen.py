"""The progress of a run for people: a screen that is redrawn every second, or a line now and then."""

import itertools
from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from jobs.drive.time_left import duration
from jobs.report.watch.view import View
from jobs.store import ActorShare, Reason
from jobs.terminal.console import printable
from jobs.terminal.numerals import counted, decimals
from jobs.terminal.system_names import system_names
from jobs.terminal.table_style import role

_MACHINES = 8
_SYSTEMS = 5
_SILENCE_WORTH_A_WORD = 15.0


def line(view: View) -> str:
    """The progress of a run on one line."""
    run = view.run
    counts = f"{run.state}, {done_text(view)} articles done, {run.failures} failed"
    return ", ".join(filter(None, (counts, stage_text(view), _speed(view), _silence(view))))


def failure_line(reason: Reason) -> str:
    """Why an article failed, on one line."""
    return printable(f"{reason.dataset} {reason.key}: {reason.error_class}: {reason.message}")


def screen(view: View) -> RenderableType:
    """A run, its actors, its last failures and what was written last; it folds at any width."""
    facts = Table.grid(padding=(0, 2, 0, 0))
    facts.add_column(no_wrap=True)
    facts.add_column(overflow="fold")
    facts.add_row("run", Text(printable(view.run.id)))
    facts.add_row("state", Text(state_text(view)))
    facts.add_row("articles", Text(f"{done_text(view)} done, {view.run.failures} failed"))
    reused = f", {view.run.reused} of them reused" if view.run.reused else ""
    facts.add_row("summaries", Text(f"{view.run.summaries}{reused}"))
    if view.progress is not None:
        facts.add_row("at", Text(stage_text(view)))
        facts.add_row("speed", Text(_speed(view) or "not known yet"))
        _add_rows(facts, "actors", machine_lines(view.progress.actors))
    _add_rows(facts, "failed", [failure_line(reason) for reason in view.reasons])
    return Group(facts, *_written(view))


def _add_rows(facts: Table, name: str, lines: Iterable[str]) -> None:
    for label, text in zip(itertools.chain([name], itertools.repeat("")), lines, strict=False):
        facts.add_row(label, Text(text))


def state_text(view: View) -> str:
    """The state of a run, who drives it, and its error."""
    run = view.run
    if run.state == "pending":
        return f"pending, waits for {f'its Ray job at {run.address}' if run.address else 'a driver'}"
    if run.state == "running":
        return f"running, pid {run.driver_pid} on {run.driver_host}" + (f", {_silence(view)}" if _silence(view) else "")
    return run.state + (f" ({printable(run.error)})" if run.error else "")


def _silence(view: View) -> str:
    is_silent = view.run.state == "running" and view.silent_seconds > _SILENCE_WORTH_A_WORD
    return f"not heard of for {duration(view.silent_seconds)}" if is_silent else ""


def done_text(view: View) -> str:
    """How many articles are done, and of how many: "3/24", or "3/?" where that is not known."""
    total = view.run.total_articles
    return f"{view.run.articles_done}/{'?' if total is None else total}"


def stage_text(view: View) -> str:
    """How far the stage is that the driver is at: "sweep: 3/24 articles"; "" if it has not told."""
    at = view.progress
    return "" if at is None else f"{at.stage}: {at.finished}/{'?' if at.total is None else at.total} {at.unit}"


def rate_text(view: View) -> str:
    """How fast the stage has been of late: "2.5 articles/s", or by the minute if it is slow; "" if not known."""
    rate = view.span.rate
    if view.progress is None or rate is None:
        return ""
    return f"{rate:.3g} {view.progress.unit}/s" if rate >= 0.1 else f"{60 * rate:.2g} {view.progress.unit}/min"


def left_text(view: View) -> str:
    """How long the stage still takes: "about 3 min"; "" if not known."""
    return f"about {duration(view.seconds_left)}" if view.seconds_left else ""


def _speed(view: View) -> str:
    speed, left = rate_text(view), left_text(view)
    return f"{speed} in the last {duration(view.span.seconds)}" + (f", {left} left" if left else "") if speed else ""


def machine_lines(ready: Sequence[ActorShare]) -> list[str]:
    """The actors, a line for each machine."""
    if not ready:
        return ["none is ready"]
    by_machine: dict[tuple[str, str], list[ActorShare]] = {}
    for actor in ready:
        by_machine.setdefault((actor.node, actor.device), []).append(actor)
    lines = [_machine(*place, actors) for place, actors in sorted(by_machine.items())]
    further = len(lines) - _MACHINES
    return lines if further <= 0 else [*lines[:_MACHINES], f"and those of {counted(further, 'more machine')}"]


def _machine(node: str, device: str, actors: list[ActorShare]) -> str:
    shares = [actor.busy for actor in actors if actor.busy is not None]
    busy = f": {' '.join(f'{100 * share:.0f} %' for share in shares)} busy" if shares else ""
    return printable(f"{len(actors)} on {node}, {device}{busy}")


def _written(view: View) -> list[RenderableType]:
    """What the systems wrote about one article at one n: F1, name, and the text below."""
    if not view.written:
        return []
    first = view.written[0]
    heading = f"Newest summaries: {first.dataset} {first.key}, n = {first.n or 'uncut'}"
    lines: list[RenderableType] = [Text(), Text(printable(heading), style="bold")]
    names = system_names(summary.system for summary in view.written)
    for summary in view.written[:_SYSTEMS]:
        lines.append(
            Text(
                printable(f"{decimals(summary.bertscore_f1)} {names[summary.system]}{role(summary.kind)}"), style="dim"
            )
        )
        lines.append(Text("     " + printable(summary.text)))
    further = len(view.written) - _SYSTEMS
    return lines if further <= 0 else [*lines, Text(f"and {counted(further, 'more system')}", style="dim")]
