"""Makes the report document from scored summaries: the one place that collects all findings of a run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from nws.core.analysis.abstractive import COVERAGE, FAITHFULNESS, abstractive
from nws.core.analysis.choose_statements import ranked_systems, statements, warnings
from nws.core.analysis.claimed_lengths import claims_of
from nws.core.analysis.content_kept import content_kept
from nws.core.analysis.curves import curves_by_metric, uncut_by_metric, uncut_scores
from nws.core.analysis.gain_over_random import magic_numbers
from nws.core.analysis.kept_by_kind import KindTerms, kept_by_kind
from nws.core.analysis.late_gains import late_gains
from nws.core.analysis.length_matched import compare_length_matched, length_matched_pairs
from nws.core.analysis.paired import compare_all_pairs, compare_by_metric, compare_systems
from nws.core.analysis.points import Points, pairs_with_lead, short_articles
from nws.core.analysis.policy_scores import learning_lines, policy_scores
from nws.core.analysis.words_saved import saved_over_lead
from nws.core.findings.content import CONTENT_KEPT
from nws.core.findings.lengths import Obedience
from nws.core.findings.policy_findings import PolicyFindings, SystemScore, split_seed
from nws.core.findings.report_document import MetricFindings, ReportDocument, ShortArticles
from nws.core.learning.training_config import FLUENCY
from nws.core.metrics.specs import F1S, Metric
from nws.core.text.checks.all_checks import Finding
from nws.core.types import LEAD, POLICY, RANDOM, CurveRow, GreedyReward

MOST_FOR_ALL_METRICS = 2_000_000
"""With more summaries, magic numbers are found in one metric only. One metric takes 5 s for ten million summaries."""


@dataclass(frozen=True, slots=True)
class Training:
    """The reward that the policies of a run were trained for, and how they learned.

    Attributes:
        reward: the signature of the reward.
        reward_is_f1: whether the reward is the run's BERTScore F1.
        curve: the means over the sampled episodes of each update.
        greedy: the rewards of the finished policies' greedy summaries of their training articles.
    """

    reward: str
    reward_is_f1: bool
    curve: Sequence[CurveRow]
    greedy: Sequence[GreedyReward]


def build_document(
    points: Points,
    metric: Metric = "bertscore_f1",
    training: Training | None = None,
    claim: str | int | None = None,
    sources: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    findings: tuple[Finding, ...] = (),
    kinds: Sequence[KindTerms] = (),
    word_kinds: str = "",
    obedience: tuple[Obedience, ...] = (),
) -> ReportDocument:
    """Make the document of a run, or of several runs together.

    Args:
        points: the scores of the summaries.
        metric: the metric of the document; one of the points' metrics.
        training: the training of a run that trains policies, whose points have all metrics, and shares of repeated
            words.
        claim: a claim about the right number of words, such as `7-13`.
        sources: by run, the names that its systems have among the points (`combine`); not needed for one run.
        findings: what checks found in the texts.
        kinds: what the summaries keep of each kind of word, by dataset and system.
        word_kinds: the signature of the kinds.
        obedience: how well generators keep to n.

    Raises:
        RecipeError: the claim cannot be read, or the run does not have the claimed n.
        StoreError: the points are not those of one run.
    """
    renamed = [(name, system) for names in sources.values() for system, name in names.items() if name != system]
    document = ReportDocument(
        metric=metric,
        sources=sources,
        findings=findings,
        unit=points.length_unit,
        metrics=_by_metric(points, metric),
        between_runs=compare_systems(points, points, renamed, metric) if renamed else (),
        short_articles=_count_short_articles(points),
        policies=None if training is None else _policies(points, metric, training),
        kept_by_kind=kept_by_kind(kinds),
        word_kinds=word_kinds,
        obedience=obedience,
        **(_content_kept(points) if CONTENT_KEPT in points.scores else {}),
    )
    ranked = {kept.dataset: ranked_systems(document, kept.dataset) for kept in document.kept}
    saved = saved_over_lead(points, ranked) if ranked else ()
    document = document.model_copy(update={"ranking": ranked, "words_saved": saved})
    cut = {dataset: (found,) for dataset, found in points.cut.items()}
    warned = {dataset: (*cut.get(dataset, ()), *warnings(document, dataset)) for dataset in document.datasets}
    document = document.model_copy(update={"warnings": warned})
    decided = {
        "statements": {dataset: tuple(statements(document, dataset)) for dataset in ranked},
        "claims": () if claim is None else claims_of(points, ranked, claim),
    }
    return document.model_copy(update=decided)


def compared_metrics(metric: Metric) -> tuple[Metric, ...]:
    """List the metrics in which the document about `metric` compares systems with `lead`, beside content kept."""
    return F1S if metric in F1S else (metric, *F1S)


def _by_metric(points: Points, metric: Metric) -> tuple[MetricFindings, ...]:
    """Return the findings in each metric: first that of the document, then those that are compared, then the others."""
    compared = [name for name in compared_metrics(metric) if name in points.scores]
    vs_lead = compare_by_metric(points, points, pairs_with_lead(points), compared)
    if CONTENT_KEPT in points.scores and CONTENT_KEPT not in vs_lead:
        scored = points.of_metrics((CONTENT_KEPT,)).take(~np.isnan(points.scores[CONTENT_KEPT]))
        vs_lead |= {CONTENT_KEPT: compare_systems(scored, scored, pairs_with_lead(scored), CONTENT_KEPT)}
    with_magic_numbers = compared if len(points) <= MOST_FOR_ALL_METRICS else [metric]
    names = tuple(dict.fromkeys((metric, *compared, *points.scores)))
    curves, uncut = curves_by_metric(points, names), uncut_by_metric(points, names)
    return tuple(
        MetricFindings(
            name,
            curves=curves[name],
            uncut=uncut[name],
            magic_numbers=magic_numbers(points, name) if name in with_magic_numbers else (),
            vs_lead=vs_lead.get(name, ()),
        )
        for name in names
    )


def _content_kept(points: Points) -> dict[str, Any]:
    """Return the findings in content kept, over the summaries that have it."""
    of_answer = [name for name in (CONTENT_KEPT, COVERAGE, FAITHFULNESS) if name in points.scores]
    scored = points.of_metrics(of_answer).take(~np.isnan(points.scores[CONTENT_KEPT]))
    return {
        "kept": content_kept(scored),
        "kept_uncut": uncut_scores(scored, CONTENT_KEPT),
        "all_pairs": compare_all_pairs(scored, CONTENT_KEPT),
        "length_matched": compare_length_matched(scored, scored, length_matched_pairs(scored), CONTENT_KEPT),
        "lead_vs_random": compare_systems(scored, scored, [(LEAD, RANDOM)], CONTENT_KEPT),
        "late_gains": late_gains(scored),
        "abstractive": abstractive(scored),
        "reference_lengths": points.reference_lengths,
    }


def _count_short_articles(points: Points) -> tuple[ShortArticles, ...]:
    counts = Counter((dataset, n) for dataset, _, n in short_articles(points))
    return tuple(ShortArticles(*place, articles) for place, articles in sorted(counts.items()))


def _policies(points: Points, metric: Metric, training: Training) -> PolicyFindings:
    is_reward = training.reward_is_f1 and metric == "bertscore_f1"
    return PolicyFindings(
        metric=metric,
        reward=training.reward,
        reward_is_f1=training.reward_is_f1,
        scores=policy_scores(points, _training_means(training.greedy) if is_reward else {}, metric),
        kept=_scores_in(points, CONTENT_KEPT),
        fluency=_scores_in(points, FLUENCY),
        learning=learning_lines(training.curve),
    )


def _scores_in(points: Points, metric: Metric) -> tuple[SystemScore, ...]:
    if metric not in points.scores or not (has_any := ~np.isnan(points.scores[metric])).any():
        return ()
    return policy_scores(points.take(has_any), {}, metric)


def _training_means(greedy: Sequence[GreedyReward]) -> dict[tuple[str, int], float]:
    """Return the mean reward on training articles by system (without seed) and n."""
    rewards: dict[tuple[str, int], list[float]] = {}
    for row in greedy:
        rewards.setdefault((split_seed(POLICY + row.policy)[0], row.n), []).append(row.reward)
    return {key: sum(sorted(values)) / len(values) for key, values in rewards.items()}
