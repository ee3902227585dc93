"""The settings of policies: the kind of pair, learning, training, and decoding. No setting needs PyTorch.

Names of a `Literal`, and ranges of numbers, are checked when a recipe is parsed.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from nws.core.errors import RecipeError
from nws.core.metrics.config import BertScoreConfig, Options
from nws.core.metrics.kept import KEPT_RECALL, KEPT_SIGNATURE
from nws.core.metrics.registry import NEED_SOURCE, make_metric
from nws.core.metrics.specs import KEPT_SPEC
from nws.core.text.language import Language

if TYPE_CHECKING:
    from nws.core.metrics.fluency import Fluency  # imports PyTorch

Count = Annotated[int, Field(ge=1)]
Weight = Annotated[float, Field(ge=0)]
Size = Annotated[float, Field(gt=0)]
LogProbability = Literal["plackett-luce", "softmax-sum"]

BERTSCORE = "bertscore"
FLUENCY = "fluency"
ARTICLE_SIMILARITY = "article_similarity"
OWN_REWARDS = (BERTSCORE, KEPT_SPEC.name, FLUENCY, ARTICLE_SIMILARITY)
"""The rewards that are not metrics of the registry, or that differ from these because they use the run's models."""
NO_REFERENCE_READ = "|no reference is read"
"""The end of the signature of a reward that reads no reference."""
ANCHOR_SENTENCES = 3
"""The number of first sentences of an article that `ARTICLE_SIMILARITY` compares a summary with."""
_READ_NO_REFERENCE = {ARTICLE_SIMILARITY, FLUENCY, *NEED_SOURCE}


@dataclass(frozen=True, slots=True)
class PolicyConfig:
    """The kind of a pair of policies, and its rules for summaries.

    Attributes:
        inputs: `features`, or `embeddings` for the pair of the study (embedding ⊕ TextRank).
        hidden: width of the hidden layers.
        residual: whether to add the standardised TextRank to sentence logits, and the standardised similarity to the
            document to chunk logits. The untrained pair is then TextRank. Only for `features`.
        sentences: number K of sentences that are chosen.
        mask_repeats: whether a summary has no content word twice, as long as the article has others.
    """

    inputs: Literal["features", "embeddings"] = "features"
    hidden: Count = 32
    residual: bool = True
    sentences: Count = 3
    mask_repeats: bool = True


@dataclass(frozen=True, slots=True)
class ReinforceConfig:
    """How policies learn from rewards.

    Attributes:
        samples: number k of episodes for an article in an update.
        advantage_baseline: value that a reward is compared with: the mean of the article's other samples
            (`leave-one-out`: Kool et al. 2019, "Buy 4 REINFORCE Samples, Get a Baseline for Free!"), or 0 (`none`).
        normalise: whether to divide the advantages by their standard deviation over the article's samples.
        entropy_weight: weight of the entropy bonus.
        log_probability: `plackett-luce`, or `softmax-sum` as in the study.

    Raises:
        RecipeError: there are too few samples for these settings.
    """

    samples: int = 8
    advantage_baseline: Literal["leave-one-out", "none"] = "leave-one-out"
    normalise: bool = True
    entropy_weight: Weight = 0.01
    log_probability: LogProbability = "plackett-luce"

    def __post_init__(self) -> None:
        needed = 2 if self.normalise or self.advantage_baseline == "leave-one-out" else 1
        if self.samples < needed:
            raise RecipeError(
                f"{self.samples} samples are too few: use at least {needed}. With `normalise: false` and "
                "`advantage_baseline: none`, one sample is enough."
            )


@dataclass(frozen=True, slots=True)
class RewardConfig:
    """The configuration of a reward.

    Attributes:
        bertscore: the backbone and layer of BERTScore.
        weights: weights above 0 of metrics, by their names in `nws.core.metrics.registry`, or `kept`. The reward is the
            weighted mean of F1, or of the score of a metric without F1.
        language: the language of the articles, which decides the tokenizer of metrics other than BERTScore.
        fluency: the metric that `fluency` stands for.

    Raises:
        RecipeError: fluency has a weight, but no model.
    """

    bertscore: BertScoreConfig
    weights: tuple[tuple[str, float], ...] = ((BERTSCORE, 1.0),)
    language: Language = "en"
    fluency: "Fluency | None" = None

    def __post_init__(self) -> None:
        if FLUENCY in dict(self.weights) and self.fluency is None:
            raise RecipeError("Fluency is part of the reward. Name the causal language model that computes it.")

    @property
    def reads_references(self) -> bool:
        """Whether any of the metrics reads references."""
        return not _READ_NO_REFERENCE.issuperset(dict(self.weights))

    @property
    def signature(self) -> str:
        """The signature of the reward's metric, or the signatures of several metrics with their weights.

        Raises:
            RecipeError: there is no such metric.
        """
        bertscore = self.bertscore.signature
        own = {
            BERTSCORE: bertscore,
            KEPT_SPEC.name: f"{KEPT_SPEC.name}|{KEPT_SIGNATURE}|{KEPT_RECALL} of {bertscore}",
            ARTICLE_SIMILARITY: f"{ARTICLE_SIMILARITY}|anchor:the article's first {ANCHOR_SENTENCES} sentences|"
            f"F1:{bertscore}",
        }
        if self.fluency is not None:
            own[FLUENCY] = self.fluency.signature
        options = Options(lang=self.language)
        signatures = {
            name: own[name] if name in own else make_metric(name, options).signature for name, _ in self.weights
        }
        ending = "" if self.reads_references else NO_REFERENCE_READ
        if len(signatures) == 1:
            return next(iter(signatures.values())) + ending
        return " + ".join(f"{weight:g} * {signatures[name]}" for name, weight in self.weights) + ending


