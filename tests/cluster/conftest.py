"""One Ray for each test module that needs one."""

from collections.abc import Iterator

import pytest

from cluster.session import Session, local_session


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """Two CPUs and four simulated T4s, on loopback."""
    with local_session(num_cpus=2, num_gpus=4, resources={"accelerator_type:T4": 4}) as running:
        yield running
