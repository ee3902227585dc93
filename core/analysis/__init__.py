"""From scored summaries to curves, intervals and the magic number."""

from core.analysis.bootstrap import Interval, mean_interval, mean_intervals
from core.analysis.curves import Curve, CurvePoint, Uncut, sweep_curves, uncut_scores
from core.analysis.magic_number import Gain, MagicNumber, lengths_text, magic_numbers
from core.analysis.paired import Comparison, PairedLength, compare_systems
from core.analysis.points import LEAD, POLICY, RANDOM, Metric, Point, kinds_of, system_order
from core.analysis.policy_scores import COMPARED, SystemScore, Texts, mean_over_seeds, policy_scores, split_seed

__all__ = [
    "COMPARED",
    "LEAD",
    "POLICY",
    "RANDOM",
    "Comparison",
    "Curve",
    "CurvePoint",
    "Gain",
    "Interval",
    "MagicNumber",
    "Metric",
    "PairedLength",
    "Point",
    "SystemScore",
    "Texts",
    "Uncut",
    "compare_systems",
    "kinds_of",
    "lengths_text",
    "magic_numbers",
    "mean_interval",
    "mean_intervals",
    "mean_over_seeds",
    "policy_scores",
    "split_seed",
    "sweep_curves",
    "system_order",
    "uncut_scores",
]
