"""Plugins as systems of a run: planned, driven in this process, and resumed."""

import io
import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from rich.console import Console
from stored_rows import rows
from undisturbed import QUIET

from nws.core.errors import PluginError, RecipeError
from nws.jobs.drive import driver
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.outside import files_to_ship
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import Store

SOURCE = """
def tail(text, n):
    if "{fails}" in text:
        raise ValueError("no tail")
    return " ".join(text.split()[-n:])

SYSTEMS = {{"{name}": tail}}
"""


def plugin(tmp_path: Path, name: str = "tail", fails: str = "never in a text") -> Path:
    path = tmp_path / "mine.py"
    path.write_text(SOURCE.format(name=name, fails=fails))
    return path


METRICS = """
def share(summary, references):
    assert "{fails}" not in summary, "no share"
    return max(len({{*summary.split()}} & {{*text.split()}}) / len({{*text.split()}}) for text in references)

METRICS = {{"share": share}}
"""


def metrics(tmp_path: Path, fails: str = "never in a text", file: str = "own.py") -> Path:
    path = tmp_path / file
    path.write_text(METRICS.format(fails=fails))
    return path


def planned(
    tiny_models: dict[str, Path],
    *paths: Path,
    systems: Sequence[str] = ("lead",),
    n: Sequence[int] = (2, 5),
    predictions: Sequence[dict[str, str]] = (),
) -> Plan:
    tiny = {"bertscore": {"model": str(tiny_models["bert"]), "num_layers": 2}, "datasets.limit": 3, "bundle_size": 2}
    chosen = {"encoder": str(tiny_models["bert"]), "systems": list(systems), "n": list(n)}
    plugins = [{"plugin": str(path)} for path in paths]
    return plan_job("baselines", "sample", {**tiny, **chosen, "plugins": plugins, "predictions": list(predictions)})


def test_a_plugin_is_stored_scored_resumed_and_shipped(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    path = plugin(tmp_path)
    plan = planned(tiny_models, path)
    assert plan.systems == {"lead": "control", "tail": "system"}
    assert plan.revisions["plugins"]["mine.py"].endswith("|systems: tail")
    outcome = driver.start(store, plan, "inline", QUIET)
    assert (outcome.state, outcome.articles, outcome.summaries, outcome.failures) == ("done", 3, 12, 0)
    joined = "summaries s join articles a on a.id = s.article_id"
    tails = rows(store, f"select s.text, a.text from {joined} where s.system = 'tail' and n = 5")
    assert all(written == " ".join(article.split()[-5:]) for written, article in tails)
    assert driver.resume(store, outcome.run_id, "inline", None, None, QUIET).summaries == 12

    recipe = store.run_info(outcome.run_id).recipe
    assert list(files_to_ship(recipe).values()) == [path]
    plugin(tmp_path, fails="something else")
    with pytest.raises(RecipeError, match=r"mine\.py was changed"):
        driver.resume(store, outcome.run_id, "inline", None, None, QUIET)


@pytest.mark.slow
def test_a_run_with_plugins_copies_nothing_and_says_why(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    """What they import may change without them."""
    said = io.StringIO()
    for file in (plugin(tmp_path), metrics(tmp_path)):
        for _ in range(2):
            console = Console(file=said, width=500)
            assert driver.start(store, planned(tiny_models, file), "inline", console, reuse=True).reused == 0
    obstacle = "the run has plugins, and what these import is unknown"
    assert said.getvalue().count(f"Nothing is copied from other runs: {obstacle}") == 4
    assert driver.start(store, planned(tiny_models), "inline", QUIET, reuse=True).reused == 0


def test_an_article_that_a_plugin_fails_on_has_the_other_systems_summaries(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path, sample_rows: list[dict[str, str]]
) -> None:
    row = sample_rows[1]
    system, metric = (
        driver.start(store, planned(tiny_models, file), "inline", QUIET)
        for file in (
            plugin(tmp_path, fails=row["article"][:60]),
            metrics(tmp_path, fails=" ".join(row["article"].split()[:2])),
        )
    )
    assert (system.state, system.articles, system.summaries, system.failures) == ("done", 2, 6 + 4, 1)
    (failure,) = store.failures(system.run_id)
    assert (failure.stage, failure.error_class) == ("plugin mine.py", "PluginError")
    assert failure.message == "tail of mine.py failed: ValueError: no tail (line 4)"
    assert (metric.state, metric.articles, metric.summaries, metric.failures) == ("done", 2, 4, 1)
    (failure,) = store.failures(metric.run_id)
    assert failure.message == f"share of own.py failed on article {row['id']!r}: AssertionError: no share (line 3)"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("METRICS = {'mine': lambda s, r: s.split()}", r"returned \[.*\], not a finite number \(defined on line 1\)"),
        (
            "SYSTEMS = {'all': lambda text, n: text}",
            r"all of it\.py wrote \d+ words at n = 2 .*Fix it, and submit again",
        ),
        (
            "class Short:\n    def summarize(self, document, lengths):\n        assert lengths == 2\n"
            "SYSTEMS = {'short': Short()}",
            r"AssertionError.* \(line 3\)\. NWS tried it on article '.*' before the run\. Fix",
        ),
    ],
)
def test_what_cannot_work_is_told_before_anything_runs(
    source: str, message: str, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "it.py").write_text(source + "\n")
    with pytest.raises(PluginError, match=message):
        planned(tiny_models, tmp_path / "it.py")


