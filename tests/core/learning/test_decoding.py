import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest
from documents import dice, no_anchor
from prepared_articles import prepared

from nws.core.errors import RecipeError
from nws.core.learning.environment import PreparedArticle
from nws.core.learning.policies import make_policies
from nws.core.learning.sampling import FLUENCY_CANDIDATES, Greedy, decode, episodes
from nws.core.learning.training_config import Decoding, PolicyConfig

POLICIES = make_policies(PolicyConfig(), 16, seed=1)
LEAD = "The council met on Monday. A bridge in Alder will open in May, the mayor said."


def write(decoding: Decoding, n: int = 5, seed: int = 0, article: PreparedArticle | None = None, scores=dice) -> str:
    return decode(POLICIES, article or prepared(), n, 3, decoding, seed, scores)


class Recorder:
    """The scores of `dice`, and what they were asked for."""

    def __init__(self) -> None:
        self.anchors: list[str] = []
        self.texts: list[str] = []

    def __call__(self, anchor: str, texts: Sequence[str]) -> list[float]:
        self.anchors.append(anchor)
        self.texts += texts
        return dice(anchor, texts)


def test_greedy_asks_for_no_anchor_and_no_draw() -> None:
    expected = episodes(POLICIES, prepared(), 7, 3, Greedy()).texts[0]
    assert write(Decoding("greedy", k=2), 7, scores=no_anchor) == expected


def test_rerank_keeps_the_draw_nearest_to_the_first_sentences() -> None:
    asked = Recorder()
    kept = write(Decoding("rerank", k=30, anchor_sentences=2, adjacency_weight=0), scores=asked)
    assert asked.anchors == [LEAD]
    assert len(set(asked.texts)) == len(asked.texts)  # duplicates are scored once
    assert 1 < len(asked.texts) < 30
    assert dice(LEAD, [kept]) == [max(dice(LEAD, asked.texts))]
    assert dice(LEAD, [kept]) > dice(LEAD, [episodes(POLICIES, prepared(), 5, 3, Greedy()).texts[0]])


def test_the_anchor_may_be_the_sentences_that_the_policies_choose() -> None:
    asked = Recorder()
    write(Decoding("rerank", k=3, anchor="chosen", anchor_sentences=2), scores=asked)
    chosen = sorted(episodes(POLICIES, prepared(), 5, 2, Greedy()).sentences[0].tolist())
    sentences = prepared().segmented.sentences
    assert asked.anchors == [" ".join(sentences[index].text for index in chosen)]
    assert asked.anchors != [LEAD]


def test_what_is_drawn_depends_on_seed_text_and_n_alone() -> None:
    decoding = Decoding("rerank", k=4)
    drawn = {}
    for seed, n in itertools.product((0, 1), (5, 6)):
        asked = Recorder()
        write(decoding, n, seed, scores=asked)
        drawn[seed, n] = asked.texts
        other_key = Recorder()
        assert write(decoding, n, seed, prepared(key="other"), other_key) in asked.texts
        assert other_key.texts == asked.texts
    assert len({tuple(texts) for texts in drawn.values()}) == 4


def test_more_weight_keeps_more_neighbours() -> None:
    def neighbours(summary: str) -> int:
        words = prepared().segmented.words
        pairs = set(itertools.pairwise(words))
        return sum(pair in pairs for pair in itertools.pairwise(summary.split()))

    shares = [neighbours(write(Decoding("rerank", k=60, adjacency_weight=weight), 9)) for weight in (0.0, 0.3, 100.0)]
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]


def test_a_weight_prefers_what_is_fluent_of_the_best_and_no_weight_asks_nothing() -> None:
    asked = Recorder()
    decoding = Decoding("rerank", k=200, anchor_sentences=3, adjacency_weight=0)
    plain = write(decoding, scores=asked)  # `no_fluency` would raise
    assert len(asked.texts) > FLUENCY_CANDIDATES
    nearest = sorted(asked.texts, key=lambda text: -dice(asked.anchors[0], [text])[0])[:FLUENCY_CANDIDATES]

    def first_is_fluent(texts: Sequence[str]) -> list[float]:
        assert list(texts) == nearest
        return [-float(asked.texts.index(text)) for text in texts]

    def reranked(weight: float) -> str:
        config = replace(decoding, fluency_weight=weight)
        return decode(POLICIES, prepared(), 5, 3, config, 0, dice, first_is_fluent)

    assert reranked(1e-9) == plain
    assert reranked(100) == min(nearest, key=asked.texts.index) != plain
    with pytest.raises(RecipeError, match="greedy has no fluency_weight"):
        Decoding("greedy", fluency_weight=1)
    with pytest.raises(RecipeError, match="Name one in the recipe: `fluency_model: smollm2`"):
        write(Decoding("rerank", k=30, fluency_weight=1))


@pytest.mark.parametrize(
    ("decoding", "label"),
    [
        (Decoding(), "greedy"),
        (Decoding("rerank"), "rerank-160-lead6-adjacent0.05"),
        (Decoding("rerank", 48, "chosen", 1), "rerank-48-chosen1-adjacent0.05"),
        (Decoding("rerank", adjacency_weight=0), "rerank-160-lead6"),
        (Decoding("rerank", fluency_weight=0.1), "rerank-160-lead6-adjacent0.05-fluent0.1"),
        (Decoding("rerank", temperature=3), "rerank-160-temperature3-lead6-adjacent0.05"),
    ],
)
def test_labels_tell_decodings_apart(decoding: Decoding, label: str) -> None:
    assert decoding.label == label
