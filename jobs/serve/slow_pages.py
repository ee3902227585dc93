"""What takes seconds to compute, such as the report of a large run: once, one at a time, and kept for who asks next."""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from core.errors import NwsError

_KEPT = 12
_WAITING = 12
"""Of those that nobody has computed yet. A report takes a few hundred MB while it is made, so one is made at a time."""
PATIENCE_SECONDS = 2.0


class SlowPages:
    """HTML by what it is about. Whoever asks waits for a moment, and then is told to ask again."""

    def __init__(self) -> None:
        self._done: OrderedDict[Hashable, str] = OrderedDict()
        self._tasks: dict[Hashable, asyncio.Task[str]] = {}
        self._one_at_a_time = asyncio.Lock()

    async def get(self, key: Hashable, make: Callable[[], str], patience: float = PATIENCE_SECONDS) -> str | None:
        """What `make` returns, from a thread; None while it is not ready.

        Raises:
            NwsError: `make` did, or too many wait already.
        """
        if key in self._done:
            self._done.move_to_end(key)
            return self._done[key]
        task = self._tasks.get(key)
        if task is None:
            self._tasks = {other: task for other, task in self._tasks.items() if not task.done()}
            if len(self._tasks) >= _WAITING:
                raise NwsError("Too many pages are being computed already: try again in a minute.")
            task = self._tasks[key] = asyncio.create_task(self._make(key, make))
            task.add_done_callback(_heard)
        done, _ = await asyncio.wait([task], timeout=patience)
        if not done:
            return None
        self._tasks.pop(key, None)
        return task.result()

    async def _make(self, key: Hashable, make: Callable[[], str]) -> str:
        async with self._one_at_a_time:
            made = await _in_thread(make)
        self._done[key] = made
        while len(self._done) > _KEPT:
            self._done.popitem(last=False)
        self._tasks.pop(key, None)
        return made


def _heard(task: asyncio.Task[str]) -> None:
    """Nobody may ask again for what has failed, and then asyncio would warn."""
    if not task.cancelled():
        task.exception()


async def _in_thread(make: Callable[[], str]) -> str:
    """In a daemon's thread: Ctrl-C does not wait for it, as it would for one of a pool."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[str] = loop.create_future()

    def settle(made: str | None, error: Exception | None) -> None:
        if result.cancelled():
            return
        if error is not None:
            result.set_exception(error)
        else:
            result.set_result(made or "")

    def run() -> None:
        made, failed = None, None
        try:
            made = make()
        except Exception as error:  # whoever waits for the page raises it again
            failed = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, made, failed)

    threading.Thread(target=run, daemon=True, name="slow page").start()
    return await result
