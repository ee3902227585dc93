"""The loss of a bundle that did not come back, as the pool gets it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loss:
    """A process or a machine died, and a bundle with it.

    `charged` is False for a bundle that only waited behind the one the actor was working on.
    """

    error_class: str
    message: str
    node: str
    charged: bool
