"""The other articles that content kept is measured with: drawn of each dataset when a run begins."""

import hashlib
import itertools
from dataclasses import replace

import numpy as np

from core.metrics.panel import PANEL, Panel, draw_panel
from core.text.dataset import OpenDataset
from jobs.plan.pinned import Pinned

STREAMED = 4_096
"""Of a streamed dataset, from how many of its first articles a panel is drawn: nobody knows the others yet."""


def draw_panels(pinned: Pinned) -> tuple[Panel, ...]:
    """A panel of each dataset of a run: the same whenever the run is resumed. A shard has those of its parent.

    Raises:
        CorpusError: a dataset is not what it was.
    """
    return tuple(map(panel_of, pinned.corpora)) if pinned.panels is None else pinned.panels


def with_panels(pinned: Pinned, panels: tuple[Panel, ...]) -> Pinned:
    """The run with what its stages measure content kept with."""
    stages = (replace(planned, plan=replace(planned.plan, panels=panels)) for planned in pinned.stages)
    return replace(pinned, stages=tuple(stages))


def sha256_of(panels: tuple[Panel, ...]) -> str:
    """64 hex digits, the same for the same panels."""
    return hashlib.sha256("\n".join(panel.sha256 for panel in panels).encode()).hexdigest()


def panel_of(corpus: OpenDataset) -> Panel:
    """That of one dataset.

    Raises:
        CorpusError: it is not what it was.
    """
    if corpus.ids is None:
        return draw_panel(corpus.name, itertools.islice(iter(corpus), STREAMED))
    ids = corpus.ids
    chosen = np.zeros(len(ids), dtype=np.bool_)
    chosen[np.argsort(ids)[:PANEL]] = True
    return draw_panel(corpus.name, corpus.read(chosen))
