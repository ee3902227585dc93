"""Training runs through the driver, on the in-process pool with a tiny encoder and reward."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from stored_rows import everything, rows
from undisturbed import QUIET

from nws.core.article import Article
from nws.core.episodes import EpisodeRunner
from nws.core.errors import NwsError
from nws.core.learning.exchange import ArticleGradient, Request
from nws.jobs.drive import driver, training
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import Store

METHODS = [
    {"name": "quick", "passes": 3, "articles_per_update": 3, "reinforce": {"samples": 2}},
    {
        "name": "study",
        "scope": "per-n",
        "passes": 1,
        "articles_per_update": 1,
        "policies": {"inputs": "embeddings", "hidden": 4, "residual": False},
        "reinforce": {"samples": 1, "advantage_baseline": "none", "normalise": False},
    },
]
RERANK = "rerank-6-lead6-adjacent0.05"
RERANKED = f"policy|quick|{RERANK}|seed=5"
# Of three training articles at two n.
UPDATES = {"quick|seed=0": 6, "quick|seed=5": 6} | {f"study|seed={s}|n={n}": 3 for s in (0, 5) for n in (3, 5)}


def plan_with(tiny_models: dict[str, Path], **changes: object) -> Plan:
    tiny = {"bertscore": {"model": str(tiny_models["bert"]), "num_layers": 2}, "encoder": str(tiny_models["bert"])}
    few = {
        "train_datasets.limit": 3,
        "datasets.limit": 2,
        "n": [3, 5],
        "seeds": [0, 5],
        "systems": ["textrank", "lead"],
    }
    few |= {"decodings": [{"method": "rerank", "k": 6}, "greedy"]}
    return plan_job("phase2", "sample", {**tiny, **few, "methods": METHODS, **changes})


@pytest.fixture(scope="module")
def plan(tiny_models: dict[str, Path]) -> Plan:
    return plan_with(tiny_models)


def interrupted_in(monkeypatch: pytest.MonkeyPatch, *interrupted: int) -> list[list[int]]:
    """Interrupts rounds of these numbers, from 0 on, whoever drives them; the updates of all rounds."""
    learn, rounds = EpisodeRunner.learn, list[list[int]]()

    def learn_or_die(self: EpisodeRunner, requests: Sequence[Request]) -> list[list[ArticleGradient]]:
        rounds.append([broadcast.update for broadcast, _ in requests])
        if len(rounds) - 1 in interrupted:
            raise KeyboardInterrupt
        return learn(self, requests)

    monkeypatch.setattr(EpisodeRunner, "learn", learn_or_die)
    return rounds


def test_a_run_from_beginning_to_end(store: Store, plan: Plan) -> None:
    outcome = driver.start(store, plan, "inline", QUIET)
    assert (outcome.state, outcome.articles, outcome.failures) == ("done", 2, 0)
    assert outcome.summaries == 2 * 12 * 2  # articles, systems, lengths
    assert {p.name: (p.updates, p.total_updates) for p in store.policy_infos(outcome.run_id)} == {
        name: (updates, updates) for name, updates in UPDATES.items()
    }
    stored = everything(store, outcome.run_id)
    assert len(stored["updates"]) == sum(UPDATES.values())
    sql = f"select policy, n, decoding from episodes where run_id = '{outcome.run_id}'"
    greedy = [row[:2] for row in rows(store, sql) if row[2] == "greedy"]
    assert set(greedy) == {(name, n) for name in UPDATES for n in (3, 5) if f"n={8 - n}" not in name}
    assert len(greedy) == 4 * 3 * 2
    curve = store.learning_curve(outcome.run_id)
    assert sum(row.episodes for row in curve) == len(stored["episodes"]) - len(greedy)
    assert store.run_info(outcome.run_id).signatures == plan.signatures
    untrained = {f"untrained|{RERANK}", "untrained|greedy"}
    assert {row[1] for row in stored["summaries"]} == {"textrank", "lead", *untrained} | {
        f"policy|{m}{how}|seed={s}" for m in ("quick", "study") for how in ("", f"|{RERANK}") for s in (0, 5)
    }


def test_untrained_policies_write_as_the_first_training_would_have_at_its_beginning(
    store: Store, tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Learning with a rate of almost 0, it writes the same; learning as usual, something else."""

    def texts(rate: float) -> dict[str, dict[object, object]]:
        methods = [METHODS[0] | {"optimizer": {"learning_rate": rate}}]
        changes = {"methods": methods, "seeds": [5], "reward": {"weights": {"rouge1": 1}}}
        outcome = driver.start(store, plan_with(tiny_models, **changes), "inline", QUIET)
        sql = f"select system, article_id, n, text from summaries where run_id = '{outcome.run_id}'"
        by_system: dict[str, dict[object, object]] = {}
        for system, *place, text in rows(store, sql):
            by_system.setdefault(system, {})[tuple(place)] = text
        return by_system

    still, learned = texts(1e-12), texts(1.0)
    for trained, untrained in (("policy|quick|seed=5", "untrained|greedy"), (RERANKED, "untrained|" + RERANK)):
        assert still[trained] == still[untrained] == learned[untrained]
        assert learned[trained] != learned[untrained]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dies_in", "checkpoint_bytes", "goes_on_with"),
    [(0, training.CHECKPOINT_BYTES, 0), (4, training.CHECKPOINT_BYTES, 4), (4, 1, 1)],
    ids=["at the beginning", "in between", "with seldom checkpoints"],
)
def test_a_training_that_was_killed_goes_on_as_if_nothing_had_happened(
    store: Store, plan: Plan, monkeypatch: pytest.MonkeyPatch, dies_in: int, checkpoint_bytes: int, goes_on_with: int
) -> None:
    """From the checkpoint that was stored; updates after it are learnt again, to the last bit."""
    whole = driver.start(store, plan, "inline", QUIET)
    rounds = interrupted_in(monkeypatch, dies_in)
    monkeypatch.setattr(training, "CHECKPOINT_BYTES", checkpoint_bytes)
    outcome = driver.start(store, plan, "inline", QUIET)
    assert (outcome.state, outcome.summaries) == ("interrupted", 0)
    assert {p.updates for p in store.policy_infos(outcome.run_id)} <= {goes_on_with, 3}
    assert len(everything(store, outcome.run_id)["updates"]) == 2 * dies_in + 4 * min(dies_in, 3)
    resumed = driver.resume(store, outcome.run_id, "inline", None, None, QUIET)
    assert (resumed.run_id, resumed.state) == (outcome.run_id, "done")
    assert [updates[0] for updates in rounds[dies_in + 1 :]] == list(range(goes_on_with, 6))
    assert everything(store, resumed.run_id) == everything(store, whole.run_id)


