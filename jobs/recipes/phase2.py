"""The recipe of a training run: which policies are trained on which articles, and on which they are evaluated."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, field_validator, model_validator

from nws.core.errors import RecipeError
from nws.core.learning.training_config import (
    FLUENCY,
    OWN_REWARDS,
    Decoding,
    OptimizerConfig,
    PolicyConfig,
    ReinforceConfig,
    TrainingConfig,
)
from nws.core.metrics.registry import make_metric
from nws.core.metrics.specs import KEPT_WORDS
from nws.core.systems.extractive_baselines import BASELINES
from nws.core.text.dataset import Dataset
from nws.core.types import Precision
from nws.jobs.recipes.base import (
    ENCODER,
    FIELD_FLAGS,
    ONCE,
    SEED,
    Datasets,
    Flag,
    Lengths,
    ModelText,
    PositiveInt,
    RunRecipe,
    Seed,
    Strict,
    names_of,
    require_different,
    typed,
)

RIVALS = ("lead2+chunks", "lead3-search", "textrank", "lead", "oracle")
"""The systems that trained policies are compared with."""
DECODINGS = {"rerank": Decoding("rerank"), "greedy": Decoding("greedy")}
"""How trained policies write, by the names of `--decoding`."""


def _named_decoding(name: str) -> Decoding:
    if name not in DECODINGS:
        raise ValueError(f"there is no decoding {name!r}: {' and '.join(DECODINGS)} are known by name")
    return DECODINGS[name]


def _for_training(dataset: Any) -> Any:
    """One of `train_datasets` in plain values: the split is that for training unless another is named."""
    values = {"name": dataset} if isinstance(dataset, str) else dataset
    return {"split": "train", **values} if isinstance(values, Mapping) else values


# A recipe says how to train, not what: its name, seeds and lengths are the run's.
_DEFAULTS = TrainingConfig("")


class MethodRecipe(Strict):
    """One way to train. With every seed and decoding it is a system of the run.

    Greedy ones are `policy|NAME|seed=SEED`; others say how they write: `policy|NAME|rerank-160-lead6|seed=SEED`.

    Attributes:
        name: of the method, e.g. `reinforce`.
        scope: `joint`, one pair of policies for all n, or `per-n`, a pair for each.
        passes: how many times each training article is used at each n; --passes sets it of every method.
        articles_per_update: episodes are drawn for at most so many (article, n) in an update.
        policies: see `nws.core.learning.training_config.PolicyConfig`.
        reinforce: see `nws.core.learning.training_config.ReinforceConfig`.
        optimizer: see `nws.core.learning.training_config.OptimizerConfig`.
    """

    name: Annotated[str, StringConstraints(pattern=r"^[\w.-]+$")]
    scope: Literal["joint", "per-n"] = "joint"
    passes: PositiveInt = _DEFAULTS.passes
    articles_per_update: PositiveInt = _DEFAULTS.articles_per_update
    policies: PolicyConfig = _DEFAULTS.policies
    reinforce: ReinforceConfig = _DEFAULTS.reinforce
    optimizer: OptimizerConfig = _DEFAULTS.optimizer

    def trainings(self, seed: int, lengths: tuple[int, ...]) -> tuple[TrainingConfig, ...]:
        """What is trained with one seed: a joint pair, or the pair of each n."""
        system = system_name(self.name, seed)
        parts = {system: lengths} if self.scope == "joint" else {f"{system}|n={n}": (n,) for n in lengths}
        settings = {key: value for key, value in self if key not in ("name", "scope")}
        return tuple(TrainingConfig(name, seed, part, **settings) for name, part in parts.items())


class RewardRecipe(Strict):
    """The reward of policies: a weighted mean of metrics.

    Attributes:
        weights: of metrics by their names in `nws score`; `bertscore` is the run's own. `kept` is content kept, of the
            training articles' references, `fluency` that of the recipe's `fluency_model`, and
            `article_similarity` BERTScore F1 against the article's first three sentences. The last two read no
            reference. A name in place of this mapping is that metric alone: `reward: kept`.
        precision: of BERTScore's backbone while policies learn. Less than float32 is faster on a GPU, and no longer
            gives the same policies for any number of workers. What is stored of test articles is scored with the
            run's `precision`.
    """

    weights: dict[str, Annotated[float, Field(gt=0)]] = Field(default_factory=lambda: {"bertscore": 1.0}, min_length=1)
    precision: Precision = "float32"

    @field_validator("weights")
    @classmethod
    def _are_metrics(cls, weights: dict[str, float]) -> dict[str, float]:
        for name in weights:
            if name == KEPT_WORDS.name:
                raise RecipeError(
                    f"{name!r} is no reward: it is measured of files and stored summaries. 'kept' is one."
                )
            if name not in OWN_REWARDS:
                make_metric(name)
        return weights


class Phase2Recipe(RunRecipe):
    """Training of policies, and their comparison with others on test articles.

    Attributes:
        train_datasets: datasets that policies are trained on, as for the other jobs, but the default split is `train`.
            With --dataset, the test articles are the test split of the same dataset, unless --test-dataset or a recipe
            of your own names others.
        datasets: the test articles, on which policies and `systems` are evaluated.
        n: summary lengths in words: 7,9,11,13, or 7-13 for all of them.
        encoder: model that embeds sentences and chunks: a known name, a folder, or a Hub id.
        methods: the methods of training.
        seeds: seeds of the training: a policy is trained with each. The first --seed also seeds the tests.
        decodings: how trained policies write for the test articles, one system each: greedy, or rerank, the best of
            many draws. `nws export` takes the first unless told otherwise.
        systems: systems that policies are compared with: lead3, lead2+chunks, lead3-search, textrank, centroid,
            textrank-words, lexrank, position, oracle, lead, random, reference-words, person, other-article. The oracle
            takes most of the time.
        reward: what policies are rewarded with in training.
    """

    job: ClassVar[str] = "phase2"

    train_datasets: Annotated[
        tuple[Annotated[Dataset, BeforeValidator(_for_training)], ...],
        Field(min_length=1),
        Flag("--dataset NAME", "Articles"),
        Flag("--split NAME", "Articles", "split", told="Split of Hub datasets to train on; default: train."),
        Flag("--limit N", "Articles", "limit", 1, "Train on at most this many articles of each dataset."),
        *FIELD_FLAGS,
    ]
    datasets: Annotated[
        Datasets,
        Flag("--test-dataset NAME", "Articles"),
        Flag("--test-limit N", "Articles", "limit", 1, "Test on at most this many articles of each dataset."),
        *FIELD_FLAGS,
    ]
    n: Lengths = (7, 9, 11, 13)
    systems: Annotated[tuple[str, ...], names_of(BASELINES), Flag("--system NAME", "Systems")] = RIVALS
    decodings: Annotated[
        tuple[Annotated[Decoding, typed(_named_decoding)], ...], Field(min_length=1), Flag("--decoding NAME", "Systems")
    ] = tuple(DECODINGS.values())
    encoder: Annotated[ModelText, ENCODER] = "all-MiniLM-L6-v2"
    methods: Annotated[
        tuple[MethodRecipe, ...], Field(min_length=1), Flag("--passes N", "Systems", "passes", least=1)
    ] = (MethodRecipe(name="reinforce"),)
    seeds: Annotated[tuple[Seed, ...], ONCE, Field(min_length=1), SEED] = (0, 1)
    reward: Annotated[RewardRecipe, typed(lambda metric: {"weights": {metric: 1.0}})] = RewardRecipe()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        require_different([method.name for method in self.methods], "methods")
        require_different([decoding.label for decoding in self.decodings], "decodings")
        needing = ["the reward"] if FLUENCY in self.reward.weights else []
        needing += [f"the decoding {decoding.label}" for decoding in self.decodings if decoding.needs_fluency]
        if needing and self.fluency_model is None:
            raise ValueError(
                f"fluency is part of {' and of '.join(needing)}, and nothing says which causal language model computes "
                "it: set fluency_model, such as fluency_model: smollm2"
            )
        return self


def system_name(method: str, seed: int) -> str:
    """The name of what a method becomes with a seed; the signature has `policy|` before it."""
    return f"{method}|seed={seed}"
