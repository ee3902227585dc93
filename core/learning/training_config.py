"""How one pair of policies is trained: all settings except the articles, the encoder and the reward."""

from dataclasses import dataclass, field

from core.errors import RecipeError
from core.learning.policies import PolicyConfig
from core.learning.reinforce import ReinforceConfig


@dataclass(frozen=True, slots=True)
class OptimizerConfig:
    """AdamW (Loshchilov and Hutter 2019) with clipped gradients.

    Attributes:
        learning_rate: constant.
        weight_decay: decoupled.
        max_grad_norm: gradients with a larger global L2 norm are scaled down to it; None: never.

    Raises:
        RecipeError: a number out of range.
    """

    learning_rate: float = 1e-2
    weight_decay: float = 0.0
    max_grad_norm: float | None = 1.0

    def __post_init__(self) -> None:
        largest = 1.0 if self.max_grad_norm is None else self.max_grad_norm
        if not (self.learning_rate > 0 and self.weight_decay >= 0 and largest > 0):
            raise RecipeError(
                "The learning rate and the gradient's norm must be above 0, weight decay 0 or above, not "
                f"learning_rate: {self.learning_rate}, max_grad_norm: {self.max_grad_norm} and "
                f"weight_decay: {self.weight_decay}."
            )


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """One training.

    Attributes:
        name: of the policies that come out of it, unique in a run.
        seed: of the first weights, of the order of articles and of everything drawn.
        lengths: the n to learn, all by one joint pair of policies. For a pair of each n, train with one length each.
        passes: how many times each article is used at each n; there is no early stopping.
        articles_per_update: episodes are drawn for at most so many (article, n).
        policies: which pair.
        reinforce: how it learns.
        optimizer: of the driver.

    Raises:
        RecipeError: no length, or a number below 1.
    """

    name: str
    seed: int = 0
    lengths: tuple[int, ...] = (7, 9, 11, 13)
    passes: int = 15
    articles_per_update: int = 24
    policies: PolicyConfig = field(default_factory=PolicyConfig)
    reinforce: ReinforceConfig = field(default_factory=ReinforceConfig)
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)

    def __post_init__(self) -> None:
        if not self.lengths or min(*self.lengths, self.passes, self.articles_per_update) < 1:
            raise RecipeError("Training needs at least one length, one pass, and one article in each update.")

    def updates(self, articles: int) -> int:
        """How many updates there are with this many articles."""
        return self.passes * -(-articles * len(self.lengths) // self.articles_per_update)
