"""Waiting for a store that cannot be reached: a database that restarts must not cost a night's work."""

import logging
from collections.abc import Callable
from typing import TypeVar

import tenacity

from core.errors import StoreUnavailableError

PATIENCE_SECONDS = 3600.0
_LONGEST_PAUSE_SECONDS = 15.0

logger = logging.getLogger(__name__)
Result = TypeVar("Result")


def patiently(call: Callable[[], Result], tell: Callable[[str], None]) -> Result:
    """The result of `call`, which is retried with growing pauses for an hour while the store cannot be reached.

    Args:
        call: a transaction: all of it or nothing, and harmless if it had been done already.
        tell: called with a line when the waiting begins, and when it is over.

    Raises:
        StoreUnavailableError: the store did not come back.
        StoreError: it refused.
    """
    is_announced = False

    def before_sleep(state: tenacity.RetryCallState) -> None:
        nonlocal is_announced
        if not is_announced and state.outcome is not None:
            is_announced = True
            tell(f"Waiting for the store, for up to {PATIENCE_SECONDS / 60:.0f} minutes: {state.outcome.exception()}")

    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(StoreUnavailableError),
        wait=tenacity.wait_random_exponential(multiplier=0.5, max=_LONGEST_PAUSE_SECONDS),
        stop=tenacity.stop_after_delay(PATIENCE_SECONDS),
        before_sleep=before_sleep,
        reraise=True,
    )
    result = retrying(call)
    if is_announced:
        tell("The store is back.")
    return result
