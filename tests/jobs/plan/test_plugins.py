"""Plugins as systems of a run: planned, driven in this process, and resumed."""

import io
import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from rich.console import Console

from core.errors import CorpusError, PluginError, RecipeError
from core.summarizers.predictions import PredictionsSpec
from jobs.drive import driver
from jobs.plan.job import find_job, plan_with
from jobs.plan.own_files import files_to_ship
from jobs.plan.pinned import Pinned
from jobs.plan.revisions import require_same_revisions
from jobs.plan.work import works
from jobs.store import Store, open_store

QUIET = Console(file=io.StringIO())
SOURCE = """
def tail(text, n):
    if "{fails}" in text:
        raise ValueError("no tail")
    return " ".join(text.split()[-n:])

SYSTEMS = {{"{name}": tail}}
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as opened:
        yield opened


def plugin(tmp_path: Path, name: str = "tail", fails: str = "never in a text") -> Path:
    path = tmp_path / "mine.py"
    path.write_text(SOURCE.format(name=name, fails=fails))
    return path


METRICS = """
def share(summary, references):
    assert "{fails}" not in summary, "no share"
    return max(len({{*summary.split()}} & {{*text.split()}}) / len({{*text.split()}}) for text in references)

METRICS = {{"{name}": share}}
"""


def metrics(tmp_path: Path, name: str = "share", fails: str = "never in a text", file: str = "own.py") -> Path:
    path = tmp_path / file
    path.write_text(METRICS.format(name=name, fails=fails))
    return path


def plan(
    tiny_models: dict[str, Path], *paths: Path, systems: Sequence[str] = ("lead",), n: Sequence[int] = (2, 5)
) -> Pinned:
    tiny = {"bertscore": {"model": str(tiny_models["bert"]), "num_layers": 2}, "limit": 3, "bundle_size": 2}
    chosen = {"encoder": str(tiny_models["bert"]), "systems": list(systems), "n": list(n)}
    plugins = [{"plugin": str(path)} for path in paths]
    return find_job("baselines").plan("sample", {**tiny, **chosen, "plugins": plugins})


def test_a_plugin_is_stored_scored_resumed_and_shipped(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    path = plugin(tmp_path)
    pinned = plan(tiny_models, path)
    assert pinned.systems == {"lead": "control", "tail": "system"}
    assert pinned.revisions["plugins"]["mine.py"].endswith("|systems: tail")
    outcome = driver.start(store, pinned, "inline", QUIET)
    assert (outcome.state, outcome.articles, outcome.summaries, outcome.failures) == ("done", 3, 12, 0)
    with store.query("select s.text, a.text from summaries s join articles a on a.id = s.article_id "
                     "where s.system = 'tail' and n = 5") as answer:  # fmt: skip
        assert all(written == " ".join(article.split()[-5:]) for written, article in answer.rows)
    assert driver.resume(store, outcome.run_id, "inline", None, None, QUIET).summaries == 12

    recipe = store.run_info(outcome.run_id).recipe
    assert list(files_to_ship(recipe).values()) == [path]
    plugin(tmp_path, fails="something else")
    with pytest.raises(RecipeError, match=r"mine\.py was changed"):
        driver.resume(store, outcome.run_id, "inline", None, None, QUIET)


def test_a_run_of_files_behind_links_can_be_resumed(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the names that were given, and not those at the end of the links."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "away").mkdir()
    plugin(tmp_path / "away").rename("away/other.py")
    news = [{"id": str(i), "article": f"Snow fell on Dover {i}.", "summary": "Snow fell."} for i in range(3)]
    Path("away/other.jsonl").write_text("".join(json.dumps(row) + "\n" for row in news))
    Path("away/other.csv").write_text("id,prediction\n0,Snow\n1,Snow\n2,Snow\n")
    for name in ("mine.py", "news.jsonl", "gpt.csv"):
        Path(name).symlink_to(Path("away/other").with_suffix(Path(name).suffix))
    tiny = {"bertscore": {"model": str(tiny_models["bert"]), "num_layers": 2}, "encoder": str(tiny_models["bert"])}
    own = {"plugins": [{"plugin": "mine.py"}], "predictions": [{"name": "gpt", "file": "gpt.csv"}]}
    asked = {**tiny, **own, "datasets": [{"name": "news.jsonl"}], "systems": ["lead"], "n": [2]}
    pinned = find_job("baselines").plan("sample", asked)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    again = find_job("baselines").plan_again(pinned.recipe.model_dump(mode="json"))
    assert (again.recipe, again.revisions) == (pinned.recipe, pinned.revisions)
    assert require_same_revisions(pinned.revisions, again.revisions, "run") == []
    Path("../news.jsonl").unlink()
    Path("../news.jsonl").symlink_to("away/other.csv")
    with pytest.raises((CorpusError, RecipeError)):
        find_job("baselines").plan_again(pinned.recipe.model_dump(mode="json"))


def test_another_source_is_another_work_of_every_system(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    """Inline, a plugin runs in the process of the others, and may change what they compute with."""
    none, one = plan(tiny_models), plan(tiny_models, plugin(tmp_path))
    other = plan(tiny_models, plugin(tmp_path, fails="something else"))
    (tmp_path / "b").mkdir()
    both = plan(tiny_models, plugin(tmp_path), metrics(tmp_path, file="b/mine.py"))  # another file of the same name
    assert len({works(pinned, "0123456789ab")["lead"] for pinned in (none, one, other, both)}) == 4
    assert works(one, "0123456789ab")["tail"] != works(other, "0123456789ab")["tail"]
    assert works(one, "0123456789ab") == works(plan(tiny_models, plugin(tmp_path)), "0123456789ab")
    assert one.recipe.hash != other.recipe.hash


OBJECT = """
from core.summarizers.systems import Draft


