"""Where the time of a sweep goes: the seconds of each of its parts, told apart by the functions that do them."""

import contextlib
import functools
import importlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from nws.core.models.batching import TokenBudget

MODELS, ELSE = "models", "else"
RUN = "run"
"""What a run takes besides its bundles, mostly however many articles it has: the store's statements are made for the
first time, the run is begun and ended, and its answer is computed."""
# Each part, and the functions that do it: module, class if any, name.
FUNCTIONS = {
    "segmenting": (("nws.cluster.pools", "segment_bundle"),),
    "tokenizing": (
        ("nws.core.models.encoders", "tokenized"),
        ("nws.core.models.encoders", "padded"),
        ("nws.core.metrics.bertscore", "tokenized"),
        ("nws.core.metrics.bertscore", "padded"),
    ),
    "composing": (("nws.core.sweep", "write"),),
    "matching": (("nws.core.metrics.bertscore", "begin_matching"), ("nws.core.metrics.bertscore", "begin_recalls")),
    "ROUGE": (("nws.core.metrics.rouge", "Rouge", "score"),),
    # The words that are kept, density, coverage and efficiency; and the token vectors of texts, one by one.
    "other scores": (("nws.core.metrics.standard", "StandardMetrics", "score"),),
    # Embeddings to unit vectors of each article, and drafts with scores to summaries.
    "around": (("nws.cluster.article_work", "sweep_bundle"),),
    "storing": (("nws.jobs.store", "RunWriter", "record"),),
    RUN: (("nws.jobs.drive.driver", "start"),),
}
PARTS = (
    *("segmenting", "tokenizing", MODELS, "composing", "matching", "ROUGE", "other scores", "around", "storing"),
    *(RUN, ELSE),
)


class Stopwatch:
    """Seconds by part, CPU seconds of this process unless `clock` says others.

    What a part calls that is a part itself counts as that part alone.
    """

    def __init__(self, clock: Callable[[], float] = time.process_time, parts: Sequence[str] = PARTS) -> None:
        self.seconds = dict.fromkeys(parts, 0.0)
        self._clock = clock
        self._running = [ELSE]
        self._since = clock()
        self._modules = 0  # torch modules that are being called, one inside the other

    def restart(self) -> None:
        """Forget what was counted."""
        self._count()
        self.seconds = dict.fromkeys(self.seconds, 0.0)

    def begin(self, part: str) -> None:
        self._count()
        self._running.append(part)

    def end(self) -> None:
        self._count()
        self._running.pop()

    def begin_module(self, *_: Any) -> None:
        if not self._modules:
            self.begin(MODELS)
        self._modules += 1

    def end_module(self, *_: Any) -> None:
        self._modules -= 1
        if not self._modules:
            self.end()

    def timed(self, part: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def counted(*args: Any, **named: Any) -> Any:
            self.begin(part)
            try:
                return call(*args, **named)
            finally:
                self.end()

        return counted

    def _count(self) -> None:
        now = self._clock()
        self.seconds[self._running[-1]] += now - self._since
        self._since = now


@contextlib.contextmanager
def watched(watch: Stopwatch | None = None) -> Iterator[Stopwatch]:
    """Time the parts of what is swept in this block, in this process: with `watch`, else by CPU seconds."""
    watch = watch or Stopwatch()
    with contextlib.ExitStack() as undo:
        for part, functions in FUNCTIONS.items():
            for module, *path, name in functions:
                owner = functools.reduce(getattr, path, importlib.import_module(module))
                undo.enter_context(mock.patch.object(owner, name, watch.timed(part, getattr(owner, name))))
        undo.callback(register_module_forward_pre_hook(watch.begin_module).remove)
        undo.callback(register_module_forward_hook(watch.end_module, always_call=True).remove)
        yield watch
        watch.end()


@contextlib.contextmanager
def counted_tokens() -> Iterator[list[int]]:
    """The tokens, without padding, that encoders and metrics of models read in this block: a number for each call."""
    read: list[int] = []
    run = TokenBudget.run

    def counted(budget: TokenBudget, lengths: Sequence[int], *more: Any) -> None:
        read.append(sum(lengths))
        run(budget, lengths, *more)

    with mock.patch.object(TokenBudget, "run", counted):
        yield read
