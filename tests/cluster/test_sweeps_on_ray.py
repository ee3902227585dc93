import contextlib
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import fakes
import psutil
import pytest

from nws.cluster.article_work import Work
from nws.cluster.pools import inline_sweeps, sweeps_on_ray
from nws.cluster.resources import ActorResources, plan_actors
from nws.cluster.session import Session
from nws.core.article import Article
from nws.core.errors import ClusterError, ModelError
from nws.core.types import Failure, Landed, Summary

pytestmark = [pytest.mark.slow, pytest.mark.ray, pytest.mark.usefixtures("session")]

CPU = ActorResources(num_gpus=0, num_cpus=1, accelerator_type=None)


def by_article(landed: Sequence[Landed]) -> dict[str, tuple[Summary | Failure, ...]]:
    """Everything that came back for each article; fails if an article landed twice."""
    found: dict[str, tuple[Summary | Failure, ...]] = {}
    for bundle, result in landed:
        for article in bundle:
            assert article.id not in found, f"article {article.key} landed twice"
            results: tuple[Summary | Failure, ...] = (*result.summaries, *result.failures)
            found[article.id] = tuple(r for r in results if r.article_id == article.id)
    return found


def texts(landed: Sequence[Landed]) -> set[str]:
    return {summary.text for _, result in landed for summary in result.summaries}


def run(bundles: Sequence[Sequence[Article]], work: Work = fakes.WORK, actors: int = 1) -> list[Landed]:
    with sweeps_on_ray(work, CPU, actors) as pool:
        return fakes.together(pool.map(bundles))


def test_results_of_two_actors_equal_those_of_the_inline_pool() -> None:
    bundles = fakes.bundles(6, 3, {4: "segment-raises", 10: "sweep-raises"})
    landed = run(bundles, actors=2)
    assert by_article(landed) == by_article(fakes.together(inline_sweeps(fakes.WORK).map(bundles)))
    assert {tuple(bundle) for bundle, _ in landed} == {tuple(bundle) for bundle in bundles}
    assert sorted(f.message for _, r in landed for f in r.failures) == ["cannot be cut", "cannot be swept"]


def test_processes_that_segment_stay_while_actors_are_busy(session: Session, tmp_path: Path) -> None:
    log = tmp_path / "built"
    resources, actors = plan_actors(session.resources, "cpu", None)
    with sweeps_on_ray(Work(partial(fakes.make_segmenter, log), fakes.make_sweeper), resources, actors) as pool:
        fakes.together(pool.map(fakes.bundles(4, 1)))
        time.sleep(4)  # Ray would end those beyond a process for each CPU, which the actors are, after one second
        assert all(psutil.pid_exists(int(pid)) for pid in log.read_text().split())


def test_an_actor_works_in_the_order_of_sending() -> None:
    # The blame for a dead actor rests on this: the second bundle is segmented long before the first.
    bundles = fakes.bundles(2, 1, {0: "segment-slow"})
    results = by_article(run(bundles, Work(fakes.make_segmenter, partial(fakes.make_sweeper, "order"))))
    assert [results[bundle[0].id][0].text for bundle in bundles] == ["1", "2"]  # type: ignore[union-attr]


@pytest.mark.parametrize(("gpus_per_actor", "actors_on_each"), [(1, [1, 1]), (0.5, [2, 2])])
def test_gpu_actors_see_the_gpu_they_pin(
    session: Session, tmp_path: Path, gpus_per_actor: float, actors_on_each: list[int]
) -> None:
    resources, actors = plan_actors(session.resources, "T4", sum(actors_on_each), gpus_per_actor)
    work = Work(fakes.make_segmenter, partial(fakes.make_sweeper, "gpu"))
    words = dict.fromkeys(range(2 * actors), f"sweep-meets={actors}={tmp_path}")
    with sweeps_on_ray(work, resources, actors) as pool:
        landed = fakes.together(pool.map(fakes.bundles(2 * actors, 1, words)))
    seen = {tuple(summary.text.split()) for _, result in landed for summary in result.summaries}
    assert {gpu for gpu, _ in seen} <= set("0123")
    assert list(Counter(gpu for gpu, _ in seen).values()) == actors_on_each


@pytest.mark.faults
@pytest.mark.parametrize("deadly", ["sweep-dies", "segment-dies"])
def test_an_article_that_always_kills_its_process_is_the_only_failure(deadly: str) -> None:
    bundles = fakes.bundles(3, 3, {4: deadly})
    found = by_article(run(bundles))
    (failure,) = found.pop(bundles[1][1].id)
    assert isinstance(failure, Failure)
    assert failure.error_class == {"sweep-dies": "ActorDiedError", "segment-dies": "WorkerCrashedError"}[deadly]
    assert failure.attempts == 4, "three times with its bundle, once alone"
    assert failure.message
    assert failure.node
    assert len(found) == 8
    assert all(len(results) == 2 and isinstance(results[0], Summary) for results in found.values())


@pytest.mark.parametrize(
    ("work", "error", "message"),
    [
        (Work(fakes.make_segmenter, fakes.make_nothing), ModelError, "^Model 'no-such-model' cannot be found"),
        (Work(fakes.make_nothing, fakes.make_sweeper), ModelError, "^Model 'no-such-model' cannot be found"),  # type: ignore[arg-type]
        (Work(fakes.make_segmenter, fakes.make_bug), ClusterError, "ZeroDivisionError: a bug"),
        (Work(fakes.make_segmenter, fakes.die), ClusterError, "3 actors in a row died while they loaded"),
    ],
    ids=["sweeper", "segmenter", "bug", "dies"],
)
def test_a_factory_that_fails_stops_the_run(work: Work, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        run(fakes.bundles(4, 2), work)


def test_closing_the_iterator_kills_the_actors_quickly() -> None:
    pids = Work(fakes.make_segmenter, partial(fakes.make_sweeper, "pid"))
    bundles = fakes.bundles(4, 1, {2: "sweep-slow", 3: "sweep-slow"})
    with sweeps_on_ray(pids, CPU, 1) as other, sweeps_on_ray(pids, CPU, 1) as pool:
        (others_pid,) = texts(fakes.together(other.map(fakes.bundles(1, 1))))
        landed = pool.map(bundles)
        (pid,) = texts(next(group for group in landed if group))
        landed.close()  # type: ignore[attr-defined]
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(int(pid)).wait(timeout=5)
        assert psutil.pid_exists(int(others_pid)), "another pool's actor was killed"
        assert len(fakes.together(pool.map(fakes.bundles(2, 1)))) == 2, "a closed pool can be used again"