@dataclass(frozen=True, slots=True)
class OptimizerConfig:
    """Settings of AdamW (Loshchilov and Hutter 2019) with clipped gradients.

    Attributes:
        learning_rate: learning rate, which is constant.
        weight_decay: decoupled weight decay.
        max_grad_norm: largest global L2 norm of a gradient; larger ones are scaled down to it. None: no limit.
    """

    learning_rate: Size = 1e-2
    weight_decay: Weight = 0.0
    max_grad_norm: Size | None = 1.0


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """The configuration of one training.

    Attributes:
        name: the name of the trained policies, unique in a run.
        seed: the seed of the first weights, of the order of articles, and of all draws.
        lengths: the n that one joint pair of policies learns. For a pair of each n, train with one length each.
        passes: the number of times that each article is used at each n. There is no early stopping.
        articles_per_update: the most pairs of article and n for which an update draws episodes.
        policies: the kind of the pair.
        reinforce: the way in which it learns.
        optimizer: the settings of the optimizer.
    """

    name: str
    seed: int = 0
    lengths: tuple[int, ...] = (7, 9, 11, 13)
    passes: int = 15
    articles_per_update: int = 24
    policies: PolicyConfig = field(default_factory=PolicyConfig)
    reinforce: ReinforceConfig = field(default_factory=ReinforceConfig)
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)

    def updates(self, articles: int) -> int:
        """Return the number of updates with this many articles."""
        return self.passes * -(-articles * len(self.lengths) // self.articles_per_update)


@dataclass(frozen=True, slots=True)
class Decoding:
    """How policies write. No decoding sees a reference.

    Attributes:
        method: `greedy` takes the best sentences, and then the best chunk each time. `rerank` draws `k` summaries from
            the policies and chooses the one with the highest BERTScore F1 against the anchor.
        k: number of summaries that `rerank` draws.
        anchor: `lead`, the article's first `anchor_sentences` sentences, or `chosen`, the sentences that the policies
            would choose greedily.
        anchor_sentences: number of sentences in the anchor.
        adjacency_weight: weight w in the score F1 + w · (share of neighbours in the summary that are neighbours in the
            article). With a larger w, summaries have more of the article's own phrases.
        fluency_weight: weight v of a further term v · fluency (`nws.core.metrics.fluency`), in nats per token. It is
            computed for the 32 summaries that are best without it. The recipe names the model.
        temperature: temperature of the draws. Above 1, summaries differ more.

    Raises:
        RecipeError: `greedy`, which writes only one summary, has a `fluency_weight`.
    """

    method: Literal["greedy", "rerank"] = "greedy"
    k: Count = 160
    anchor: Literal["lead", "chosen"] = "lead"
    anchor_sentences: Count = 6
    adjacency_weight: Weight = 0.05
    fluency_weight: Weight = 0.0
    temperature: Size = 1.0

    def __post_init__(self) -> None:
        if self.method == "greedy" and self.fluency_weight:
            raise RecipeError(
                "greedy has no fluency_weight, since it writes only one summary. Leave it out, or use rerank."
            )

    @property
    def needs_fluency(self) -> bool:
        """Whether it needs a language model."""
        return self.fluency_weight > 0

    @property
    def label(self) -> str:
        """`greedy`, or all settings of a reranking, such as `rerank-160-lead6-adjacent0.05` or `rerank-48-chosen2`."""
        if self.method == "greedy":
            return self.method
        adjacent = f"-adjacent{self.adjacency_weight:g}" if self.adjacency_weight else ""
        fluent = f"-fluent{self.fluency_weight:g}" if self.fluency_weight else ""
        temperature = f"-temperature{self.temperature:g}" if self.temperature != 1 else ""
        return f"rerank-{self.k}{temperature}-{self.anchor}{self.anchor_sentences}{adjacent}{fluent}"
