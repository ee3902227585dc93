from jobs.report.shown_article import default_length
from jobs.report.sweep.kept_answer import named_length

SCORED = {"bertscore": "b|1", "kept": "k|1"}


def test_the_n_is_that_of_the_answer_for_the_dataset_of_the_article(store, add_run) -> None:
    run = add_run(datasets=("news", "papers"), signatures=SCORED)
    named = named_length(store.answer(run.id), "papers", "m|chunks")
    assert default_length(store, run, "m|chunks", "papers") == named


def test_without_an_answer_it_is_the_middle_one(store, add_run) -> None:
    assert default_length(store, add_run(), "m|chunks", "news") == 5
    assert default_length(store, add_run(lengths=(0,)), "writer", "news") == 0
