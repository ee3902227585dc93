"""What changes of a page, for all who look at it: the store is asked once for all of them, as long as one looks."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2s
from html import escape

from core.errors import NwsError
from jobs.terminal.console import printable

MOST_READERS = 200
"""Of all feeds together."""
_SILENCE_SECONDS = 15.0
"""After which a reader gets a sign of life, so that a connection that is gone is noticed."""

_FAILED = "No longer up to date: `nws serve` has failed here, and says why. Load the page again."

Parts = Mapping[str, str]
"""HTML by the id of the element that it belongs into."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What is to be seen now, and whether it stays like that."""

    parts: Parts
    is_last: bool = False


@dataclass(slots=True)
class _Feed:
    look: Callable[[], Awaitable[Seen]]
    seconds: float
    readers: int = 0
    latest: Seen | None = None
    news: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] = field(init=False)

    def __post_init__(self) -> None:
        self.task = asyncio.create_task(self.run())
        self.task.add_done_callback(lambda _: self.news.set())

    async def run(self) -> None:
        while self.latest is None or not self.latest.is_last:
            seen = await self._look()
            if seen != self.latest:
                self.latest = seen
                self.news.set()
                self.news = asyncio.Event()
            await asyncio.sleep(self.seconds)

    async def _look(self) -> Seen:
        try:
            seen = await self.look()
        except NwsError as error:
            before = self.latest.parts if self.latest else {}
            return Seen({**before, "notice": escaped(f"Not up to date: {error}")})
        return Seen({"notice": "", **seen.parts}, seen.is_last)


class Feeds:
    """The feeds that somebody reads."""

    def __init__(self) -> None:
        self._feeds: dict[Hashable, _Feed] = {}
        self.is_closed = False  # the server stops

    def close(self) -> None:
        """End all: the server stops, and waits for its readers."""
        self.is_closed = True
        for feed in self._feeds.values():
            feed.news.set()

    @property
    def is_full(self) -> bool:
        """Whether nobody more may read."""
        return sum(feed.readers for feed in self._feeds.values()) >= MOST_READERS

    async def follow(
        self, key: Hashable, look: Callable[[], Awaitable[Seen]], seconds: float
    ) -> AsyncIterator[dict[str, tuple[str, str]]]:
        """What has changed since the last time, all at first: digest and HTML by element. Nothing, now and then.

        It ends when what is seen stays as it is. `look` is called every `seconds`, for all readers of this key.
        """
        feed = self._feeds.get(key)
        if feed is None:
            feed = self._feeds[key] = _Feed(look, seconds)
        feed.readers += 1
        told: Parts = {}
        try:
            while not self.is_closed:
                news, latest = feed.news, feed.latest
                if latest is not None:
                    yield {name: (digest(html), html) for name, html in latest.parts.items() if told.get(name) != html}
                    told = latest.parts
                    if latest.is_last:
                        return
                if feed.task.done():  # by an error that asyncio logs
                    yield {"notice": (digest(_FAILED), _FAILED)}
                    return
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(news.wait(), _SILENCE_SECONDS)
        finally:
            feed.readers -= 1
            if not feed.readers:
                feed.task.cancel()
                self._feeds.pop(key, None)


def digest(html: str) -> str:
    """By which a browser sees that it has this already."""
    return blake2s(html.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def escaped(text: str) -> str:
    """Text as HTML."""
    return escape(printable(text))
