"""The recipe of a training run: the policies, the articles that they are trained on, and those that test them."""

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
"""The ways in which trained policies write, by the names of `--decoding`."""


def _named_decoding(name: str) -> Decoding:
    if name not in DECODINGS:
        raise ValueError(f"there is no decoding {name!r}. The known names are {' and '.join(DECODINGS)}")
    return DECODINGS[name]


def _for_training(dataset: Any) -> Any:
    """Return one of `train_datasets` in plain values. The default split is `train`."""
    values = {"name": dataset} if isinstance(dataset, str) else dataset
    return {"split": "train", **values} if isinstance(values, Mapping) else values


# A method says how to train. Name, seed and lengths come from the run.
_DEFAULTS = TrainingConfig("")


class MethodRecipe(Strict):
    """One way to train. With each seed and each decoding, it is a system of the run.

    The names of greedy systems are `policy|NAME|seed=SEED`. Others also name their decoding:
    `policy|NAME|rerank-160-lead6|seed=SEED`.

    Attributes:
        name: name of the method, such as `reinforce`.
        scope: `joint` for one pair of policies for all n, or `per-n` for a pair for each n.
        passes: number of times that each training article is used at each n; --passes sets it for every method.
        articles_per_update: maximum number of pairs of article and n for which an update draws episodes.
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
        """Return the trainings with one seed: that of a joint pair, or of the pair of each n."""
        system = system_name(self.name, seed)
        parts = {system: lengths} if self.scope == "joint" else {f"{system}|n={n}": (n,) for n in lengths}
        settings = {key: value for key, value in self if key not in ("name", "scope")}
        return tuple(TrainingConfig(name, seed, part, **settings) for name, part in parts.items())


class RewardRecipe(Strict):
    """The reward of policies: a weighted mean of metrics.

    Attributes:
        weights: weights of metrics, by their names in `nws score`. `bertscore` is the run's own BERTScore. `kept` is
            content kept of the training articles' references, `fluency` is computed with the recipe's
            `fluency_model`, and `article_similarity` is BERTScore F1 against the article's first three sentences.
            `fluency` and `article_similarity` read no reference. A single name stands for that metric alone:
            `reward: kept`.
        precision: precision of BERTScore's backbone in training. Below float32, training is faster on a GPU, but
            different numbers of workers give different policies. Test articles are scored with the run's
            `precision`.
    """

    weights: dict[str, Annotated[float, Field(gt=0)]] = Field(default_factory=lambda: {"bertscore": 1.0}, min_length=1)
    precision: Precision = "float32"

    @field_validator("weights")
    @classmethod
    def _are_metrics(cls, weights: dict[str, float]) -> dict[str, float]:
        for name in weights:
            if name == KEPT_WORDS.name:
                raise RecipeError(
                    f"{name!r} cannot be a reward: it is measured only for files and stored summaries. Use 'kept'."
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
                f"fluency is part of {' and of '.join(needing)}, but no language model is named that computes it. Set "
                "fluency_model, such as fluency_model: smollm2"
            )
        return self


def system_name(method: str, seed: int) -> str:
    """Return the name of a method's system with a seed. The signature has `policy|` before it."""
    return f"{method}|seed={seed}"
