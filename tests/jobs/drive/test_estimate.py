"""Which of two sources an estimate rests on, and what it makes of them. Runs and trials are made up."""

import io

import pytest
from rich.console import Console

from cluster.resources import ActorResources
from core.types import Failure
from jobs.drive import estimate as module
from jobs.drive.estimate import Estimate, estimate, print_estimate, stage_seconds
from jobs.drive.trial import StageTime, Trial
from jobs.plan import phase2
from jobs.plan.dry_run import Here
from jobs.plan.pinned import Pinned
from jobs.plan.sweep import pin
from jobs.recipes.load import load_recipe
from jobs.recipes.phase2 import Phase2Recipe
from jobs.recipes.sweep import Phase1Recipe
from tests.support.run_infos import run_info

FAILED = Failure("0" * 16, "EmptyArticleError", "Article 'x' is empty.", attempts=1, node="here")
TRIAL = Trial(
    loading=8.0,
    stages={"sweep": StageTime(80.0, 20.0), "bart": StageTime(300.0)},
    articles=31,
    memory=1_400_000_000,
    gpu_memory=None,
    failures=(FAILED, FAILED),
    left_out=("openai:x (each request to its endpoint may cost money)",),
)


def pinned(**changes: object) -> Pinned:
    return pin(load_recipe(Phase1Recipe, "sample", {"limit": 20, **changes}))


def run_of(planned: Pinned, **changes: object) -> object:
    """A run of the same recipe over other articles: 100 of them in 200 s, if nothing else is said."""
    recipe = planned.recipe.model_dump(mode="json") | {"datasets": [{"name": "other.jsonl"}], "seed": 9}
    values = {"recipe": recipe, "articles_done": 100, "worked_seconds": 200.0, "device": "2 x 1 CPU: Xeon on here"}
    return run_info(**(values | changes))


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """Articles and device of each trial that was made. This machine has two CPUs."""
    trials: list[tuple[int, str]] = []

    def try_run(planned: Pinned, articles: int, device: str) -> Trial:
        trials.append((articles, device))
        return TRIAL

    monkeypatch.setattr(module, "try_run", try_run)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("os.getloadavg", lambda: (0.1, 0.1, 0.1))
    return trials


def test_a_trial_is_divided_among_the_actors(tried: list[tuple[int, str]]) -> None:
    found = estimate(pinned(), [], "ray")
    assert tried == [(20, "cpu")]
    assert (found.seconds, found.stages) == (8 + 400 / 2, {"sweep": 50.0, "bart": 150.0})
    assert (found.memory, found.gpu_memory, found.gpu_hours) == (1_400_000_000, None, None)
    assert found.notes == (
        "without starting Ray, and its processes for each stage: 10 to 30 s each",
        "without openai:x (each request to its endpoint may cost money)",
        "articles that failed when they were tried: 1, one with: Article 'x' is empty.",
    )
    alone = estimate(pinned(), [], "inline")
    assert (alone.seconds, len(alone.notes)) == (8 + 400, 2)


