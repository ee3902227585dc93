import logging
import socket
import weakref
from collections.abc import Sequence

import fakes
import pytest
import torch
from fake_cuda import FakeCuda

import nws.core.arithmetic  # noqa: F401 - before CUDA is faked: torch imports more of itself where there is a GPU
from nws.cluster.article_work import SegmentedBundle, pool_warnings, segment_bundle, sweep_bundle
from nws.cluster.dispatcher import this_worker
from nws.core.article import SegmentedArticle
from nws.core.types import Summary


def test_only_the_guilty_article_of_a_bundle_fails() -> None:
    (bundle,) = fakes.bundles(1, 4, {0: "segment-raises", 2: "sweep-raises"})
    result = sweep_bundle(fakes.make_sweeper(), segment_bundle(fakes.segment, bundle))
    assert [s.article_id for s in result.summaries] == [a.id for a in (bundle[1], bundle[3]) for _ in (1, 3)]
    assert [(f.article_id, f.error_class, f.message, f.attempts, f.node) for f in result.failures] == [
        (bundle[0].id, "ValueError", "cannot be cut", 1, socket.gethostname()),
        (bundle[2].id, "ValueError", "cannot be swept", 1, socket.gethostname()),
    ]


def test_memory_of_the_failed_attempt_is_free_when_articles_are_tried_alone() -> None:
    class Tensor:
        pass

    held: list[weakref.ref[Tensor]] = []

    def sweep(articles: Sequence[SegmentedArticle]) -> list[Summary]:
        if len(articles) > 1:
            tensor = Tensor()
            held.append(weakref.ref(tensor))
            raise torch.OutOfMemoryError("CUDA out of memory")
        assert held[0]() is None, "the failed attempt still holds its tensor"
        return fakes.make_sweeper()(articles)

    (bundle,) = fakes.bundles(1, 2)
    result = sweep_bundle(sweep, segment_bundle(fakes.segment, bundle))
    assert len(result.summaries) == 4
    assert result.failures == ()


def test_what_core_tells_during_a_bundle_is_in_its_notes() -> None:
    logger = logging.getLogger("nws.core.models.batching")

    def sweep(bundle: Sequence[SegmentedArticle]) -> list[Summary]:
        logger.warning("model: up to %d tokens in a pass", 64)
        logging.getLogger("transformers").warning("not ours")
        if len(bundle) > 1:
            raise RuntimeError("each alone, then")
        return []

    articles = tuple(fakes.segment(fakes.article(number)) for number in range(2))
    result = sweep_bundle(sweep, SegmentedBundle(articles, ()))
    assert result.notes == (f"{socket.gethostname()}: model: up to 64 tokens in a pass",) * 3
    before = logging.getLogger("nws.core").handlers
    assert sweep_bundle(sweep, SegmentedBundle((), ())).notes == ()
    assert logging.getLogger("nws.core").handlers == before == []


def test_a_worker_with_a_model_on_a_gpu_is_told_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert this_worker().device != "Tesla T4"
    FakeCuda().install(monkeypatch)
    assert this_worker().device != "Tesla T4", "not before it is used"
    torch.cuda.current_device()
    assert str(this_worker()) == f"Tesla T4 on {socket.gethostname()}"


def test_a_result_tells_that_sources_were_edited_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nws.core.provenance.are_as_imported", lambda: False)
    assert "edited sources" in segment_bundle(fakes.segment, [fakes.article(1)]).software


def test_warnings_of_pools_are_lines_of_the_run() -> None:
    lines: list[str] = []
    pools = logging.getLogger("nws.cluster.actor_pool")
    with pool_warnings(lines.append):
        pools.warning("Actor %d on %s is stuck.", 3, "node")
        pools.info("nothing to worry about")
        logging.getLogger("elsewhere").warning("of something else")
    pools.warning("afterwards")
    assert lines == ["Warning: Actor 3 on node is stuck."]
