from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nws.core.arithmetic import rows_are_independent
from nws.core.article import Article
from nws.core.learning.reward import bertscore_reward, fluency_reward, kept_reward, make_reward, metric_reward
from nws.core.learning.training_config import RewardConfig
from nws.core.metrics.bertscore import BertScorer
from nws.core.metrics.config import BertScoreConfig, RougeConfig
from nws.core.metrics.fluency import Fluency
from nws.core.metrics.kept import draw_panel
from nws.core.metrics.metric import Row, remembered
from nws.core.metrics.registry import make_metric
from nws.core.metrics.standard import StandardMetrics
from nws.core.metrics.token_matching import TokenVectors
from nws.core.models import parse_model, resolve_model
from nws.core.stage import MetricsConfig

CONFIG = BertScoreConfig(resolve_model(parse_model("all-MiniLM-L6-v2")), 6)
ARTICLES = [
    Article("d", "all", "0", "The council met on Monday and the bridge opened.", ("The bridge opened on Monday.",)),
    Article("d", "all", "1", "Trains cross every hour.", ("Trains run hourly.", " ", "A train every hour.")),
]


@pytest.fixture(scope="module")
def scorer() -> BertScorer:
    return BertScorer(CONFIG, torch.device("cpu"))


def texts(count: int) -> Iterator[tuple[Article, str]]:
    generator = np.random.default_rng(0)
    for i in range(count):
        article = ARTICLES[i % 2]
        words = article.text.split()
        yield article, " ".join(generator.choice(words, int(generator.integers(1, 9))))


def test_the_reward_is_bertscore_f1_against_the_best_reference(scorer: BertScorer) -> None:
    pairs = [*texts(40), (ARTICLES[0], ""), (ARTICLES[1], " \n")]
    expected = [score.f1 for score in scorer.score([(text, article.references) for article, text in pairs])]
    np.testing.assert_allclose(bertscore_reward(scorer)(pairs), expected, atol=1e-6)
    assert expected[-2:] == [0, 0]
    assert bertscore_reward(scorer)([(Article("d", "all", "2", "Rain.", (" ",)), "Rain")]) == [0.0]
    assert bertscore_reward(scorer)([]) == []


def test_a_padded_reward_does_not_depend_on_other_articles(scorer: BertScorer) -> None:
    pairs = list(texts(40))
    together = bertscore_reward(scorer, padded=True)(pairs)
    for article in ARTICLES:
        own = [i for i, (owner, _) in enumerate(pairs) if owner == article]
        alone = bertscore_reward(scorer, padded=True)([pairs[i] for i in own])
        assert alone == [together[i] for i in own]


def test_a_padded_reward_does_not_depend_on_the_references_that_other_articles_share(
    monkeypatch: pytest.MonkeyPatch, scorer: BertScorer
) -> None:
    """On a GPU the last bits of a vector depend on what else is in its pass."""
    articles = [
        Article("d", "all", str(i), f"{word} rain fell on the town.", (f"{word} rain fell.",))
        for i, word in enumerate(("Heavy", "Little", "Cold", "Warm"))
    ]
    passes: list[tuple[str, ...]] = []
    embed = scorer.embed

    def recorded(texts: Sequence[str], *arguments: Any) -> list[TokenVectors | None]:
        passes.append(tuple(texts))
        return embed(texts, *arguments)

    monkeypatch.setattr(scorer, "embed", recorded)

    def asked(order: Sequence[Article]) -> set[tuple[str, ...]]:
        passes.clear()
        reward = kept_reward(scorer, padded=True, panels=[draw_panel("d", articles)])
        for article in order:
            reward([(article, "Rain fell")])
        return set(passes)

    assert asked(articles) == asked(articles[::-1])


