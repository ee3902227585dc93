"""From scored summaries to curves, intervals and the magic number."""

from core.analysis.bootstrap import Interval, mean_interval, mean_intervals
from core.analysis.curves import Curve, CurvePoint, Uncut, sweep_curves, uncut_scores
from core.analysis.magic_number import Gain, MagicNumber, lengths_text, magic_numbers
from core.analysis.points import CONTROLS, RANDOM, Metric, Point

__all__ = [
    "CONTROLS",
    "RANDOM",
    "Curve",
    "CurvePoint",
    "Gain",
    "Interval",
    "MagicNumber",
    "Metric",
    "Point",
    "Uncut",
    "lengths_text",
    "magic_numbers",
    "mean_interval",
    "mean_intervals",
    "sweep_curves",
    "uncut_scores",
]
