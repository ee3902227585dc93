import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from ray_head import Head, ray_head, run_script

pytestmark = [pytest.mark.ray, pytest.mark.faults]


@pytest.fixture(scope="module")
def head() -> Iterator[Head]:
    with ray_head() as running:
        yield running


WORKING = """
import json
from nws.cluster.pools import sweeps_on_ray
from nws.cluster.resources import plan_actors
from nws.cluster.session import joined_session
import fakes

with joined_session() as session:
    left_open = sweeps_on_ray(fakes.WORK, *plan_actors(session.resources, None, None))
    landed = fakes.together(left_open.__enter__().map(fakes.bundles(4, 2)))
    # It is not left in order: as a driver that fails.
print(json.dumps({
    "summaries": sum(len(result.summaries) for _, result in landed),
    "failures": [failure.message for _, result in landed for failure in result.failures],
    "cpus": session.resources["CPU"],
    "token": str(session.auth_token_path),
    "dashboard": session.dashboard_url,
}))
"""

LOOKING = """
import json, time
from nws.cluster.session import joined_session
with joined_session() as session:
    from ray.util.state import list_actors
    deadline = time.monotonic() + 20
    while (alive := list_actors(filters=[("state", "=", "ALIVE")])) and time.monotonic() < deadline:
        time.sleep(0.2)
    print(json.dumps([session.resources["CPU"], len(alive)]))
"""


def test_a_run_on_a_cluster_leaves_it_running_without_its_actors(head: Head, tmp_path: Path) -> None:
    # The folder the user is in has packages with our names.
    for name in ("core", "cluster"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('not ours')")
    environment = head.environment | {"RAY_ADDRESS": head.address}
    told = json.loads(run_script(WORKING, tmp_path, environment))
    assert (told["summaries"], told["failures"]) == (16, [])
    assert told["cpus"] == 2
    assert told["token"] == head.environment["RAY_AUTH_TOKEN_PATH"]
    assert told["dashboard"] == head.dashboard
    assert json.loads(run_script(LOOKING, tmp_path, environment)) == [2, 0]


REFUSED = """
from nws.cluster.session import joined_session
from nws.core.errors import ClusterError
try:
    with joined_session():
        print("joined")
except ClusterError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("token", "said"), [(None, "RAY_AUTH_TOKEN_PATH is set but file cannot be opened"), ("cd" * 32, "cannot be joined")]
)
def test_a_missing_token_is_not_made_and_a_wrong_one_refused(
    head: Head, tmp_path: Path, token: str | None, said: str
) -> None:
    path = tmp_path / "token"
    if token:
        path.write_text(token)
    environment = head.environment | {"RAY_ADDRESS": head.address, "RAY_AUTH_TOKEN_PATH": str(path)}
    assert said in run_script(REFUSED, tmp_path, environment)
    assert path.exists() == (token is not None)
