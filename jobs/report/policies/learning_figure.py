"""The figure of a training: reward above, entropy below, by updates; one column per n."""

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from jobs.report.figure_files import STYLE, Frame, make_figure, prepare_text
from jobs.report.looks import COLOURS
from jobs.report.policies.learning_curves import WINDOWS, Band, LearningLine
from jobs.report.policies.policy_numbers import PolicyNumbers

# Inches.
_PANEL = (3.2, 2.7)
_GREY = "#555555"
_DASHED = (0, (2.5, 3.5))
_FAR_APART = 1.5


@dataclass(frozen=True, slots=True)
class Axis:
    """The x axis: updates, or percent of each method's updates if the methods differ much in their number."""

    is_share: bool

    @property
    def label(self) -> str:
        return "updates done (%)" if self.is_share else "update"

    def x(self, line: LearningLine) -> list[float]:
        return [100 * (x + 0.5) / line.updates for x in line.x] if self.is_share else list(line.x)


def choose_axis(lines: Sequence[LearningLine]) -> Axis:
    updates = [line.updates for line in lines]
    return Axis(is_share=max(updates) > _FAR_APART * min(updates))


def draw_learning(numbers: PolicyNumbers, paper: float | None = None) -> tuple[Figure, str | None]:
    """The figure of at least one learning line, and what its reader must be told of its letters; see `Frame`."""
    with mpl.rc_context({} if paper else STYLE):
        figure = _draw(numbers, paper)
        return figure, prepare_text(figure)


def _draw(numbers: PolicyNumbers, paper: float | None) -> Figure:
    lines = numbers.learning
    lengths = sorted({line.n for line in lines})
    colours = {
        system: COLOURS[i % len(COLOURS)] for i, system in enumerate(dict.fromkeys(line.system for line in lines))
    }
    axis = choose_axis(lines)
    frame = Frame(
        rows=2,
        columns=len(lengths),
        panel=_PANEL,
        title="How the policies learned",
        keys=_keys(numbers, colours),
        footer=_footer(numbers, axis),
        made_by=_made_by(numbers),
        paper=paper,
        share_y=True,
    )
    figure, panels = make_figure(frame)
    for column, n in enumerate(lengths):
        reward, entropy = panels[:, column]
        for line in lines:
            if line.n == n:
                _draw_line(reward, axis.x(line), line.reward, colours[line.system])
                if line.has_baseline:
                    colour = _darker(colours[line.system])
                    x, heights = axis.x(line), line.advantage_baseline.mean
                    reward.plot(x, heights, color=colour, linestyle=_DASHED, linewidth=1.0, zorder=2.5)
                _draw_line(entropy, axis.x(line), line.entropy, colours[line.system])
        reward.set_title(f"n = {n}", loc="left")
        reward.tick_params(labelbottom=True)
        entropy.set_xlabel(axis.label)
        entropy.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    panels[0, 0].set_ylabel("mean reward")
    panels[1, 0].set_ylabel("mean entropy (nats)")
    figure.align_ylabels(panels[:, 0])
    return figure


def _draw_line(panel: Axes, x: Sequence[float], band: Band, colour: str) -> None:
    if len(x) > 1:
        panel.fill_between(x, band.low, band.high, color=colour, alpha=0.14, linewidth=0)
    else:
        panel.vlines(x, band.low, band.high, color=colour, alpha=0.4)
    panel.plot(x, band.mean, color=colour, linewidth=1.6, marker="o" if len(x) == 1 else "")


def _darker(colour: str) -> tuple[float, float, float]:
    red, green, blue = to_rgb(colour)
    return 0.5 * red, 0.5 * green, 0.5 * blue


def _keys(numbers: PolicyNumbers, colours: dict[str, str]) -> list[Artist]:
    lines = numbers.learning
    keys: list[Artist] = []
    for system, colour in colours.items():
        seeds = len({seed for line in lines if line.system == system for seed in line.seeds})
        suffix = f" (mean of {seeds} seeds)" if seeds > 1 else ""
        keys.append(Line2D([], [], label=numbers.learned(system) + suffix, color=colour, linewidth=1.6))
    for system in dict.fromkeys(line.system for line in lines if line.has_baseline):
        label = "advantage baseline" + (f" of {numbers.learned(system)}" if len(colours) > 1 else "")
        keys.append(Line2D([], [], label=label, color=_darker(colours[system]), linestyle=_DASHED, linewidth=1.0))
    if any(len(line.seeds) > 1 for line in lines):
        keys.append(Patch(label="lowest to highest seed", color=_GREY, alpha=0.25, linewidth=0))
    return keys


def _footer(numbers: PolicyNumbers, axis: Axis) -> str:
    lines = numbers.learning
    updates = {line.system: f"{numbers.learned(line.system)} {line.updates:,}" for line in lines}
    parts = []
    if max(line.updates for line in lines) > WINDOWS:
        parts.append(f"averaged over {WINDOWS} equal windows of updates")
    if any(line.has_baseline for line in lines):
        parts.append("a leave-one-out baseline lies on the reward")
    parts.append(f"updates done: {', '.join(updates.values())}" + (" (100 %)" if axis.is_share else ""))
    return " · ".join(parts)


def _made_by(numbers: PolicyNumbers) -> str:
    run, seeds = numbers.run, ", ".join(map(str, numbers.seeds))
    seed = "seed" if len(numbers.seeds) == 1 else "seeds"
    return f"reward: {numbers.reward} · {seed} {seeds} · run {run.id}, {run.state} · code {run.code_version}"
