"""A chart as SVG inside a page: what matplotlib draws, in colours of the page's style sheet.

There are no styles, ids or fonts in it: light, dark and printed pages set them, and no page's policy has to allow them.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from markupsafe import Markup, escape
from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.colors import to_hex
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Transform

from jobs.report.charts import BLACK, COLOURS, GREYS, Chart
from jobs.report.drawing import draw_for_page

_OF_LINES = {
    **{colour.lower(): f"var(--c{i})" for i, colour in enumerate(COLOURS)},
    **{grey.lower(): "var(--control)" for grey in GREYS},
    BLACK: "var(--upper)",
}
_OF_PAGE = {"#000000": "var(--ink)", "#ffffff": "var(--paper)", "#e6e6e6": "var(--rule)"}
_QUIET = "var(--quiet)"
_CLASSES = {"FillBetweenPolyCollection": "band", "LineCollection": "leader"}
_ANCHORS = {"left": "start", "center": "middle", "right": "end"}


def chart_svg(chart: Chart, width: float, height: float) -> Markup:
    """The content of an SVG element whose viewBox is of this size. Pointing at an x reads all its values."""
    figure = draw_for_page(chart, width, height)
    figure.patch.set_visible(False)
    (panel,) = figure.axes
    panel.patch.set_visible(False)
    renderer = _PageRenderer(width, height)
    figure.draw(renderer)
    xs = sorted({at.x for line in chart.series for at in line.points})
    places = panel.transData.transform([(x, 1.0) for x in xs])[:, 0]
    box = panel.get_window_extent()
    edges = [box.x0, *((a + b) / 2 for a, b in itertools.pairwise(places)), box.x1]
    for x, (left, right) in zip(xs, itertools.pairwise(edges), strict=True):
        told = escape("\n".join((f"{chart.x_label}: {x:g}", *_told(chart, x))))
        place = f'x="{left:.1f}" y="{height - box.y1:.1f}" width="{right - left:.1f}" height="{box.height:.1f}"'
        renderer.parts.append(f'<rect class="at" {place}><title>{told}</title></rect>')
    return Markup("\n".join(renderer.parts))


def _told(chart: Chart, x: float) -> Iterator[str]:
    """The values at an x, the highest first."""
    at_x = [(at.y, line.name, at.told) for line in chart.series for at in line.points if at.x == x]
    for _, name, told in sorted(at_x, key=lambda value: -value[0]):
        yield f"{name}: {told}"


class _PageRenderer(RendererBase):
    """Writes each path and text as an element of SVG. Texts are not measured: who reads has other letters."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__()
        self.width, self.height = width, height
        self.parts: list[str] = []
        self._groups: list[str] = []

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self.width, self.height

    def get_text_width_height_descent(self, s: str, prop: FontProperties, ismath: Any) -> tuple[float, float, float]:
        size = prop.get_size_in_points()
        return 0.6 * size * len(s), size, 0.2 * size

    def open_group(self, s: str, gid: str | None = None) -> None:
        self._groups.append(s)

    def close_group(self, s: str) -> None:
        self._groups.pop()

    def draw_path(self, gc: GraphicsContextBase, path: Path, transform: Transform, rgbFace: Any = None) -> None:
        self._add(gc, _data(transform.transform_path(path), 0, self.height), rgbFace)

    def draw_markers(
        self,
        gc: GraphicsContextBase,
        marker_path: Path,
        marker_trans: Transform,
        path: Path,
        trans: Transform,
        rgbFace: Any = None,
    ) -> None:
        shape = marker_trans.transform_path(marker_path)
        places = np.asarray(trans.transform(path.vertices))
        self._add(gc, "".join(_data(shape, x, self.height - y) for x, y in places), rgbFace)

    def _add(self, gc: GraphicsContextBase, data: str, face: Any) -> None:
        width, colour = gc.get_linewidth(), gc.get_rgb()
        looks = {"fill": "none" if face is None else _colour(face)}
        if width:
            looks |= {"stroke": _colour(colour), "stroke-width": f"{width:g}"}
        dashes: Any = gc.get_dashes()[1]
        if dashes is not None:
            looks["stroke-dasharray"] = " ".join(f"{dash:.1f}" for dash in dashes)
        opacity = (colour if face is None else face)[3]
        if opacity < 1:
            looks["opacity"] = f"{opacity:g}"
        named = [_CLASSES[group] for group in self._groups if group in _CLASSES]
        if named:
            looks["class"] = named[0]
        self.parts.append(f'<path d="{data}" {_attributes(looks)}/>')

    def draw_text(
        self,
        gc: GraphicsContextBase,
        x: float,
        y: float,
        s: str,
        prop: FontProperties,
        angle: float,
        ismath: Any = False,
        mtext: Text | None = None,
    ) -> None:
        looks = {"fill": _colour(gc.get_rgb())}
        if mtext is not None:  # of one line: placed by its anchor, whatever the width of its letters
            looks["text-anchor"] = _ANCHORS[mtext.get_horizontalalignment()]
            anchor_x, anchor_y = mtext.get_transform().transform(mtext.get_unitless_position())
            x, y = (x, self.height - anchor_y) if angle else (anchor_x, y)
        if angle:
            looks |= {"class": "up", "transform": f"translate({x:.1f} {y:.1f}) rotate({-angle:g})"}
        else:
            looks |= {"class": "end"} if looks["fill"] in _OF_LINES.values() else {}
            looks |= {"x": f"{x:.1f}", "y": f"{y:.1f}"}
        self.parts.append(f"<text {_attributes(looks)}>{escape(s)}</text>")


def _attributes(looks: Mapping[str, str]) -> str:
    return " ".join(f'{name}="{value}"' for name, value in looks.items())


def _data(path: Path, x: float, y: float) -> str:
    """A path from a place in SVG, where y falls. What has curves is the circle of a marker."""
    if path.codes is not None and Path.CURVE4 in np.asarray(path.codes):
        r = path.get_extents().width / 2
        return f"M{x - r:.1f} {y:.1f}a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 {-2 * r:.1f} 0z"
    lines: Any = path.to_polygons(closed_only=False)
    return "".join("M" + "L".join(f"{x + right:.1f} {y - up:.1f}" for right, up in line) for line in lines)


def _colour(rgb: Any) -> str:
    colour = to_hex(rgb)
    return _OF_LINES.get(colour) or _OF_PAGE.get(colour, _QUIET)
