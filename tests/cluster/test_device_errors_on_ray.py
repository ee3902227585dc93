"""Errors of GPUs on real Ray: their texts are raised in actors on CPUs."""

import re
from functools import partial
from pathlib import Path

import fakes
import pytest

from nws.cluster.article_work import Work
from nws.cluster.pools import sweeps_on_ray
from nws.cluster.resources import ActorResources
from nws.core.article import Article
from nws.core.errors import DeviceError
from nws.core.types import Landed

pytestmark = [pytest.mark.slow, pytest.mark.ray, pytest.mark.usefixtures("session")]

CPU = ActorResources(num_gpus=0, num_cpus=1, accelerator_type=None)


def run(bundles: list[list[Article]]) -> list[Landed]:
    work = Work(fakes.make_segmenter, partial(fakes.make_sweeper, "pid"))
    with sweeps_on_ray(work, CPU, 1) as pool:
        return fakes.together(pool.map(bundles))


def test_an_actor_whose_gpu_failed_once_is_replaced_and_no_article_fails(tmp_path: Path) -> None:
    landed = run(fakes.bundles(4, 2, {2: f"sweep-loses-gpu-once={tmp_path / 'lost'}"}))
    assert (tmp_path / "lost").exists()
    assert len(landed) == 4
    assert not [failure for _, result in landed for failure in result.failures]
    pids = {summary.text for _, result in landed for summary in result.summaries}
    assert len(pids) == 2, "the first actor was used again"


def test_a_gpu_that_new_actors_do_not_mend_stops_the_run() -> None:
    words = dict.fromkeys(range(12), "sweep-loses-gpu")
    with pytest.raises(DeviceError, match=re.escape("9 errors of GPUs in a row, and new actors did not help.")):
        run(fakes.bundles(4, 3, words))
