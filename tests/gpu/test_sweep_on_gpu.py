"""A sweep on a GPU writes what a CPU writes, also where memory runs out."""

import logging

import pytest
import torch

from bench.arms import stage_of
from nws.core.article import SegmentedArticle
from nws.core.stage import Stage
from nws.core.types import Summary
from nws.core.worker_factories import make_segmenter, make_sweeper
from nws.jobs.recipes.job import plan_job

pytestmark = pytest.mark.gpu

ARTICLES = 6
FROM_A_MODEL = {"bertscore_precision", "bertscore_recall", "bertscore_f1", "efficiency", "kept"}


@pytest.fixture(scope="module")
def prepared() -> tuple[Stage, list[SegmentedArticle]]:
    """MiniLM on articles of the sample."""
    asked = {"datasets": [{"name": "sample"}], "datasets.limit": ARTICLES, "n": [1, 7, 13], "accelerator": "cpu"}
    plan = plan_job("phase1", "sample", asked)
    segment = make_segmenter(stage_of(plan))
    return stage_of(plan), [segment(article) for article in plan.corpora[0]]


def swept(stage: Stage, articles: list[SegmentedArticle], device: torch.device) -> list[Summary]:
    return make_sweeper(stage, device.type)(articles)


def assert_agree(summaries: list[Summary], others: list[Summary]) -> None:
    """Equal texts and scores, but what comes from a model within 1e-5."""
    assert len(summaries) == len(others) > 0
    for one, other in zip(summaries, others, strict=True):
        assert (one.article_id, one.system, one.n, one.text) == (other.article_id, other.system, other.n, other.text)
        assert one.scores == {
            name: pytest.approx(score, abs=1e-5) if name in FROM_A_MODEL else score
            for name, score in other.scores.items()
        }


def test_texts_and_scores_are_those_of_the_cpu(device: torch.device, prepared) -> None:
    stage, articles = prepared
    assert_agree(swept(stage, articles, device), swept(stage, articles, torch.device("cpu")))


def test_memory_that_runs_out_halves_the_passes_and_changes_no_text(
    device: torch.device, prepared, caplog: pytest.LogCaptureFixture
) -> None:
    if device.type != "cuda":
        pytest.skip("this needs memory of a GPU, of which a process may take a part")
    stage, articles = prepared
    sweeper = make_sweeper(stage, device.type)
    expected = sweeper(articles)
    torch.cuda.empty_cache()
    index = torch.cuda.current_device()
    # Nothing but what is held now, and 16 MiB: the passes were planned for all of the GPU.
    total = torch.cuda.get_device_properties(index).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved(index) + 16 * 2**20) / total, index)
    try:
        with caplog.at_level(logging.WARNING, logger="nws.core.models.batching"):
            found = sweeper(articles)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0, index)
    assert "GPU memory ran out" in caplog.text
    assert_agree(found, expected)
