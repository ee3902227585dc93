"""What Ray says of processes and machines that died, in our words. It imports ray: see `fleet`."""

from ray.exceptions import (
    ActorDiedError,
    ActorUnavailableError,
    LocalRayletDiedError,
    NodeDiedError,
    ObjectLostError,
    OutOfMemoryError,
    RayError,
    RayTaskError,
    WorkerCrashedError,
)

from cluster.loss import Loss
from core.errors import ClusterError, NwsError

# A process or a machine died; the work can be sent again.
FAULTS = (
    ActorDiedError,
    ActorUnavailableError,
    LocalRayletDiedError,
    NodeDiedError,
    ObjectLostError,
    OutOfMemoryError,
    WorkerCrashedError,
)
_LONGEST_MESSAGE = 600


class ActorStuckError(RayError):
    """Ours, not Ray's: an actor has not answered for so long that it is taken for dead."""


def loss(fault: RayError, node: str, charged: bool) -> Loss:
    """What the pool hears of a bundle that a fault took with it."""
    prefix = "out of memory: " if isinstance(fault, OutOfMemoryError) else ""
    return Loss(type(fault).__name__, prefix + one_line(fault), node, charged)


def segments_loss(error: RayTaskError) -> Loss:
    """What a living actor reports: that the segments never came, or else an error no article is to blame for.

    Raises:
        NwsError: of the latter kind.
    """
    if isinstance(error.cause, FAULTS):
        return loss(error.cause, "unknown", charged=True)
    if isinstance(error.cause, NwsError):
        raise error.cause from error
    raise ClusterError(f"The work cannot be run: {type(error.cause).__name__}: {error.cause}") from error


def lost_its_node(fault: RayError) -> bool:
    """Whether an actor died only because its machine did. Ray tells it in words alone."""
    return "its node has died" in str(fault) or getattr(fault, "preempted", False)


def one_line(error: RayError) -> str:
    """Its message, of bounded length."""
    return " ".join(str(error).split())[:_LONGEST_MESSAGE]
