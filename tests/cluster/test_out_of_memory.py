"""Memory that really runs out: by a ulimit, by the kernel's hand, by Ray's."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import fakes
import pytest
from memory_limit import inside, memory_limit, seeing_only
from ray_head import run_script

from nws.cluster.article_work import Work
from nws.cluster.pools import sweeps_on_ray
from nws.cluster.resources import ActorResources
from nws.cluster.session import Session

pytestmark = [pytest.mark.ray, pytest.mark.faults]

BYTES = 3 * 2**30

HOGGING = """
import json
from nws.cluster.article_work import Work
from nws.cluster.pools import sweeps_on_ray
from nws.cluster.resources import ActorResources
from nws.cluster.session import local_session
import fakes

with local_session(num_cpus=1):
    with sweeps_on_ray(Work(fakes.make_segmenter, fakes.make_sweeper), ActorResources(0, 1, None), actors=1) as pool:
        landed = fakes.together(pool.map(fakes.bundles(3, 2, {2: "sweep-hogs"})))
print(json.dumps([
    sorted(article.key for bundle, _ in landed for article in bundle),
    sum(len(result.summaries) for _, result in landed),
    [(failure.error_class, failure.message, failure.attempts) for _, result in landed for failure in result.failures],
]))
"""


@pytest.mark.parametrize(
    ("prefix", "monitor", "words"),
    [(inside, "0", "died"), (seeing_only, "250", "out of memory: ")],
    ids=["kernel", "ray"],
)
def test_an_article_that_takes_all_memory_fails_and_all_others_are_done(
    prefix: Callable[[Path], list[str]], monitor: str, words: str, tmp_path: Path
) -> None:
    environment = os.environ | {"RAY_memory_monitor_refresh_ms": monitor, "RAY_memory_usage_threshold": "0.7"}
    with memory_limit(BYTES) as group:
        printed = run_script(HOGGING, tmp_path, environment, prefix(group))
        killed = (group / "memory.oom_control").read_text()
    keys, summaries, failures = json.loads(printed.splitlines()[-1])
    print(killed, failures)
    assert keys == [str(i) for i in range(6)], "each article landed, once"
    assert summaries == 5 * 2
    ((_, message, attempts),) = failures
    assert words in message
    assert attempts == 4


@pytest.mark.usefixtures("session")
def test_memory_that_is_refused_is_the_failure_of_the_article_that_asks_for_it(session: Session) -> None:
    work = Work(fakes.make_segmenter, fakes.make_with_little_memory)
    with sweeps_on_ray(work, ActorResources(0, 1, None), actors=1) as pool:
        landed = fakes.together(pool.map(fakes.bundles(3, 2, {2: "sweep-hogs"})))
    (failure,) = [failure for _, result in landed for failure in result.failures]
    assert (failure.error_class, failure.message, failure.attempts) == ("MemoryError", "out of memory", 1)
    assert sum(len(result.summaries) for _, result in landed) == 5 * 2
