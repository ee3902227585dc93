"""How actors share GPUs, and what each needs of them. The GPUs are made up."""

from dataclasses import replace
from pathlib import Path

import pytest

from nws.cluster.resources import Card, GpuNode
from nws.cluster.session import Session
from nws.core.models import parameters, parse_model, resolve_model
from nws.core.models.generators import parse_generator
from nws.jobs.drive import pools
from nws.jobs.drive.pools import actor_bytes, choose_actors
from nws.jobs.recipes.job import plan_job

H100 = Card("NVIDIA H100 80GB HBM3", 84_900_000_000, (9, 0))
T4 = Card("Tesla T4", 15_600_000_000, (7, 5))


@pytest.mark.parametrize(
    ("cards", "cores", "changes", "device"),
    [
        ((H100,), 16, {}, "4 x 1/4 GPU"),
        ((H100,), 16, {"actors": 2}, "2 x 1/2 GPU"),
        ((H100,), 16, {"gpus_per_actor": 0.5}, "2 x 1/2 GPU"),
        ((T4,), 4, {}, "2 x 1/2 GPU"),
        ((T4,), 2, {}, "1 x 1 GPU"),
        ((T4,), 2, {"accelerator": "cpu"}, "2 x 1 CPU"),
        ((), 16, {}, "1 x 1 GPU"),
    ],
)
def test_a_run_says_how_its_actors_share_a_gpu(
    cards: tuple[Card, ...], cores: int, changes: dict[str, object], device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "gpu_nodes", lambda accelerator: [GpuNode(cores, 1, cards)])
    plan, said = plan_job("phase1", "sample", changes), list[str]()
    session = Session(None, None, {"CPU": cores, "GPU": 1})
    resources, actors = choose_actors(session, plan.recipe, plan.training_and_stages, said.append)
    assert f"{actors} x {resources.describe()}" == device
    chosen = "gpus_per_actor" not in changes and "accelerator" not in changes
    assert len(said) == chosen
    assert not chosen or (cards[0].name if cards else "does not tell") in said[0]


def test_an_actor_needs_its_weights_in_its_precision(tiny_models: dict[str, Path]) -> None:
    def need(**changes: object) -> int:
        models = {"encoders": [str(tiny_models["bert"])], "bertscore": {"model": str(tiny_models["xlnet"])}}
        models["bertscore"]["num_layers"] = 1
        return actor_bytes(plan_job("phase1", "sample", models | changes).training_and_stages, True)

    both = parameters(tiny_models["bert"]) + parameters(tiny_models["xlnet"])
    assert need() - need(precision="float16") == 2 * both
    assert need() == need(precision="tf32")
    plan = plan_job("phase1", "sample", {}).stages[0]
    model = resolve_model(parse_model(str(tiny_models["bert"])))
    generator = replace(parse_generator("bart-large-cnn"), model=model)
    extra = {
        (half, has): actor_bytes([replace(plan, generator=replace(generator, half=half))], has)
        for half in ("float16", "bfloat16")
        for has in (True, False)
    }
    assert extra["float16", False] == extra["float16", True] == extra["bfloat16", True]
    assert extra["bfloat16", False] - extra["bfloat16", True] == 2 * parameters(tiny_models["bert"])
    assert extra["float16", True] > actor_bytes([plan], True) + 8e9


def test_a_training_is_counted() -> None:
    plans = plan_job("phase2", "sample", {"datasets.limit": 4}).training_and_stages
    assert len(plans) > 1
    assert actor_bytes(plans, True) >= actor_bytes(plans[:1], True) > 2.6e9
