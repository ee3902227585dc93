"""Runs to be shown in a browser: one in work, one that has ended, and one whose every text is out to harm."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime

import numpy as np
from made_scores import make_scores
from system_kinds import kind_of

from nws.core.article import Article
from nws.core.types import BundleResult, Failure, Score, Summary
from nws.jobs.serve.app import listen, make_server
from nws.jobs.store import LogLine, Progress, RunSpec, Store, open_store

HARM = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> {{ 7*7 }} \x1b[2J\u202e"
SYSTEMS = ("m|textrank", "lead", "random")
SIGNATURES = {name: "made" for name in ("bertscore", "rouge", "efficiency", "density", "coverage")}


class MadeRun:
    """A run whose driver is this process: what it stores is what the test says."""

    def __init__(
        self,
        store: Store,
        text: str = "news",
        systems: tuple[str, ...] = SYSTEMS,
        total: int = 30,
        address: str | None = None,
        name: str | None = None,
        kept: bool = False,
        host: str = "elsewhere",
        seed: int = 7,
    ) -> None:
        self.store, self.text, self.systems, self.kept = store, text, systems, kept
        revisions = {"segmentation": text, "encoders": {text: text}, "libraries": {}, "datasets": {text: text}}
        signatures = {of: f"{of} {text}" for of in SIGNATURES} | ({"kept": "kept made"} if kept else {})
        recipe = {"datasets": [{}], "n": [3, 7]}
        spec = RunSpec(
            *("phase1", recipe, "hash", seed, text, revisions, signatures, len(systems), address),
            name=name,
            note=f"about {text}",
        )
        self.id = store.create_run(spec)
        self.epoch = store.claim_run(self.id, host, 1)
        self.writer = store.writer(self.id, self.epoch)
        self.writer.start(text, text, {system: kind_of(system) for system in systems})
        self.writer.set_total(total)
        self.done = 0
        self._random = np.random.default_rng(seed)

    def write(self, articles: int = 1) -> None:
        """Store the summaries of some more articles, and tell of it as a driver does."""
        for _ in range(articles):
            article = Article(self.text, "test", f"{self.text}{self.done}", f"News {self.text}.", ("Reference.",))
            made = [self._summary(article, system, n) for system in self.systems for n in (3, 7)]
            self.writer.record([([article], BundleResult(tuple(made), ()))])
            self.done += 1
        self.beat(article.id)

    def beat(self, newest: str | None = None) -> None:
        """A driver's sign of life."""
        at = Progress(datetime.now(UTC), "sweep", "articles", self.done, 0, 30, 10.0, 5, newest)
        self.writer.heartbeat([LogLine(datetime.now(UTC), f"stored {self.done} of {self.text}")], at=at)

    def fail(self) -> None:
        """Store a failure."""
        lost = Article(self.text, "test", f"lost {self.text}", "", ("r",))
        why = Failure(lost.id, "EmptyArticleError", f"no word in {self.text}", 1, self.text)
        self.writer.record([([lost], BundleResult((), (why,)))])

    def end(self, state: str = "done", error: str | None = None) -> str:
        """End it; its id."""
        self.writer.finish(state, error)  # type: ignore[arg-type]
        return self.id

    def _summary(self, article: Article, system: str, n: int) -> Summary:
        f1 = float(self._random.uniform(0.3, 0.5)) + 0.2 * (system == self.systems[0])
        scores = make_scores(Score(f1, f1, f1), efficiency=0.1)
        if self.kept:
            scores |= {"kept": f1 + n / 50, "kept_words": 0.1}
        return Summary(article.id, system, n, f"{system} wrote {n} of {article.key}", n, 0.1, scores)


@contextmanager
def serving(url: str, token: str | None = None) -> Iterator[int]:
    """A server of the store, in a thread: its port."""
    with open_store(url, read_only=True) as store, closing(listen("127.0.0.1", 0)) as listening:
        server = make_server(store, listening, "127.0.0.1", token)
        thread = threading.Thread(target=lambda: server.run(sockets=[listening]))
        thread.start()
        try:
            deadline = time.monotonic() + 30
            while not server.started and time.monotonic() < deadline:
                time.sleep(0.01)
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(timeout=30)
            assert not thread.is_alive()
