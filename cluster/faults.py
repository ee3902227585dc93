"""Ray's errors about processes and machines that died, translated into ours. It imports ray: see `actor_pool`."""

from typing import TypeAlias

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

from cluster.dispatcher import Loss
from core.errors import ClusterError, DeviceError, NwsError

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
# What an actor is replaced for: it died, or its device failed, and with it all that the process has there.
Fault: TypeAlias = RayError | DeviceError
_LONGEST_MESSAGE = 600


class ActorStuckError(RayError):
    """Ours, not Ray's: an actor has not answered for so long that it is taken for dead."""


class NodeDrainingError(RayError):
    """Ours, not Ray's: an actor is ended because its machine is about to be taken away."""


def loss(fault: Fault, node: str, charged: bool) -> Loss:
    """The loss of a task by a fault, as the dispatcher gets it."""
    prefix = "out of memory: " if isinstance(fault, OutOfMemoryError) else ""
    return Loss(type(fault).__name__, prefix + one_line(fault), node, charged)


def segments_loss(error: RayTaskError) -> Loss:
    """The error that a living actor reports: its segments never came, or the error is no article's fault.

    Raises:
        NwsError: of the latter kind.
    """
    if isinstance(error.cause, FAULTS):
        return loss(error.cause, "unknown", charged=True)
    if isinstance(error.cause, NwsError):
        raise error.cause from error
    raise ClusterError(f"The work cannot be run: {type(error.cause).__name__}: {error.cause}") from error


def lost_its_node(fault: Fault) -> bool:
    """Whether an actor ended only because its machine did, or will. Only the text of Ray's error tells."""
    is_gone = "its node has died" in str(fault) or getattr(fault, "preempted", False)
    return is_gone or isinstance(fault, NodeDrainingError)


def one_line(error: Fault) -> str:
    """Its message, of bounded length."""
    return " ".join(str(error).split())[:_LONGEST_MESSAGE]
