from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from made_scores import make_scores
from system_kinds import kind_of

from nws.core.article import Article
from nws.core.text.length import first_words
from nws.core.types import BundleResult, Failure, Score, Summary
from nws.jobs.store import RunInfo, RunSpec, Store

TEXT = 'The mayor said: "Harbour trams [12 of them] will run all night."\nNurses cheered, number {}.'


def story(i: int, dataset: str = "news") -> Article:
    return Article(dataset, "test", f"a{i}", TEXT.format(i), (f"Night trams run, says mayor {i}.",))


def summary(of: Article, system: str, n: int, f1: float) -> Summary:
    text = "mayor Harbour trams run Nurses" if system == "m|chunks" else of.text
    text = f"Flying {of.text}" if system == "writer" else text
    text = first_words(text, n) if n else "The mayor likes trams"
    scores = make_scores(*(Score(f1, f1, f1 / k) for k in (1, 2, 4, 3)), efficiency=f1 / (n or 4))
    extra = {"draws": (text, "other words", "and others")} if system == "random" else {}
    return Summary(of.id, system, n, text, len(text.split()), 0.1, scores, extra)


@pytest.fixture
def add_run(store: Store) -> Callable[..., RunInfo]:
    """Stores a run in which `m|chunks` gains most over `random` at n = 5, and beats `lead` by more each time."""

    def add(
        systems=("m|chunks", "writer", "oracle", "lead", "random"),
        lengths=(0, 3, 5, 7),
        articles=12,
        datasets=("news",),
        failed=0,
        signatures=None,
    ) -> RunInfo:
        spec = RunSpec("phase1", {}, "cafe", 7, "0.1.0", {}, signatures or {"bertscore": "b|1"}, len(systems))
        run_id = store.create_run(spec)
        epoch = store.claim_run(run_id, "host", 1)
        store.writer(run_id, epoch).start(None, "0.1.0", {system: kind_of(system) for system in systems})
        noise = np.random.default_rng(1).normal(0, 0.005, (articles, 8))

        def f1(system: str, n: int, i: int) -> float:
            base = 0.4 + n / 100 + float(noise[i, n])
            return base + {"m|chunks": 0.01 * i + 0.2 * (n == 5), "oracle": 0.3}.get(system, 0.0)

        def scored(made: Summary) -> Summary:
            kept = {"kept": made.scores["bertscore_f1"], "kept_words": 0.1} if "kept" in (signatures or {}) else {}
            return replace(made, scores={**made.scores, **kept})

        for dataset in datasets:
            of = [story(i, dataset) for i in range(articles)]
            unfinished = [story(100 + i, dataset) for i in range(failed)]
            lost = [Failure(one.id, "EmptyError", "no \x1b[2J word", 2, "node") for one in unfinished]
            found = [
                scored(summary(one, system, n, f1(system, n, i)))
                for i, one in enumerate(of)
                for system in systems
                for n in lengths
                if n or system == "writer"
            ]
            store.writer(run_id, epoch).record([([*of, *unfinished], BundleResult(tuple(found), tuple(lost)))])
        store.writer(run_id, epoch).finish("done")
        return store.run_info(run_id)

    return add