class Named:
    kind = "system"
    has_uncut = False

    def summarize(self, document, lengths):
        return [Draft(n, document.segmented.article.key) for n in lengths]


SYSTEMS = {"named": Named(), "tail": lambda text, n: " ".join(text.split()[-n:])}
"""


def test_an_object_that_reads_the_key_is_copied_for_the_same_article_alone(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    """What a function writes, which gets the text alone, is copied wherever the text stands."""
    path, texts = tmp_path / "mine.py", ["Snow fell on Dover and closed its schools.", "Hull wants a new bridge."]
    path.write_text(OBJECT)
    outcomes = []
    for keys in (["a1", "a2"], ["a2", "a1"], ["a1", "a2"]):
        rows = [{"id": key, "article": text, "summary": "A word."} for key, text in zip(keys, texts, strict=True)]
        (tmp_path / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        pinned = find_job("baselines").plan(
            "sample",
            {
                "bertscore": {"model": str(tiny_models["bert"]), "num_layers": 2},
                "datasets": [{"name": str(tmp_path / "news.jsonl")}],
                **{"encoder": str(tiny_models["bert"]), "systems": ["lead"], "n": [2, 5]},
                "plugins": [{"plugin": str(path)}],
            },
        )
        outcomes.append(driver.start(store, pinned, "inline", QUIET, reuse=True))
    # Of lead and tail two articles at two lengths; of all three the second time that an article has its key.
    assert [outcome.reused for outcome in outcomes] == [0, 8, 12]
    with store.query("select distinct a.key, s.text from summaries s join articles a on a.id = s.article_id "
                     "where s.system = 'named' order by 1") as answer:  # fmt: skip
        assert [tuple(row) for row in answer.rows] == [("a1", "a1"), ("a2", "a2")]


def test_what_a_metric_that_reads_the_key_has_judged_is_copied_for_the_same_article_alone(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    path, texts = tmp_path / "mine.py", ["Snow fell on Dover and closed its schools.", "Hull wants a new bridge."]
    path.write_text(
        "def number(summary, references, key, n, article):\n    return int(key[1:]) + n / 10 + len(article) / 1000\n"
        "METRICS = {'number': number}\n"
    )
    outcomes = []
    for keys in (["a1", "a2"], ["a2", "a1"], ["a1", "a2"]):
        rows = [{"id": key, "article": text, "summary": "A word."} for key, text in zip(keys, texts, strict=True)]
        (tmp_path / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        pinned = find_job("baselines").plan(
            "sample",
            {
                "bertscore": {"model": str(tiny_models["bert"]), "num_layers": 2},
                "datasets": [{"name": str(tmp_path / "news.jsonl")}],
                **{"encoder": str(tiny_models["bert"]), "systems": ["lead"], "n": [2, 5]},
                "plugins": [{"plugin": str(path)}],
            },
        )
        outcomes.append(driver.start(store, pinned, "inline", QUIET, reuse=True))
    rulers = len(pinned.stages[0].plan.signatures) - 1
    assert [outcome.reused for outcome in outcomes] == [0, 0, (1 + rulers) * 4]
    with store.query(
        "select a.key, length(a.text), s.n, s.extra -> 'scores' ->> 'number' from summaries s join articles a on "
        "a.id = s.article_id where s.system = 'lead'"
    ) as answer:
        rows = [tuple(row) for row in answer.rows]
    assert len(rows) == 12
    assert all(float(value) == int(key[1:]) + n / 10 + length / 1000 for key, length, n, value in rows)


def test_an_object_is_told_all_n_and_its_work_has_them(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    """It may write one summary of the longest n and cut it. A function is told one n."""
    (tmp_path / "mine.py").write_text(OBJECT)
    one, other = (plan(tiny_models, tmp_path / "mine.py", n=n) for n in ([2, 5], [2, 7]))
    old, new = works(one, "0123456789ab"), works(other, "0123456789ab")
    assert {name for name in old if old[name] != new[name]} == {"named"}


def test_an_article_that_a_plugin_fails_on_has_the_other_systems_summaries(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path, sample_rows: list[dict[str, str]]
) -> None:
    pinned = plan(tiny_models, plugin(tmp_path, fails=sample_rows[1]["article"][:60]))
    outcome = driver.start(store, pinned, "inline", QUIET)
    assert (outcome.state, outcome.articles, outcome.summaries, outcome.failures) == ("done", 2, 6 + 4, 1)
    (failure,) = store.failures(outcome.run_id)
    assert (failure.stage, failure.error_class) == ("plugin mine.py", "PluginError")
    assert failure.message == "tail of mine.py failed: ValueError: no tail (line 4)"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "def f1(prediction, reference):\n    return len({*prediction.split()} & {*reference.split()})\n"
            "METRICS = {'f1': f1}",
            r"f1 of it\.py failed on article '.*': AttributeError: .* \(line 2\)\..* gets a list of all references",
        ),
        ("METRICS = {'mine': lambda s, r: s.split()}", r"returned \[.*\], not a finite number \(defined on line 1\)"),
        ("METRICS = {'long': lambda s, r, article, n, key, language: 1 / (n - 5)}", "division by zero"),
        ("SYSTEMS = {'all': lambda text, n: text}", r"all of it\.py wrote \d+ words at n = 2 .*returns 1 to n words"),
        ("SYSTEMS = {'list': lambda text, n: text.split()[:n]}", "it returned list, not text .*line 1"),
        (
            "class Short:\n    def summarize(self, document, lengths):\n        assert lengths == 2\n"
            "SYSTEMS = {'short': Short()}",
            r"AssertionError.* \(line 3\)\. It was tried on article '.*' before anything runs\.",
        ),
    ],
)
def test_what_cannot_work_is_told_before_anything_runs(
    source: str, message: str, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "it.py").write_text(source + "\n")
    with pytest.raises(PluginError, match=message):
        plan(tiny_models, tmp_path / "it.py")


def test_plugins_are_tried_on_an_article_that_can_be_summarised_and_without_models(nws, tmp_path: Path) -> None:
    """Whatever asks for vectors or scores is not refused; nor is a run of which no article can be summarised."""
    (tmp_path / "it.py").write_text(
        "class Near:\n    kind, has_uncut = 'upper bound', False\n\n    def summarize(self, document, lengths):\n"
        "        assert document.segmented.article.references\n        try:\n            document.f1(['Snow.'])\n"
        "        except Exception:\n            pass\n        return []\n\n\n"
        "class Like(Near):\n    def summarize(self, document, lengths):\n"
        "        return [len(vectors.sentences) for vectors in document.embeddings.values()]\n\n\n"
        "SYSTEMS = {'near': Near(), 'like': Like()}\nMETRICS = {'share': lambda s, r: len(s) / len(r[0])}\n"
    )
    rows = [{"id": "a", "text": "Snow fell.", "summary": ""}, {"id": "b", "text": "Snow fell.", "summary": "Snow."}]
    for number, kept in enumerate((rows, rows[:1])):
        Path(f"{number}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))
        given = ("--dataset", f"{number}.jsonl", "--n", "2", "--plugin", "it.py", "--dry-run")
        assert nws("submit", "baselines", "--system", "lead", *given).code == 0
    Path("it.py").write_text("METRICS = {'share': lambda s, r: None}\n")
    refused = nws("submit", "baselines", "--dataset", "0.jsonl", "--plugin", "it.py")
    assert (refused.code, refused.out, Path("nws.db").exists()) == (1, "", False)
    assert "share of it.py failed on article 'b': it returned None" in " ".join(refused.err.split())


def test_a_name_that_another_system_has_is_refused(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"The system 'textrank' of mine\.py has the name of another system"):
        plan(tiny_models, plugin(tmp_path, name="textrank"))


def test_a_plugin_that_is_not_there_is_refused(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"There is no plugin .*absent\.py"):
        plan(tiny_models, tmp_path / "absent.py")


def shares(store: Store, run_id: str) -> dict[tuple[str, str, int], float]:
    """What the metric gives for what is stored, by system, article and n."""
    sql = f"""select s.system, a.id, s.n, s.text, a.reference_summaries from summaries s
              join articles a on a.id = s.article_id where s.run_id = '{run_id}'"""
    with store.query(sql) as answer:
        rows = [(system, article, n, {*text.split()}, json.loads(of)) for system, article, n, text, of in answer.rows]
    return {
        (system, article, n): max(len(words & {*one.split()}) / len({*one.split()}) for one in references)
        for system, article, n, words, references in rows
    }


def test_metrics_of_a_plugin_are_computed_of_every_system_also_of_those_that_are_added(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path, sample_rows: list[dict[str, str]]
) -> None:
    pinned = plan(tiny_models, metrics(tmp_path), plugin(tmp_path))
    assert pinned.revisions["plugins"]["own.py"].endswith("|metrics: share")
    assert list(pinned.systems) == ["lead", "tail"]
    outcome = driver.start(store, pinned, "inline", QUIET)
    assert (outcome.state, outcome.summaries, outcome.failures) == ("done", 12, 0)

    rows = [{"id": row["id"], "prediction": row["highlights"]} for row in sample_rows[:3]]
    (tmp_path / "written.jsonl").write_text("\n".join(map(json.dumps, rows)))
    added = plan_with(store.run_info(outcome.run_id), [PredictionsSpec("written", str(tmp_path / "written.jsonl"))])
    store.extend_run(outcome.run_id, "here", added.run_spec())
    assert driver.resume(store, outcome.run_id, "inline", None, None, QUIET).summaries == 12 + 9

    expected = shares(store, outcome.run_id)
    points = store.points(outcome.run_id, ["share"])
    assert {points.systems[i] for i in points.system} == {"lead", "tail", "written"}
    assert len(points) == len(expected) == 21
    for i, value in enumerate(points.scores["share"].tolist()):
        place = points.systems[points.system[i]], points.articles[points.article[i]][1], int(points.n[i])
        assert value == pytest.approx(expected[place], abs=1e-15)
    assert max(expected.values()) == 1.0  # of the reference itself
    signature = store.run_info(outcome.run_id).signatures["share"]
    assert signature == f"share|plugin:own.py|sha256:{sha256(metrics(tmp_path).read_bytes()).hexdigest()[:12]}"

    metrics(tmp_path, fails="something else")
    with pytest.raises(RecipeError, match=r"own\.py was changed"):
        driver.resume(store, outcome.run_id, "inline", None, None, QUIET)


def test_a_score_of_draws_is_their_mean(store: Store, tiny_models: dict[str, Path], tmp_path: Path) -> None:
    outcome = driver.start(store, plan(tiny_models, metrics(tmp_path), systems=["random"]), "inline", QUIET)
    article_id = next(iter(store.article_keys(outcome.run_id)))
    summary = store.articles(outcome.run_id).summaries(article_id)[-1]
    references = [{*text.split()} for text in store.articles(outcome.run_id).article(article_id).references]
    draws = summary.extra["draws"]
    assert isinstance(draws, tuple)
    values = [max(len({*text.split()} & words) / len(words) for words in references) for text in draws]
    assert len(set(values)) > 1
    assert summary.chosen_scores == {"share": pytest.approx(sum(values) / 5)}


def test_another_source_of_a_metric_makes_every_system_another(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    without = plan(tiny_models)
    one = plan(tiny_models, metrics(tmp_path))
    other = plan(tiny_models, metrics(tmp_path, fails="something else"))
    assert len({works(pinned, "0123456789ab")["lead"] for pinned in (without, one, other)}) == 3
    assert one.recipe.hash != other.recipe.hash


def test_an_article_that_a_metric_fails_on_is_a_failure_that_names_it(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path, sample_rows: list[dict[str, str]]
) -> None:
    first = " ".join(sample_rows[1]["article"].split()[:2])
    outcome = driver.start(store, plan(tiny_models, metrics(tmp_path, fails=first)), "inline", QUIET)
    assert (outcome.state, outcome.articles, outcome.summaries, outcome.failures) == ("done", 2, 4, 1)
    (failure,) = store.failures(outcome.run_id)
    key = sample_rows[1]["id"]
    assert failure.error_class == "PluginError"
    assert failure.message == f"share of own.py failed on article {key!r}: AssertionError: no share (line 3)"


def test_two_metrics_of_one_name_are_refused(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"Two plugins have a metric 'share'"):
        plan(tiny_models, metrics(tmp_path), metrics(tmp_path, file="other.py"))
    with pytest.raises(PluginError, match=r"The metric 'bertscore' of own\.py has the name of another"):
        plan(tiny_models, metrics(tmp_path, name="bertscore"))


@pytest.mark.parametrize("job", ["phase1", "phase2"])
def test_metrics_are_in_every_stage_of_every_job(job: str, tmp_path: Path) -> None:
    pinned = find_job(job).plan("sample", {"plugins": [{"plugin": str(metrics(tmp_path))}]})
    assert [metric.name for metric in pinned.metrics.plugins] == ["share"]
    assert {planned.plan.metrics for planned in pinned.stages} == {pinned.metrics}
    assert "share" in pinned.signatures
