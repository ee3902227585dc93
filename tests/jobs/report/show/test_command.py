"""`nws show` as it is typed."""


def test_an_article_of_the_newest_run_or_of_another(add_run, nws) -> None:
    old, new = add_run(articles=3), add_run()
    told = nws("show", "a2", "--n", "5")
    assert told.code == 0
    assert f"Run {new.id}: done, 12 articles\n" in told.out
    assert "news / a2\n" in told.out
    assert f"Run {old.id}: done, 3 articles\n" in nws("show", "a2", old.id, "--n", "5").out
    assert "no article with the key or id 'a9'" in nws("show", "a9", old.id).err
    assert "no run" in nws("show", "a2", "no-such-run").err


def test_of_a_run_alone_the_first_article_is_shown(add_run, nws, store) -> None:
    run = add_run()
    first = f"id {min(store.finished_article_ids(run.id))}"
    for arguments in ((), (run.id,)):
        told = nws("show", *arguments, "--n", "5")
        assert (told.code, first in told.out) == (0, True)
    assert "news / a2\n" in nws("show", run.id, "a2", "--n", "5").out
