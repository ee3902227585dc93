"""`nws show` as it is typed."""

from collections.abc import Callable

import pytest

from jobs import cli


@pytest.fixture
def typed(capsys, monkeypatch, url) -> Callable[..., tuple[int, str, str]]:
    """Types `nws show …`; exit code, stdout and stderr."""
    monkeypatch.setenv("NWS_STORE", url)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("signal.signal", lambda *args: None)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["nws", "show", *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        return int(stopped.value.code or 0), *capsys.readouterr()

    return run


def test_an_article_of_the_newest_run_or_of_another(add_run, typed) -> None:
    old, new = add_run(articles=3), add_run()
    code, out, err = typed("a2", "--n", "5")
    assert (code, err) == (0, "")
    assert f"Run {new.id}: done, 12 articles\n" in out
    assert "news / a2\n" in out
    assert f"Run {old.id}: done, 3 articles\n" in typed("a2", old.id, "--n", "5")[1]
    assert "no article with the key or id 'a9'" in typed("a9", old.id)[2]
    assert "There is no run" in typed("a2", "no-such-run")[2] or "no run" in typed("a2", "no-such-run")[2]


def test_of_a_run_alone_the_first_article_is_shown(add_run, typed, store) -> None:
    run = add_run()
    first = f"id {min(store.finished_article_ids(run.id))}"
    for arguments in ((), (run.id,)):
        code, out, _ = typed(*arguments, "--n", "5")
        assert (code, first in out) == (0, True)
    assert "news / a2\n" in typed(run.id, "a2", "--n", "5")[1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("a1", "--n", "9"), None),
        (("--n", "-1", "a1"), "Invalid value for '--n'"),
    ],
)
def test_what_cannot_be_shown(add_run, typed, arguments: tuple[str, ...], told: str | None) -> None:
    add_run()
    code, out, err = typed(*arguments)
    if told is None:  # the article is there, and says that it has no summaries of that length
        assert (code, err) == (0, "")
        assert "There is none." in out
    else:
        assert (code, out) == (2, "")
        assert told in err


def test_a_store_without_summaries_says_what_to_do(typed, store) -> None:
    code, out, err = typed("a1")
    assert (code, out) == (1, "")
    assert "no run with summaries yet. Start one with: nws submit phase1" in err
