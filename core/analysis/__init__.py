"""From scored summaries to curves, intervals and the magic number."""

from core.analysis.best_n import Gain, MagicNumber, lengths_text, magic_numbers
from core.analysis.curves import Curve, CurvePoint, Uncut, sweep_curves, uncut_scores
from core.analysis.grids import SameText, same_texts
from core.analysis.intervals import Interval, mean_interval, mean_intervals
from core.analysis.paired import Comparison, PairedLength, compare_all_pairs, compare_by_metric, compare_systems
from core.analysis.points import (
    LEAD,
    POLICY,
    RANDOM,
    Metric,
    Point,
    Points,
    kinds_of,
    pairs_with_lead,
    short_articles,
    system_order,
)
from core.analysis.policy_scores import mean_over_seeds, policy_scores, split_seed
from core.analysis.system_score import COMPARED, TEXTRANK, SystemScore
from core.metrics.specs import METRICS, PARTS

__all__ = [
    "COMPARED",
    "LEAD",
    "METRICS",
    "PARTS",
    "POLICY",
    "RANDOM",
    "TEXTRANK",
    "Comparison",
    "Curve",
    "CurvePoint",
    "Gain",
    "Interval",
    "MagicNumber",
    "Metric",
    "PairedLength",
    "Point",
    "Points",
    "SameText",
    "SystemScore",
    "Uncut",
    "compare_all_pairs",
    "compare_by_metric",
    "compare_systems",
    "kinds_of",
    "lengths_text",
    "magic_numbers",
    "mean_interval",
    "mean_intervals",
    "mean_over_seeds",
    "pairs_with_lead",
    "policy_scores",
    "same_texts",
    "short_articles",
    "split_seed",
    "sweep_curves",
    "system_order",
    "uncut_scores",
]
