"""Part of a sweep writes what the whole sweep writes there."""

import functools
import itertools
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nws.core.article import Article, SegmentedArticle
from nws.core.metrics.config import BertScoreConfig, RougeConfig
from nws.core.models import ModelRef
from nws.core.stage import MetricsConfig, Stage
from nws.core.sweep import embed, write
from nws.core.systems.chunk_systems import ChunkSystem
from nws.core.systems.extractive_baselines import BASELINES, make_baseline
from nws.core.systems.system import Draft
from nws.core.text.segmentation import Segmenter

ONE, TWO = (ModelRef(name, f"org/{name}", "0" * 40) for name in ("mini", "bert"))
LENGTHS = (1, 4, 9, 30)
SYSTEMS = (*(make_baseline(name, "mini", 3) for name in BASELINES), ChunkSystem("bert", "textrank"))
STAGE = Stage(
    language="en",
    pipeline="blank",
    encoders=(ONE, TWO),
    systems=SYSTEMS,
    lengths=LENGTHS,
    metrics=MetricsConfig(BertScoreConfig(ONE, 1), RougeConfig()),
    seed=3,
)
NAMES = [system.signature for system in SYSTEMS]
TEXT = "The council met on Monday. It approved a new bridge, and the mayor said: “At last.” Nobody spoke against it."


def encode(texts: Sequence[str], salt: int) -> Callable[[], npt.NDArray[np.float32]]:
    """Vectors that depend on the text alone."""
    draws = [np.random.default_rng([zlib.crc32(text.encode()), salt]).normal(size=5) for text in texts]
    return lambda: np.array(draws, dtype=np.float32)


def f1(article: Article, texts: Sequence[str]) -> list[float]:
    return [zlib.crc32(text.encode()) / 2**32 for text in texts]


@functools.cache
def segmented() -> SegmentedArticle:
    return Segmenter("blank")(Article("news", "all", "1", TEXT, ("A new bridge.", "It met.")))


def written(stage: Stage) -> dict[tuple[str, int], Draft]:
    encoders = {
        ref.name: functools.partial(encode, salt=salt) for salt, ref in enumerate((ONE, TWO)) if ref in stage.encoders
    }
    documents = embed([segmented()], encoders, f1, lambda anchor, texts: f1(segmented().article, texts))
    drafts = [((system, draft.n), draft) for _, system, draft in write(documents, stage)]
    assert len(drafts) == len(dict(drafts))
    return dict(drafts)


@functools.cache
def whole() -> dict[tuple[str, int], Draft]:
    return written(STAGE)


@settings(max_examples=30)
@given(st.sets(st.tuples(st.sampled_from(NAMES), st.sampled_from(LENGTHS)), min_size=1))
def test_a_part_writes_what_the_whole_writes_there(missing: set[tuple[str, int]]) -> None:
    part = STAGE.narrowed(missing)
    names = {name for name, _ in missing}
    uncut = {(system.signature, 0) for system in SYSTEMS if system.has_uncut and system.signature in names}
    assert written(part) == {key: whole()[key] for key in {*itertools.product(names, part.lengths), *uncut}}
    assert {name: kind for name, kind in STAGE.kinds.items() if name in names} == part.kinds
    assert set(part.lengths) == {n for _, n in missing}


@pytest.mark.parametrize(
    ("names", "encoders"), [(["lead", "random"], ()), (["bert|textrank|chunks"], (TWO,)), (["oracle"], (ONE,))]
)
def test_encoders_that_nobody_asks_for_are_left_out(names: list[str], encoders: tuple[ModelRef, ...]) -> None:
    assert STAGE.narrowed(set(itertools.product(names, LENGTHS))).encoders == encoders


FREE = ["lead", "random", "lead3", "reference-words"]


@pytest.mark.parametrize(
    ("names", "embedder"),
    [(FREE, None), (["lead", "lexrank"], "mini"), (["oracle"], "mini"), (["lead3-search"], "bert")],
)
def test_a_stage_knows_what_embeds_its_articles(names: list[str], embedder: str | None) -> None:
    stage = replace(STAGE, metrics=MetricsConfig(BertScoreConfig(TWO, 1), RougeConfig()))
    assert stage.narrowed({(name, 4) for name in names}).embedder == embedder
