import pytest

from cluster.resources import ActorResources, plan_actors
from core.errors import ClusterError

CPU_ONLY = {"CPU": 8.0, "memory": 1e10, "node:127.0.0.1": 1.0}
T4S = {"CPU": 16.0, "GPU": 4.0, "accelerator_type:T4": 2.0}
CPU = ActorResources(num_gpus=0, num_cpus=1, accelerator_type=None)
GPU = ActorResources(num_gpus=1, num_cpus=0, accelerator_type=None)
T4 = ActorResources(num_gpus=1, num_cpus=0, accelerator_type="T4")


@pytest.mark.parametrize(
    ("cluster", "accelerator", "actors", "expected"),
    [
        (CPU_ONLY, None, None, (CPU, 8)),
        (CPU_ONLY, None, 3, (CPU, 3)),
        (CPU_ONLY, "cpu", None, (CPU, 8)),
        (T4S, None, None, (GPU, 4)),
        (T4S, "cpu", None, (CPU, 16)),
        (T4S, "T4", None, (T4, 4)),
        (T4S, "T4", 1, (T4, 1)),
        ({"CPU": 2.0, "GPU": 0.5}, None, None, (CPU, 2)),
    ],
)
def test_plan(
    cluster: dict[str, float], accelerator: str | None, actors: int | None, expected: tuple[ActorResources, int]
) -> None:
    assert plan_actors(cluster, accelerator, actors) == expected


@pytest.mark.parametrize(
    ("cluster", "accelerator", "actors", "words"),
    [
        (CPU_ONLY, "T4", None, ["T4", "0 GPU", "8 CPU", "--accelerator cpu"]),
        (T4S, "A100", None, ["A100", "4 GPU (of type T4)", "--accelerator"]),
        (CPU_ONLY, None, 9, ["9 actors", "1 CPU each", "8 CPU", "1 to 8"]),
        (T4S, "T4", 5, ["5 actors", "1 T4 GPU each", "4 GPU", "1 to 4"]),
        (T4S, None, 0, ["0 actors", "1 to 4"]),
        ({"GPU": 1.0}, None, None, ["at least 1 CPU", "0 CPU"]),
    ],
)
def test_asking_for_what_is_not_there_names_both_sides(
    cluster: dict[str, float], accelerator: str | None, actors: int | None, words: list[str]
) -> None:
    with pytest.raises(ClusterError) as raised:
        plan_actors(cluster, accelerator, actors)
    for word in words:
        assert word in str(raised.value)


def test_describe() -> None:
    assert [r.describe() for r in (CPU, GPU, T4)] == ["1 CPU", "1 GPU", "1 T4 GPU"]
