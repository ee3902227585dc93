"""Trained policies: their scores on test articles beside other systems, and how they learned."""

import re
import statistics
from collections.abc import Iterator, Mapping

from pydantic import computed_field
from pydantic.dataclasses import dataclass

from nws.core.findings.comparisons import PairedLength
from nws.core.findings.scores import Interval, Metric
from nws.core.types import LEAD, POLICY, UNTRAINED, SystemKind

TEXTRANK = "textrank"
ORACLE = "oracle"
LEAD_SEARCH = "lead3-search"
COMPARED = (UNTRAINED, "lead2+chunks", LEAD_SEARCH, TEXTRANK, LEAD)
"""The systems that others are compared with. Policies alone are with `UNTRAINED`, which writes as they do."""

_SEED = re.compile(r"(policy\|.+)\|seed=(-?\d+)(?:\|n=\d+)?")


def split_seed(name: str) -> tuple[str, int | None]:
    """A policy's system without its seed, and the seed: `policy|reinforce|seed=0` is (`policy|reinforce`, 0).

    A final `|n=7`, which marks one of several parts, is left out. Any other name is returned as it is, without a seed.
    """
    match = _SEED.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, None)


def compared_with(system: str) -> Iterator[str]:
    """The signatures of the systems of `COMPARED` that one is compared with."""
    for name in COMPARED:
        if name != UNTRAINED:
            yield name
        elif system.startswith(POLICY):
            _, _, *decoding = system.split("|")
            yield "|".join((UNTRAINED, *(decoding or ["greedy"])))  # the names of greedy policies have none


@dataclass(frozen=True, slots=True)
class SystemScore:
    """A system on the `articles` test articles of a dataset at n words: means over articles.

    Attributes:
        score: the mean of the metric that `policy_scores` was asked for, with its 95 % interval over articles.
        seeds: for a policy, the mean of each of its seeds. Empty for any other system. Here and in every other number,
            only articles count for which all seeds have a summary.
        means: over its seeds and articles, by each of `METRICS`.
        words: mean number of words of the summaries. Most systems write n.
        repeated_words: share of words that occurred earlier in the summary (`repeated_word_share`).
        comparable: whether it may be compared with the others at this n. All comparable systems are judged on the same
            articles (`comparable_articles`), any other system on all that it has.
        versus: this system minus others of `COMPARED`, by name, paired over the articles that both have. Empty for an
            upper bound.
        gap_closed: share of the way from `textrank` to `oracle`, (score - textrank's) / (oracle's - textrank's), over
            the articles that all three have. None for these two systems, if one of them is missing, and if the oracle
            is not above textrank.
        training_f1: mean F1 on the articles the policy learned from, where it is known.
    """

    dataset: str
    system: str
    kind: SystemKind
    n: int
    articles: int
    score: Interval
    seeds: Mapping[int, float]
    means: Mapping[Metric, float]
    words: float
    repeated_words: float
    comparable: bool
    versus: Mapping[str, PairedLength]
    gap_closed: float | None
    training_f1: float | None

    @property
    def is_policy(self) -> bool:
        return bool(self.seeds)

    @computed_field
    @property
    def seed_sd(self) -> float | None:
        """Standard deviation of the seeds' means (n - 1); None for fewer than two seeds."""
        return statistics.stdev(self.seeds.values()) if len(self.seeds) > 1 else None

    @computed_field
    @property
    def test_vs_training(self) -> float | None:
        return None if self.training_f1 is None else self.means["bertscore_f1"] - self.training_f1