@pytest.mark.slow
def test_an_evaluation_that_was_killed_does_not_train_again(
    store: Store, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = driver.start(store, plan, "inline", QUIET)
    with monkeypatch.context() as patched:
        patched.setattr(driver, "run_stage", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        outcome = driver.start(store, plan, "inline", QUIET)
    assert (outcome.state, outcome.summaries) == ("interrupted", 0)
    monkeypatch.setattr(EpisodeRunner, "prepare", None)
    assert driver.resume(store, outcome.run_id, "inline", None, None, QUIET).state == "done"
    assert everything(store, outcome.run_id) == everything(store, whole.run_id)


def news(path: Path, texts: Sequence[str]) -> list[dict[str, str]]:
    lines = [f'{{"id": "{i}", "article": "{text}", "summary": "A bridge."}}' for i, text in enumerate(texts)]
    path.write_text("\n".join(lines))
    return [{"name": str(path)}]


def test_an_article_that_cannot_be_trained_on_is_a_failure_and_the_others_are_learnt(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = news(tmp_path / "a.jsonl", ["The mayor opened a bridge.", "...", "Snow fell on Dover and on Alder."])
    plan = plan_with(tiny_models, train_datasets=datasets, methods=METHODS[:1])
    interrupted_in(monkeypatch, 1)
    outcome = driver.start(store, plan, "inline", QUIET)
    assert (outcome.state, outcome.failures) == ("interrupted", 1)
    resumed = driver.resume(store, outcome.run_id, "inline", None, None, QUIET)
    assert (resumed.state, resumed.articles, resumed.failures) == ("done", 2, 1)
    (failure,) = store.failures(outcome.run_id)
    assert (failure.stage, failure.key, failure.error_class) == ("preparation", "1", "EmptyArticleError")
    assert failure.attempts == 1  # once a training has begun, its articles stay the same
    assert {p.total_updates for p in store.policy_infos(outcome.run_id)} == {6}  # 3 passes over 2 articles at 2 n


@pytest.mark.slow
def test_an_article_that_can_be_trained_on_after_all_is_no_failure_any_more_and_stays(
    store: Store, tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_with(tiny_models, methods=METHODS[:1])
    prepare, ill = EpisodeRunner.prepare, list[str]()
    (first, *_) = plan.train_corpora[0]

    def sometimes(self: EpisodeRunner, article: Article) -> None:
        if article == first and ill:
            raise MemoryError
        prepare(self, article)

    monkeypatch.setattr(EpisodeRunner, "prepare", sometimes)
    interrupted_in(monkeypatch, 0, 2)
    ill.append("first driver")
    outcome = driver.start(store, plan, "inline", QUIET)
    assert (outcome.state, outcome.failures) == ("interrupted", 1)
    ill.clear()  # before the first update
    outcome = driver.resume(store, outcome.run_id, "inline", None, None, QUIET)
    assert (outcome.state, outcome.failures) == ("interrupted", 0)
    ill.append("third driver")  # and after it
    for _ in range(2):
        with pytest.raises(NwsError, match=f"{first.id} could be prepared for training before"):
            driver.resume(store, outcome.run_id, "inline", None, None, QUIET)
        assert store.failures(outcome.run_id) == []
    ill.clear()
    outcome = driver.resume(store, outcome.run_id, "inline", None, None, QUIET)
    monkeypatch.undo()
    whole = driver.start(store, plan, "inline", QUIET)
    assert everything(store, outcome.run_id) == everything(store, whole.run_id)


def test_no_article_to_learn_from(store: Store, tiny_models: dict[str, Path], tmp_path: Path) -> None:
    datasets = news(tmp_path / "a.jsonl", ["...", "- -"])
    plan = plan_with(tiny_models, train_datasets=datasets, methods=METHODS[:1])
    with pytest.raises(NwsError, match="None of the 2 training articles"):
        driver.start(store, plan, "inline", QUIET)
    (run,) = store.list_runs()
    assert (run.state, run.failures) == ("failed", 2)


def test_an_interrupted_training_says_how_many_updates_are_stored(
    nws, tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NWS_STORE", raising=False)
    plan = plan_with(tiny_models, methods=METHODS[:1], seeds=[0])
    settings = {
        key: plan.recipe.model_dump(mode="json")[key] for key in ("methods", "seeds", "n", "systems", "decodings")
    }
    settings |= {"train_datasets.limit": 3, "datasets.limit": 2, "pipeline": "blank"}
    settings |= {"bertscore": {"model": str(tiny_models["bert"]), "num_layers": 2}, "encoder": str(tiny_models["bert"])}
    interrupted_in(monkeypatch, 2)
    ended = nws("submit", "phase2", "--engine", "inline", "--set", json.dumps(settings))
    assert ended.code == 130
    assert re.search(r"Interrupted; .* Resume it with: nws resume phase2-\S+ \(2 of 6 updates\)", ended.err)
