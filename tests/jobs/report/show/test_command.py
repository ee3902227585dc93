"""`nws show` as it is typed."""


def test_an_article_of_the_newest_run_or_of_another(nws_command, add_run) -> None:
    old, new = add_run(articles=3), add_run()
    shown = nws_command("show", "a2", "--n", "5")
    assert (shown.code, shown.err) == (0, "")
    assert f"Run {new.id}: done, 12 articles\n" in shown.out
    assert "news / a2\n" in shown.out
    for arguments in (("a2", old.id), (old.id, "a2")):
        shown = nws_command("show", *arguments, "--n", "5")
        assert f"Run {old.id}: done, 3 articles\n" in shown.out
        assert "news / a2\n" in shown.out
    assert "no article with the key or id 'a9'" in nws_command("show", "a9", old.id).err
    assert "no run" in nws_command("show", "a2", "no-such-run").err
    assert "Run " in nws_command("show", old.id).out, "its first article"


def test_what_cannot_be_shown(nws_command, add_run) -> None:
    none = nws_command("show", "a1")
    assert (none.code, none.out) == (1, "")
    assert "no run with summaries yet. Start one with: nws submit phase1" in none.err
    add_run()
    # The article is there, and says that it has no summaries of that length.
    assert "There is none." in nws_command("show", "a1", "--n", "9").out
    refused = nws_command("show", "--n", "-1", "a1")
    assert (refused.code, refused.out) == (2, "")
    assert "Invalid value for '--n'" in refused.err
