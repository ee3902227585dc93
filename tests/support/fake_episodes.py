"""A runner of episodes in a few lines, which misbehaves where an article's text says so.

Words it obeys: `prepare-raises`, `learn-raises`, `learn-refuses`, and `learn-dies-once=FILE`, which dies unless FILE
exists and leaves it behind.
"""

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nws.core.article import Article
from nws.core.errors import NwsError

if TYPE_CHECKING:
    # It brings torch along: an actor that only prepares starts in half the time without.
    from nws.core.learning.exchange import ArticleGradient, Broadcast, Decoded, Episode, Request


def request(name: str, update: int, episodes: "Sequence[Episode]") -> "Request":
    from nws.core.learning.exchange import Broadcast
    from nws.core.learning.training_config import TrainingConfig

    parameters = {"weight": np.arange(6.0).reshape(2, 3) + update}
    return Broadcast(TrainingConfig(name), update, parameters), episodes


def nothing() -> None:
    """What a caller looks around for."""


class FakeEpisodeRunner:
    """Its answers are pure functions of the request. `log` gets a line for each call: `PID METHOD ARTICLE-KEY…`."""

    def __init__(self, log: Path | None = None) -> None:
        self._log = log

    def prepare(self, article: Article) -> None:
        self._note("prepare", [article])
        if "prepare-raises" in article.text.split():
            raise ValueError("cannot be prepared")

    def learn(self, requests: "Sequence[Request]") -> "list[list[ArticleGradient]]":
        self._note("learn", [article for _, episodes in requests for article, _ in episodes])
        return [[_gradient(broadcast, *episode) for episode in episodes] for broadcast, episodes in requests]

    def decode(self, requests: "Sequence[Request]") -> "list[list[Decoded]]":
        from nws.core.learning.exchange import Decoded

        self._note("decode", [article for _, episodes in requests for article, _ in episodes])
        return [
            [
                Decoded(article.id, n, _text(broadcast, article, n), _reward(broadcast, article, n))
                for article, n in episodes
            ]
            for broadcast, episodes in requests
        ]

    def _note(self, method: str, articles: Sequence[Article]) -> None:
        if self._log is not None:
            with self._log.open("a") as file:
                file.write(f"{os.getpid()} {method} {' '.join(article.key for article in articles)}\n")


def _gradient(broadcast: "Broadcast", article: Article, n: int) -> "ArticleGradient":
    from nws.core.learning.exchange import ArticleGradient, Sample

    for word in article.text.split():
        if word == "learn-raises":
            raise ZeroDivisionError("a bug")
        if word == "learn-refuses":
            raise NwsError("The loss is not finite. Lower the learning rate.")
        if word.startswith("learn-dies-once="):
            marker = Path(word.partition("=")[2])
            if not marker.exists():
                marker.touch()
                os.kill(os.getpid(), signal.SIGKILL)
    reward, text = _reward(broadcast, article, n), _text(broadcast, article, n)
    samples = tuple(Sample(text, reward + k, 0.5, reward + k - 0.5, 1.0, -1.0) for k in range(2))
    gradient = {name: value * reward for name, value in broadcast.parameters.items()}
    return ArticleGradient(article.id, n, gradient, samples, policy_loss=-reward, loss=-reward - 0.1)


def _text(broadcast: "Broadcast", article: Article, n: int) -> str:
    return f"{broadcast.training.name} {article.key} {n}"


def _reward(broadcast: "Broadcast", article: Article, n: int) -> float:
    return int(article.key) + n / 100 + broadcast.update / 1000