def test_gpu_hours_are_those_of_all_actors(tried: list[tuple[int, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "actors_here", lambda planned: Here((ActorResources(0.5, 0, None), 4)))
    found = estimate(pinned(), [], "ray")
    assert tried == [(20, "cuda")]
    # Two cores: one segments, and actors without a core of their own take turns.
    assert found.stages == {"sweep": 40.0, "bart": 150.0}
    assert found.gpu_hours == pytest.approx(4 * 0.5 * (8 + 190) / 3600)
    assert any("how busy one actor keeps the GPU is not known" in note for note in found.notes)


CPU, GPU = ActorResources(0, 1, None), ActorResources(1, 0, None)


def part(share: float) -> ActorResources:
    return ActorResources(share, 0, None)


@pytest.mark.parametrize(
    ("stage", "actors", "cores", "seconds", "slowest"),
    [
        (StageTime(80, 20), (CPU, 1), 0, 100, "one thing after the other"),
        (StageTime(80, 20), (CPU, 4), 4, 25, "the cores"),
        (StageTime(80, 20), (CPU, 2), 8, 40, "the actors"),
        # As measured on an H100: of 1,000 articles 81 s in one actor, 19 s of segmenting, the GPU 42 % busy.
        (StageTime(81, 19, 0.42), (GPU, 1), 16, 81, "the actor"),
        (StageTime(81, 19, 0.42), (part(0.5), 2), 16, 40.5, "the actors"),
        (StageTime(81, 19, 0.42), (part(0.25), 4), 16, 0.42 * 81, "the GPU"),
        (StageTime(81, 19, 0.07), (part(0.25), 4), 16, 81 / 4, "the actors"),
        (StageTime(81, 19, 0.42), (part(0.25), 8), 16, 0.21 * 81, "two GPUs"),
        (StageTime(10, 19, 0.42), (GPU, 1), 2, 19, "segmenting on the other core"),
        (StageTime(10, 19, 0.42), (GPU, 1), 1, 19, "segmenting on the only core"),
        (StageTime(81, 0, None), (part(0.5), 2), 16, 40.5, "the actors, where nobody knows how busy the GPU is"),
    ],
)
def test_a_stage_takes_what_its_slowest_part_takes(
    stage: StageTime, actors: tuple[ActorResources, int], cores: int, seconds: float, slowest: str
) -> None:
    assert stage_seconds(stage, actors, cores) == pytest.approx(seconds), slowest


def test_a_run_on_parts_of_gpus_tells_its_gpu_hours(tried: list[tuple[int, str]]) -> None:
    planned = pinned(accelerator="T4")
    run = run_of(planned, device="4 x 1/2 T4 GPU: Tesla T4 on a, b", worked_seconds=36.0)
    assert estimate(planned, [run], "ray").gpu_hours == pytest.approx(2 * 36 / 5 / 3600)


def test_a_long_run_on_the_same_device_says_more_than_a_trial(tried: list[tuple[int, str]]) -> None:
    run = run_of(pinned())
    found = estimate(pinned(), [run], "ray")
    assert (found.seconds, found.stages, tried) == (40.0, None, [])
    assert "100 articles in 3 min on 2 x 1 CPU" in found.basis


@pytest.mark.parametrize(
    "changes",
    [
        {"worked_seconds": 40.0},  # mostly loading
        {"device": "3 x 1 CPU: Xeon on here"},
        {"device": "inline, 1 CPU thread: Xeon on here"},
        {"address": "http://head:8265"},
        {"state": "interrupted"},
        {"reused": 5},
        {"articles_done": 0},
        {"job": "baselines"},
    ],
)
def test_other_runs_say_less(changes: dict[str, object], tried: list[tuple[int, str]]) -> None:
    estimate(pinned(), [run_of(pinned(), **changes)], "ray")
    assert len(tried) == 1


def test_a_run_of_other_work_says_nothing(tried: list[tuple[int, str]]) -> None:
    estimate(pinned(), [run_of(pinned(n=[3]))], "ray")
    assert len(tried) == 1


def test_what_is_not_here_is_known_from_a_run_alone(tried: list[tuple[int, str]]) -> None:
    planned = pinned(accelerator="T4")
    unknown = estimate(planned, [run_of(planned, articles_done=50)], "ray")
    assert unknown.seconds is None
    assert "asks for T4 GPUs" in unknown.basis
    assert "--limit" in unknown.basis
    run = run_of(planned, device="4 x 1 T4 GPU: Tesla T4 on a, b", worked_seconds=36.0)
    found = estimate(planned, [run], "ray")
    assert found.seconds == pytest.approx(36 / 5)
    assert found.gpu_hours == pytest.approx(4 * 36 / 5 / 3600)
    assert tried == []


def test_nothing_is_tried_for_a_cluster(tried: list[tuple[int, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "fetch_models", lambda plans: pytest.fail("the cluster fetches its own models"))
    assert "for a Ray cluster" in estimate(pinned(), [run_of(pinned())], "cluster").basis
    there = run_of(pinned(), address="http://head:8265")
    assert estimate(pinned(), [there], "cluster").seconds == 40.0
    assert tried == []


def test_a_training_is_always_tried(tried: list[tuple[int, str]]) -> None:
    planned = phase2.pin(load_recipe(Phase2Recipe, "sample", {"limit": 4}))
    estimate(planned, [run_of(planned, job="phase2")], "ray")
    assert tried == [(4, "cpu")]


def printed(found: Estimate) -> str:
    out = io.StringIO()
    print_estimate(found, Console(file=out, width=200))
    return out.getvalue()


def test_what_people_read() -> None:
    assert printed(Estimate("not known: no T4")) == "time          not known: no T4\n"
    found = Estimate(
        "a run", 7260.0, {"training": 7200.0, "test": 60.0}, 1_234_000_000, 2 * 10**9, 8.066, ("without x",)
    )
    assert printed(found).splitlines() == [
        "time          about 2 h 1 min (a run)",
        "stages        training 2 h 0 min, test 60 s",
        "GPU-hours     about 8.1",
        "memory        1.2 GB for each actor",
        "GPU memory    2.0 GB for each actor, more with longer articles",
        "note          without x",
    ]


def test_a_range_the_speed_and_a_busy_machine_are_told(
    tried: list[tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (3.4, 2.0, 1.0))
    told = printed(estimate(pinned(), [], "ray")).splitlines()
    assert told[0].startswith("time          about 3 min, 3 min to 5 min (31 articles timed here")
    assert told[1] == "speed         0.096 articles/s"
    assert any("this machine is busy (load 3.4 on 2 cores)" in line for line in told)
    monkeypatch.setattr("os.getloadavg", lambda: (0.3, 2.0, 1.0))
    assert "busy" not in printed(estimate(pinned(), [], "ray"))
