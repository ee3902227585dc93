"""Analyses scored summaries: curves by n, intervals, comparisons and the magic number."""

from nws.core.analysis.curves import sweep_curves as sweep_curves
from nws.core.analysis.curves import uncut_scores as uncut_scores
from nws.core.analysis.gain_over_random import magic_numbers as magic_numbers
from nws.core.analysis.intervals import mean_interval as mean_interval
from nws.core.analysis.intervals import mean_intervals as mean_intervals
from nws.core.analysis.paired import compare_all_pairs as compare_all_pairs
from nws.core.analysis.paired import compare_by_metric as compare_by_metric
from nws.core.analysis.paired import compare_systems as compare_systems
from nws.core.analysis.points import Points as Points
from nws.core.analysis.points import kinds_of as kinds_of
from nws.core.analysis.points import pairs_with_lead as pairs_with_lead
from nws.core.analysis.points import short_articles as short_articles
from nws.core.analysis.policy_scores import mean_over_seeds as mean_over_seeds
from nws.core.analysis.policy_scores import policy_scores as policy_scores
