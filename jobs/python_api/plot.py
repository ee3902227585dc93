"""A figure that a notebook shows by itself."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.whole_files import replacing

if TYPE_CHECKING:  # `import nws` must not wait for matplotlib
    from matplotlib.figure import Figure

_SHOWN_DPI = 100


@dataclass(frozen=True, slots=True, eq=False)
class Plot:
    """A matplotlib `figure`, and a `warning` if it had to change letters of some names.

    A notebook shows it where it is the value of a cell, with and without `%matplotlib`.
    """

    figure: "Figure"
    warning: str | None = None

    def save(self, path: str | Path) -> None:
        """Write it as PNG, SVG or PDF, as `path` ends.

        Raises:
            OSError: it cannot be written.
            ValueError: the ending is of no format that matplotlib writes.
        """
        from jobs.report.figure_files import metadata  # and with it matplotlib

        path = Path(path)
        if not path.suffix:  # as matplotlib does
            path = path.with_suffix(".png")
        with replacing(path) as unfinished:
            kind = path.suffix[1:].lower()
            about = metadata(self.figure, kind) if kind in ("png", "svg", "pdf") else None
            self.figure.savefig(unfinished, format=kind, dpi=200, metadata=about)

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        self.figure.savefig(picture, format="png", dpi=_SHOWN_DPI)
        return picture.getvalue()
