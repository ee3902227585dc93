"""From scored summaries to curves, intervals and the magic number."""

from core.analysis.bootstrap import Interval, mean_interval, mean_intervals
from core.analysis.curves import Curve, CurvePoint, Uncut, sweep_curves, uncut_scores
from core.analysis.magic_number import Gain, MagicNumber, lengths_text, magic_numbers
from core.analysis.paired import Comparison, PairedLength, compare_systems
from core.analysis.points import CONTROLS, LEAD, RANDOM, UPPER_BOUNDS, Metric, Point, system_order

__all__ = [
    "CONTROLS",
    "LEAD",
    "RANDOM",
    "UPPER_BOUNDS",
    "Comparison",
    "Curve",
    "CurvePoint",
    "Gain",
    "Interval",
    "MagicNumber",
    "Metric",
    "PairedLength",
    "Point",
    "Uncut",
    "compare_systems",
    "lengths_text",
    "magic_numbers",
    "mean_interval",
    "mean_intervals",
    "sweep_curves",
    "system_order",
    "uncut_scores",
]
