import json

import pytest

from nws.core.errors import RecipeError, StoreError
from nws.core.text.alignment import align
from nws.core.text.length import bare_words
from nws.jobs.report.shown_article import show

SCORED = {"bertscore": "b|1", "kept": "k|1"}


def test_one_article_with_what_every_system_wrote(store, add_run) -> None:
    of = show(store, add_run(), "a3", "chunks", 5)
    assert of.article.key == "a3"
    assert (of.system, of.n) == ("m|chunks", 5)
    # Those to choose from, then oracles, then controls; at the end the uncut ones.
    at = [(one.summary.system, one.summary.n) for one in of.summaries]
    assert at == [*((system, 5) for system in ("m|chunks", "writer", "oracle", "lead", "random")), ("writer", 0)]
    assert [one.kind for one in of.summaries[1:5]] == ["system", "oracle", "control", "control"]
    marked, *_, lead, _, _ = of.summaries
    words = bare_words(of.article.text)
    assert [words[p] for p in marked.positions if p is not None] == ["mayor", "harbour", "trams", "run", "nurses"]
    assert lead.positions == tuple(align(bare_words(lead.summary.text), words)) == tuple(range(5))


def test_system_and_n_are_those_of_the_headline_for_the_dataset_of_the_article(store, add_run) -> None:
    run = add_run(datasets=("news", "papers"), signatures=SCORED)
    article = store.find_articles(run.id, "", 1)[0]
    named = store.document([run.id]).headline(article.dataset)
    found = show(store, run, article.id)
    assert (found.system, found.n) == (named.system, named.n)
    assert show(store, run, article.id, "lead").system == "lead"


def test_without_an_answer_it_is_the_first_system_to_choose_and_its_middle_n(store, add_run) -> None:
    run = add_run()
    found = show(store, run)
    assert found.article.id == min(store.finished_article_ids(run.id))
    assert (found.system, found.n) == ("m|chunks", 5)
    assert show(store, run, "a1", "rand", 7).system == "random"
    assert show(store, add_run(systems=("random", "lead", "oracle")), "a1").system == "oracle"
    assert show(store, add_run(lengths=(0,)), None, "writer").n == 0


def test_as_json(store, add_run) -> None:
    told = json.loads(json.dumps(show(store, add_run(), "a1", None, 5).as_dict(), allow_nan=False))
    assert (told["key"], told["dataset"], told["words"]) == ("a1", "news", 16)
    first = told["summaries"][0]
    assert (first["system"], first["kind"], first["n"]) == ("m|chunks", "system", 5)
    assert first["positions"] == [1, 3, 4, 9, 12]
    assert first["scores"]["rouge1_f1"] == pytest.approx(first["scores"]["bertscore_f1"] / 2)


def test_what_is_not_there_is_named_with_a_next_step(store, add_run) -> None:
    run = add_run(datasets=("news", "papers"))
    with pytest.raises(RecipeError, match=f"key or id 'zzz', and none .* nws show {run.id}"):
        show(store, run, "zzz")
    with pytest.raises(RecipeError, match=r"more than one article for 'a1': \w{16} \((news|papers), a1\); .*by its id"):
        show(store, run, "a1")
    with pytest.raises(RecipeError, match=r"more than one article for 'mayor': .*; and more\. Name"):
        show(store, run, "mayor")
    with pytest.raises(RecipeError, match=r"no system 'x' in run .*\. Its systems are lead, m\|chunks, oracle,"):
        show(store, run, "a1", "x")
    with pytest.raises(RecipeError, match=r"\'r\' fits 3 systems of run .*: oracle, random and writer\. Name"):
        show(store, run, None, "r")
    with pytest.raises(RecipeError, match="has no summaries at n = 9, but at n = 0, 3, 5, 7"):
        show(store, run, "a1", n=9)
    with pytest.raises(StoreError, match="has no summaries to show: 0 articles finished, 1 failed"):
        show(store, add_run(articles=0, failed=1), "a100")
