from core.analysis import magic_numbers
from jobs.report.show.articles import default_length


def test_a_recommended_n_is_that_of_the_report(store, add_run) -> None:
    run = add_run()
    (number,) = (found for found in magic_numbers(store.points(run.id)) if found.system == "m|chunks")
    assert number.recommended == (5,)
    length = default_length(store, run, "m|chunks", "news", "m|chunks")
    assert (length.n, length.why) == (5, "The n recommended for m|chunks.")


def test_where_no_n_is_ruled_out_the_one_with_the_largest_gain(store, add_run) -> None:
    length = default_length(store, add_run(lengths=(3, 7)), "m|chunks", "news", "m|chunks")
    assert length.n in (3, 7)
    assert (
        length.why
        == "No n can be recommended for m|chunks: no n ruled out. This is the one with the largest gain over random."
    )


def test_where_none_is_recommended(store, add_run) -> None:
    few = default_length(store, add_run(articles=2), "m|chunks", "news", "m|chunks")
    assert few.n == 5
    assert few.why.startswith("No n can be recommended for m|chunks: 2 articles cannot tell 3 n apart. This is the")
    without = default_length(store, add_run(systems=("m|chunks", "lead")), "m|chunks", "news", "m|chunks")
    assert (without.n, without.why) == (
        5,
        "No n can be recommended for m|chunks: no random in this run. This is the middle one of its lengths.",
    )
    uncut = default_length(store, add_run(lengths=(0,)), "writer", "news", "writer")
    assert (uncut.n, uncut.why) == (0, "writer has written no summaries of n words.")


def test_of_several_datasets_the_one_of_the_article(store, add_run) -> None:
    run = add_run(datasets=("news", "papers"))
    assert default_length(store, run, "m|chunks", "papers", "m|chunks").why == "papers: The n recommended for m|chunks."
    assert default_length(store, run, "m|chunks", None, "m|chunks").why == "news: The n recommended for m|chunks."
