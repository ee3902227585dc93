"""What the dashboard of a session shows."""

import json
import urllib.request

from cluster.session import Session


def alive_actors(session: Session) -> list[dict[str, str]]:
    """What the dashboard shows of them."""
    assert session.auth_token_path is not None
    request = urllib.request.Request(
        f"{session.dashboard_url}/logical/actors",
        headers={"Authorization": f"Bearer {session.auth_token_path.read_text().strip()}"},
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        return [a for a in json.load(response)["data"]["actors"].values() if a["state"] == "ALIVE"]
