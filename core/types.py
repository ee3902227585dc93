"""The values that come of an article (`nws.core.article`): Summary with its scores, or Failure, and bundles of them.

Beside them, the precisions that models compute in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from nws.core.article import Article
from nws.core.provenance import Software

# What a system is to a reader: one to choose, one that weighs nothing and shows what length or position alone gain, or
# one that saw the reference and shows what could be reached by writing as it does. Another way may reach more.
SystemKind: TypeAlias = Literal["system", "control", "oracle"]

# What a model computes in. Less than float32 is faster on a GPU, and gives other numbers. `tf32` keeps float32 numbers
# and multiplies them with 10 bits behind the point.
Precision = Literal["float32", "tf32", "float16", "bfloat16"]

LengthRule: TypeAlias = Literal["exactly", "at_most", "free"]
"""How a generator keeps to n: it can write n words only, it ends by itself within n, or it is asked and then cut."""
AT_MOST: Final = "at_most"
"""Part of the signatures of systems that write at most n words, and often fewer."""
POLICY = "policy|"
"""What the signatures of trained policies begin with."""
UNTRAINED: Final = "untrained"
"""The first part of the signatures of policies before their first update."""
RANDOM, LEAD = "random", "lead"
"""The controls that others are compared with: `random` shows what length alone gains, `lead` what a beginning does."""
OTHER_ARTICLE: Final = "other-article"
"""The control that takes the summary of another article, see `nws.core.systems.rulers`."""

ROWS_DEPEND = "rows depend on their batch"
"""Part of a description where results are not reproducible to the last bit, see `nws.core.arithmetic`."""

AMPERE = (8, 0)
"""GPUs of this compute capability and above (A100, L4, H100) have TF32 and bfloat16; a T4 has 7.5."""


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1 of one metric, each in [0, 1] (BERTScore may fall below 0)."""

    precision: float
    recall: float
    f1: float

    @property
    def values(self) -> tuple[float, float, float]:
        """The three in this order."""
        return self.precision, self.recall, self.f1


CHOSEN_SCORES = "scores"
"""The key under which a store keeps `Summary.chosen_scores` in its column `extra`."""


DRAWN_TEXTS = "draws"
"""The key of `Summary.extra` with all texts of a system that draws at random."""
REFERENCE_READ, TEXT_READ = "reference_read", "text_read"
"""The keys of `Summary.extra` with the share of the article's longest reference, and of the text, that BERTScore's
backbone has read; they are there if it has not read all."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What one system wrote for one article at one length.

    `n` is the number of words asked for (0: uncut), `words` the number it has. `seconds` is its share of the
    wall time its bundle took: a cost, not a result, and the only field that differs between two equal runs. `scores`
    are those of every stored metric, by the columns of `nws.core.metrics.specs`. `extra` is what else the system has to
    tell, such as the precision a generator ran in. Where it has `draws`, the scores are the means over these texts, of
    which `text` is the first; otherwise they are those of `text`. So are `chosen_scores`, the values of metrics that
    not every run has: those of models that its recipe names, and those of plugins, by their names.
    """

    article_id: str
    system: str
    n: int
    text: str
    words: int
    seconds: float
    scores: Mapping[str, float]
    extra: Mapping[str, float | str | tuple[str, ...]] = field(default_factory=dict)
    chosen_scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failure:
    """An article that could not be finished: what went wrong, after how many attempts, and where."""

    article_id: str
    error_class: str
    message: str
    attempts: int
    node: str


@dataclass(frozen=True, slots=True)
class BundleResult:
    """The results of one bundle. Every article of the bundle has all its summaries here, or one failure.

    `notes` are lines for the run's log. `software` is what each of the processes that worked on it computes with, see
    `nws.core.provenance`.
    """

    summaries: tuple[Summary, ...]
    failures: tuple[Failure, ...]
    notes: tuple[str, ...] = ()
    software: tuple[Software, ...] = ()


# A bundle of articles and what became of it.
Landed: TypeAlias = tuple[Sequence[Article], BundleResult]


@dataclass(frozen=True, slots=True)
class CurveRow:
    """The sampled episodes of one policy at one n in one update: their number, and means over them.

    `reward_sd` is the sample standard deviation, None where there is but one episode.
    """

    policy: str
    seed: int
    n: int
    update_number: int
    episodes: int
    reward: float
    reward_sd: float | None
    advantage_baseline: float
    entropy: float
    log_probability: float


@dataclass(frozen=True, slots=True)
class GreedyReward:
    """The reward of a finished policy's greedy summary of one of its training articles."""

    policy: str
    seed: int
    article_id: str
    n: int
    reward: float
