"""What a dry run says of a GPU that one actor does not keep busy. The GPUs are names."""

import io

import pytest
from fake_cuda import FakeCuda
from rich.console import Console

from cluster.resources import ActorResources
from core.precision import Precision
from jobs.plan.dry_run import describe, print_description, sharing_advice
from jobs.plan.phase1 import pin
from jobs.recipes.load import load_recipe
from jobs.recipes.phase1 import Phase1Recipe


@pytest.mark.parametrize(
    ("gpus", "kind", "names", "precision", "advised"),
    [
        (1, None, ["NVIDIA H200"], "float32", True),
        (1, None, ["Tesla T4", "Tesla T4"], "float32", False),
        (1, None, ["Tesla T4", "NVIDIA L4"], "float32", True),
        (1, None, ["Tesla T4"], "float16", True),
        (1, "T4", [], "float32", False),
        (1, "A100", [], "float32", True),
        (0.5, None, ["NVIDIA H200"], "float32", False),
        (0, None, [], "float32", False),
    ],
)
def test_several_actors_are_advised_where_one_cannot_feed_a_gpu(
    gpus: float, kind: str | None, names: list[str], precision: Precision, advised: bool
) -> None:
    advice = sharing_advice(ActorResources(gpus, 0, kind), names, precision)
    assert (advice is not None) == advised


@pytest.mark.parametrize(("share", "advised"), [(1, True), (0.5, False)])
def test_a_dry_run_says_so(share: float, advised: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    FakeCuda(("NVIDIA H200", (9, 0))).install(monkeypatch)
    plan = describe(pin(load_recipe(Phase1Recipe, "sample", {"gpus_per_actor": share})))
    out = io.StringIO()
    print_description(plan, Console(file=out, width=200))
    assert plan["device"] == ("1 x 1 GPU" if advised else "2 x 1/2 GPU")
    assert ("gpus_per_actor: 0.5 or 0.25" in out.getvalue()) == advised
