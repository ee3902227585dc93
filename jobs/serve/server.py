"""The server: a socket, and what answers there until it is told to stop."""

import socket

import uvicorn

from core.errors import NwsError
from jobs.serve.access import require_safe
from jobs.serve.app import Pages, make_app
from jobs.store import Store

_SECONDS_TO_END = 3


class Server(uvicorn.Server):
    """uvicorn's, which ends the feeds first: it would wait for their readers."""

    def __init__(self, config: uvicorn.Config, pages: Pages) -> None:
        super().__init__(config)
        self._pages = pages

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._pages.feeds.close()
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any that is free.

    Raises:
        NwsError: it cannot be had, and why.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listening = socket.create_server(address[:2], family=family)
    except OSError as error:
        reason = error.strerror or error
        raise NwsError(
            f"Nothing can listen at {host}, port {port}: {reason}. Choose another --port or --host."
        ) from error
    return listening


def make_server(store: Store, listening: socket.socket, host: str, token: str | None) -> Server:
    """The server of a store that was opened read-only; its `run(sockets=[listening])` answers until it is stopped.

    Raises:
        RecipeError: others could read the store, or could guess the token.
    """
    require_safe(host, token)
    app, pages = make_app(store, token, listening.getsockname()[1])
    # No log of requests, whose addresses may hold the token; and no belief in what a proxy says.
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=_SECONDS_TO_END,
    )
    return Server(config, pages)
