"""One Ray for all tests that need one in their own process."""

import importlib
from collections.abc import Iterator

import pytest

from nws.cluster.session import Session, local_session

# Test modules import parts of Ray at the top, and Ray decides when it is imported whether it can be kept on loopback
# and asks for a token. The switches are on for that moment only: sessions have to set them themselves.
with pytest.MonkeyPatch.context() as switch:
    switch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    switch.setenv("RAY_AUTH_MODE", "token")
    importlib.import_module("ray")


@pytest.fixture(scope="session")
def session() -> Iterator[Session]:
    """Two CPUs and four simulated T4s, on loopback."""
    with local_session(num_cpus=2, num_gpus=4, resources={"accelerator_type:T4": 4}) as running:
        yield running