def test_plugins_are_tried_on_an_article_that_can_be_summarised_and_without_models(nws, tmp_path: Path) -> None:
    """They get vectors and scores that are drawn; a run of which no article can be summarised is not refused."""
    (tmp_path / "it.py").write_text(
        "from nws.plugins import Draft\n\n\nclass Near:\n    kind, has_uncut = 'oracle', False\n\n"
        "    def summarize(self, document, lengths):\n        assert document.segmented.article.references\n"
        "        assert 0 <= document.f1(['Snow.'])[0] < 1\n        (vectors,) = document.embeddings.values()\n"
        "        assert len(vectors.sentences) == 1\n        return [Draft(n, 'Snow.') for n in lengths]\n\n\n"
        "SYSTEMS = {'near': Near()}\nMETRICS = {'share': lambda s, r: len(s) / len(r[0])}\n"
    )
    given = [{"id": key, "text": "Snow fell.", "summary": text} for key, text in (("a", ""), ("b", "Snow."))]
    for number, kept in enumerate((given, given[:1])):
        Path(f"{number}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))
        options = ("--dataset", f"{number}.jsonl", "--n", "2", "--plugin", "it.py", "--dry-run")
        assert nws("submit", "baselines", "--system", "centroid", *options).code == 0
    Path("it.py").write_text("METRICS = {'share': lambda s, r: None}\n")
    refused = nws("submit", "baselines", "--dataset", "0.jsonl", "--plugin", "it.py")
    assert (refused.code, refused.out, Path("nws.db").exists()) == (1, "", False)
    assert "share of it.py failed on article 'b': it returned None" in " ".join(refused.err.split())


def test_a_name_that_another_system_has_is_refused(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"The system 'textrank' of mine\.py has the name of another system"):
        planned(tiny_models, plugin(tmp_path, name="textrank"))


def test_metrics_of_a_plugin_are_computed_of_every_system_also_of_predictions(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path, sample_rows: list[dict[str, str]]
) -> None:
    copied = [{"id": row["id"], "prediction": row["highlights"]} for row in sample_rows[:3]]
    (tmp_path / "written.jsonl").write_text("\n".join(map(json.dumps, copied)))
    written = [{"name": "written", "file": str(tmp_path / "written.jsonl")}]
    plan = planned(tiny_models, metrics(tmp_path), plugin(tmp_path), predictions=written)
    assert plan.revisions["plugins"]["own.py"].endswith("|metrics: share")
    assert list(plan.systems) == ["lead", "tail", "written"]
    outcome = driver.start(store, plan, "inline", QUIET)
    assert (outcome.state, outcome.summaries, outcome.failures) == ("done", 12 + 9, 0)

    points = store.points(outcome.run_id, ["share"])
    assert {points.systems[i] for i in points.system} == {"lead", "tail", "written"}
    assert len(points) == 21
    whole = points.scores["share"][points.n == 0].tolist()
    assert whole == [1.0, 1.0, 1.0], "of the reference itself"
    assert (points.scores["share"][points.n > 0] < 1).all()
    signature = store.run_info(outcome.run_id).signatures["share"]
    assert signature == f"share|plugin:own.py|sha256:{sha256(metrics(tmp_path).read_bytes()).hexdigest()[:12]}"

    metrics(tmp_path, fails="something else")
    with pytest.raises(RecipeError, match=r"own\.py was changed"):
        driver.resume(store, outcome.run_id, "inline", None, None, QUIET)


def test_a_score_of_draws_is_their_mean(store: Store, tiny_models: dict[str, Path], tmp_path: Path) -> None:
    outcome = driver.start(store, planned(tiny_models, metrics(tmp_path), systems=["random"]), "inline", QUIET)
    article_id = next(iter(store.content_hashes(outcome.run_id)))
    summary = store.summaries(outcome.run_id, article_id)[-1]
    references = [{*text.split()} for text in store.find_articles(outcome.run_id, article_id, 1)[0].references]
    draws = summary.extra["draws"]
    assert isinstance(draws, tuple)
    values = [max(len({*text.split()} & words) / len(words) for words in references) for text in draws]
    assert len(set(values)) > 1
    assert summary.chosen_scores == {"share": pytest.approx(sum(values) / 5)}


def test_two_metrics_of_one_name_are_refused(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"Two plugins have a metric 'share'"):
        planned(tiny_models, metrics(tmp_path), metrics(tmp_path, file="other.py"))
