import pytest

from nws.cluster.job_api import require_address
from nws.cluster.resources import ActorResources, plan_actors
from nws.cluster.session import joined_session
from nws.core.errors import ClusterError, RecipeError

CPU_ONLY = {"CPU": 8.0, "memory": 1e10, "node:127.0.0.1": 1.0}
T4S = {"CPU": 16.0, "GPU": 4.0, "accelerator_type:T4": 2.0}
CPU = ActorResources(num_gpus=0, num_cpus=1, accelerator_type=None)
GPU = ActorResources(num_gpus=1, num_cpus=0, accelerator_type=None)
T4 = ActorResources(num_gpus=1, num_cpus=0, accelerator_type="T4")
HALF_T4 = ActorResources(num_gpus=0.5, num_cpus=0, accelerator_type="T4")


@pytest.mark.parametrize(
    ("cluster", "accelerator", "actors", "gpus_per_actor", "expected"),
    [
        (CPU_ONLY, None, None, 1, (CPU, 8)),
        (CPU_ONLY, None, 3, 1, (CPU, 3)),
        (CPU_ONLY, "cpu", None, 1, (CPU, 8)),
        (CPU_ONLY, None, None, 0.25, (CPU, 8)),
        (T4S, None, None, 1, (GPU, 4)),
        (T4S, "gpu", None, 1, (GPU, 4)),
        (T4S, "cuda", 2, 1, (GPU, 2)),
        (T4S, "cpu", None, 0.5, (CPU, 16)),
        (T4S, "T4", None, 1, (T4, 4)),
        (T4S, "T4", 1, 1, (T4, 1)),
        (T4S, "T4", None, 0.5, (HALF_T4, 8)),
        (T4S, "T4", 16, 0.25, (ActorResources(0.25, 0, "T4"), 16)),
        ({"CPU": 2.0, "GPU": 0.5}, None, None, 1, (CPU, 2)),
    ],
)
def test_plan(
    cluster: dict[str, float],
    accelerator: str | None,
    actors: int | None,
    gpus_per_actor: float,
    expected: tuple[ActorResources, int],
) -> None:
    assert plan_actors(cluster, accelerator, actors, gpus_per_actor) == expected


@pytest.mark.parametrize(
    ("cluster", "accelerator", "actors", "gpus_per_actor", "words"),
    [
        (CPU_ONLY, "T4", None, 1, ["T4", "0 GPU", "8 CPU", "--accelerator cpu"]),
        (T4S, "A100", None, 1, ["A100", "4 GPU (of type T4)", "--accelerator"]),
        (CPU_ONLY, "gpu", None, 1, ["any GPUs", "0 GPU", "--accelerator cpu"]),
        (CPU_ONLY, None, 9, 1, ["9 actors", "1 CPU each", "8 CPU", "1 to 8"]),
        (T4S, "T4", 5, 1, ["5 actors", "1 T4 GPU each", "4 GPU", "1 to 4"]),
        (T4S, "T4", 9, 0.5, ["9 actors", "1/2 T4 GPU each", "4 GPU", "1 to 8"]),
        ({"GPU": 1.0}, None, None, 1, ["at least 1 CPU", "0 CPU"]),
    ],
)
def test_asking_for_what_is_not_there_names_both_sides(
    cluster: dict[str, float], accelerator: str | None, actors: int | None, gpus_per_actor: float, words: list[str]
) -> None:
    with pytest.raises(ClusterError) as raised:
        plan_actors(cluster, accelerator, actors, gpus_per_actor)
    for word in words:
        assert word in str(raised.value)


@pytest.mark.parametrize("address", ["http://head:8265", "https://head/", "http://[::1]:8265", "http://10.0.0.1"])
def test_addresses_of_dashboards(address: str) -> None:
    assert require_address(address) == address.rstrip("/")


@pytest.mark.parametrize(
    "address",
    ["10.0.0.1:6379", "head:8265", "auto", "ray://head:10001", "http://", "http://head:port", "http://head:99999", "x"],
)
def test_addresses_of_something_else(address: str) -> None:
    with pytest.raises(RecipeError, match="http://HEAD:8265"):
        require_address(address)


@pytest.mark.parametrize("address", ["", "auto", "ray://127.0.0.1:10001", "127.0.0.1:99999", "127.0.0.1:1"])
def test_an_address_where_no_cluster_is_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(ClusterError, match=f"No Ray cluster answers at {address!r}"), joined_session():
        pass