def test_padded_fluency_reads_the_summaries_of_each_article_for_themselves(
    monkeypatch: pytest.MonkeyPatch, tiny_models: dict[str, Path]
) -> None:
    scorer = Fluency(resolve_model(parse_model(str(tiny_models["gpt2-lm"])))).load(torch.device("cpu"))
    asked: list[list[str]] = []
    score = scorer.score

    def recorded(pairs: Sequence[tuple[str, str]]) -> list[float]:
        asked.append([text for _, text in pairs])
        return score(pairs)

    monkeypatch.setattr(scorer, "score", recorded)
    first, second = ARTICLES
    pairs = [(first, "The bridge"), (second, "A train"), (first, "Monday")]
    assert fluency_reward(scorer, padded=True)(pairs) == fluency_reward(scorer, padded=False)(pairs)
    assert asked == [["The bridge", "Monday"], ["A train"], ["The bridge", "A train", "Monday"]]


@pytest.mark.usefixtures("multiplied_by")
@pytest.mark.slow
def test_a_reward_is_the_same_to_the_last_bit_alone_in_any_company_and_from_memory() -> None:
    scorer = BertScorer(CONFIG, torch.device("cpu"))
    pairs = list(texts(120))
    together = bertscore_reward(scorer)(pairs)
    alone = bertscore_reward(scorer)
    if not rows_are_independent():  # a CPU on which it is not promised: a run says so
        assert [alone([pair])[0] for pair in pairs] == pytest.approx(together, abs=1e-6)
        return
    assert [alone([pair])[0] for pair in pairs] == together
    assert list(reversed(bertscore_reward(scorer)(pairs[::-1]))) == together
    asked_once = remembered(bertscore_reward(scorer))
    asked_once(pairs[::3])
    assert asked_once(pairs) == together


def test_the_memory_asks_once_for_each_article_and_text() -> None:
    asked: list[tuple[Article, str]] = []

    def reward(pairs: Sequence[tuple[Article, str]]) -> list[float]:
        asked.extend(pairs)
        return [len(text) + 100 * int(article.key) for article, text in pairs]

    asked_once, (first, second) = remembered(reward), ARTICLES
    assert asked_once([(first, "a"), (second, "a"), (first, "a")]) == [1, 101, 1]
    assert asked_once([(first, "ab"), (second, "a")]) == [2, 101]
    assert asked == [(first, "a"), (second, "a"), (first, "ab")]


def test_a_metric_of_the_registry_and_a_mix() -> None:
    rouge, coverage = make_metric("rouge1"), make_metric("coverage")
    pairs = list(texts(6))
    by_rouge = metric_reward(rouge)(pairs)
    for (article, text), value in zip(pairs, by_rouge, strict=True):
        assert value == rouge.score(rouge.statistics([Row(text, article.references)]))[2]
    assert metric_reward(coverage)(pairs) == [1.0] * 6
    mixed = make_reward(RewardConfig(CONFIG, (("rouge1", 3.0), ("coverage", 1.0))), torch.device("cpu"))(pairs)
    np.testing.assert_allclose(mixed, [(3 * value + 1) / 4 for value in by_rouge])


DISTRACTORS = [
    Article("d", "all", str(i), f"Snow fell on town {i}.", (f"Town {i} has snow, and mayor {i} left.",))
    for i in range(9)
]


def test_content_kept_is_rewarded_as_sweeps_measure_it(scorer: BertScorer) -> None:
    panel = draw_panel("d", [*ARTICLES, *DISTRACTORS])
    pairs = [*texts(12), *((DISTRACTORS[i], f"Town {i} has snow.") for i in range(4)), (ARTICLES[0], "")]
    metrics = StandardMetrics(MetricsConfig(CONFIG, RougeConfig()), torch.device("cpu"), (panel,))
    expected = [scores["kept"] for scores in metrics.score(pairs)]
    rewards = make_reward(RewardConfig(CONFIG, (("kept", 1.0),)), torch.device("cpu"), (panel,))(pairs)
    np.testing.assert_allclose(rewards, expected, atol=1e-5)
    assert min(rewards[12:16]) > 0.3
    alone = [kept_reward(scorer, False, (panel,))([pair])[0] for pair in pairs]
    assert not rows_are_independent() or alone == rewards
    for nobody in ((), (draw_panel("d", ARTICLES[:1]),)):  # who has no others keeps nothing
        assert kept_reward(scorer, False, nobody)([(ARTICLES[0], "The bridge opened.")]) == [0.0]
