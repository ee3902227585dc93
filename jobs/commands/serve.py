"""`nws serve`: the runs of a store in a browser."""

from contextlib import suppress
from dataclasses import dataclass

from jobs.commands.groups import grouped, option
from jobs.commands.options import DEFAULT_STORE, StoreUrl
from jobs.commands.shared import err, out, reading, shown

_PORT = 8300


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Where the server listens, and who may read."""

    port: int = option(
        None, "--port N", "Where to listen; 0 is any port that is free.", _PORT, env=None, min=0, max=65535
    )
    host: str = option(
        None,
        "--host H",
        "The address to listen at; others than this machine's own need a token.",
        "127.0.0.1",
        env=None,
    )
    token: str | None = option(
        None,
        "--token T",
        "What every reader must have: once in the address, ?token=T, or in a header, Authorization: Bearer T.",
        env="NWS_SERVE_TOKEN",
    )


@grouped
def serve(where: ServeOptions, store: StoreUrl = DEFAULT_STORE) -> None:
    """Show the runs of a store in a browser, live.

    All runs, one while it goes on, what it found, and the report of one or several. Nothing is written. Ctrl-C ends it.
    """
    from jobs.serve.access import require_safe
    from jobs.serve.app import listen, make_server

    require_safe(where.host, where.token)
    with reading(store) as opened:
        listening = listen(where.host, where.port)
        server = make_server(opened, listening, where.host, where.token)
        name = f"[{where.host}]" if ":" in where.host else where.host
        address = f"http://{name}:{listening.getsockname()[1]}/" + ("?token=…" if where.token else "")
        out.print(f"Showing {shown(store)}, read-only, at {address} (Ctrl-C ends it)", markup=False)
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
        err.print("No longer shown. Runs go on.")
