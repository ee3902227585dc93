"""What the dashboard of a session shows."""

import json
import time
import urllib.request
from collections.abc import Callable
from typing import Any

from cluster.session import Session

PATIENCE_SECONDS = 60.0

Actor = dict[str, Any]


def wait_for_actors(session: Session, count: int, wanted: Callable[[Actor], bool]) -> list[Actor]:
    """So many living actors that are wanted, once the dashboard shows them: it is some seconds behind."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(found := [actor for actor in _alive_actors(session) if wanted(actor)]) < count:
        assert time.monotonic() < deadline, f"{count} actors were not shown, but {found}"
        time.sleep(0.5)
    return found


def _alive_actors(session: Session) -> list[Actor]:
    assert session.auth_token_path is not None
    request = urllib.request.Request(
        f"{session.dashboard_url}/logical/actors",
        headers={"Authorization": f"Bearer {session.auth_token_path.read_text().strip()}"},
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        return [a for a in json.load(response)["data"]["actors"].values() if a["state"] == "ALIVE"]
